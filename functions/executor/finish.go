package executor

import (
	"context"
	"errors"
	"fmt"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// tries is how often a bulk action is ended anew because it was cancelled, or counted something, at the same moment.
const tries = 5

// finishBulk ends a bulk action. What for any reason has not ended is failed, so that the counters add up. An execution that
// cancels leaves what is under way to the one that began it.
func (e *Executor) finishBulk(ctx context.Context, in execution.BulkInput) (Ready, error) {
	var err error
	for range tries {
		var b execution.Bulk
		b, err = e.finishOnce(ctx, in)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return Ready{Total: b.Total}, err
		}
	}
	return Ready{}, fmt.Errorf("finish %s: %w", in.BulkID, err)
}

func (e *Executor) finishOnce(ctx context.Context, in execution.BulkInput) (execution.Bulk, error) {
	b, err := e.readBulk(ctx, in)
	if err != nil || b.Over() {
		return b, err
	}
	switch {
	case in.Cancel:
		if going, err := e.endWaiting(ctx, in, b); err != nil || len(going) > 0 {
			return b, err
		}
	case b.Completed+b.Failed < b.Total:
		if err := e.endAll(ctx, in, allChunks, "not done: the bulk action ended before"); err != nil {
			return b, err
		}
	}
	if b, err = e.readBulk(ctx, in); err != nil {
		return b, err
	}
	return b, e.conclude(ctx, in.Org, b)
}

func (e *Executor) readBulk(ctx context.Context, in execution.BulkInput) (execution.Bulk, error) {
	b, err := table.Read[execution.Bulk](ctx, e.p.Table, execution.BulkKey(in.Org, in.BulkID))
	if err != nil {
		return b, fmt.Errorf("read bulk action %s: %w", in.BulkID, err)
	}
	return b, nil
}

// conclude writes the end of b, as it was read, and gives its group free. Of one that was cancelled, what was never created
// counts as failed, so that its counters add up as well.
func (e *Executor) conclude(ctx context.Context, org string, b execution.Bulk) error {
	status, failed := execution.BulkCompleted, b.Failed
	if b.Status == execution.BulkCancelled {
		status, failed = execution.BulkCancelled, b.Total-b.Completed
	}
	ws := []table.Write{
		table.Update(execution.BulkKey(org, b.ID), []table.Change{
			table.Set("status", string(status)), table.Set("failed", failed), table.Set("ended", true), table.Set("completedAt", e.p.Clock.Now()),
		}, table.Equal("status", string(b.Status)), table.NotEqual("ended", true), table.Equal("completed", b.Completed), table.Equal("failed", b.Failed)),
		workqueue.RemoveWork(b.ID),
	}
	if b.GroupID != "" {
		ws = append(ws, execution.ReleaseGroup(org, b))
	}
	ctx = table.Within(ctx, workqueue.Prefix)
	err := e.p.Table.Transact(ctx, ws...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok && onlyLast(lost, ws) { // another bulk action has the group
		err = e.p.Table.Transact(ctx, ws[:2]...)
	}
	return err
}

// onlyLast reports whether the last of ws is all that was refused.
func onlyLast(lost *table.ConditionError, ws []table.Write) bool {
	return len(lost.Failed) == 1 && lost.Failed[0].Index == len(ws)-1 && len(ws) > 2
}
