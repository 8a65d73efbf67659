package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// maxFinishTries is how often the end of a bulk action is retried because it was cancelled at the same moment.
const maxFinishTries = 5

// finishBulk ends a bulk action. Actions that have not ended are compared with the cloud and ended, so that the
// counters add up. While the cloud does not tell their state, the bulk action does not end. An execution that cancels
// leaves actions under way to the execution that began them.
func (e *Executor) finishBulk(ctx context.Context, in execution.BulkInput) (Ready, error) {
	var err error
	for range maxFinishTries {
		var b execution.Bulk
		b, err = e.finishOnce(ctx, in)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return Ready{Total: b.Total}, err
		}
	}
	return Ready{}, fmt.Errorf("finish %s: %w", in.BulkID, err)
}

// finishOnce ends the bulk action if possible, and then adds the counts of its chunks to the lists.
func (e *Executor) finishOnce(ctx context.Context, in execution.BulkInput) (execution.Bulk, error) {
	b, err := e.readBulk(ctx, in)
	if err == nil && !b.Over() {
		b, err = e.endBulk(ctx, in, b)
	}
	if err != nil || !b.Over() {
		return b, err
	}
	counts, err := execution.ReadChunkCounts(ctx, e.p.Table, in.Org, in.BulkID)
	if err != nil {
		return b, err
	}
	return b, execution.FoldCounts(ctx, e.patientStore(), in.Org, slices.DeleteFunc(counts, underWay))
}

func underWay(c execution.ChunkCounts) bool { return !c.Ended() }

// endBulk ends the remaining actions of the bulk action, and then the bulk action.
func (e *Executor) endBulk(ctx context.Context, in execution.BulkInput, b execution.Bulk) (execution.Bulk, error) {
	if in.Cancel {
		if going, err := e.endWaiting(ctx, in, cancelledBy(b)); err != nil || len(going) > 0 {
			return b, err
		}
	}
	counts, err := execution.ReadChunkCounts(ctx, e.p.Table, in.Org, in.BulkID)
	if err != nil {
		return b, err
	}
	if slices.ContainsFunc(counts, underWay) {
		if in.Cancel { // it was created meanwhile: the execution that created it ends it, too
			return b, nil
		}
		if err = e.endAll(ctx, in); err != nil {
			return b, err
		}
		if counts, err = execution.ReadChunkCounts(ctx, e.p.Table, in.Org, in.BulkID); err != nil {
			return b, err
		}
	}
	b.Sum(counts)
	err = e.concludeBulk(ctx, in.Org, b)
	b.Ended = err == nil
	return b, err
}

// endAll ends every open action of the bulk action whose state the cloud tells.
func (e *Executor) endAll(ctx context.Context, in execution.BulkInput) error {
	return e.eachChunk(ctx, in, allChunks, func(key string, _ execution.Chunk) error {
		left, err := e.giveUp(ctx, execution.RunInput{Org: in.Org, BulkID: in.BulkID, Chunk: key},
			"not done: the bulk action ended before")
		if err == nil && !left.Done {
			err = fault.New(fault.Unavailable,
				"chunk %s of %s is not done, and the cloud does not tell yet how it ends: try again", key, in.BulkID)
		}
		return err
	})
}

func (e *Executor) readBulk(ctx context.Context, in execution.BulkInput) (execution.Bulk, error) {
	b, err := table.Read[execution.Bulk](ctx, e.p.Table, execution.BulkKey(in.Org, in.BulkID))
	if err != nil {
		return b, fmt.Errorf("read bulk action %s: %w", in.BulkID, err)
	}
	return b, nil
}

// concludeBulk writes the end of b with the counts of its chunks, and frees its group. Actions that were never
// created, because b was cancelled, count as failed.
func (e *Executor) concludeBulk(ctx context.Context, org string, b execution.Bulk) error {
	status := execution.BulkCompleted
	if b.Status == execution.BulkCancelled {
		status = execution.BulkCancelled
	}
	if b.Plan.Stage == execution.Unplanned {
		var err error
		if b.Plan.Keep, err = execution.ReadRetention(ctx, e.p.Table, org); err != nil {
			return err
		}
	}
	ws := []table.Write{
		table.Update(execution.BulkKey(org, b.ID), []table.Change{
			table.Set("status", string(status)), table.Set("completed", b.Completed),
			table.Set("failed", b.Total-b.Completed),
			table.Set("unasked", b.Unasked), table.Set("ended", true), table.Set("completedAt", e.p.Clock.Now()),
			table.Expire(b.Ends()),
		}, table.Equal("status", string(b.Status)), table.NotEqual("ended", true)),
		workqueue.RemoveWork(b.ID),
	}
	if b.GroupID != "" {
		ws = append(ws, execution.ReleaseGroup(org, b))
	}
	ctx = table.Within(ctx, workqueue.Prefix)
	err := e.patientStore().Transact(ctx, ws...)
	// another bulk action holds the group
	if lost, ok := errors.AsType[*table.ConditionError](err); ok && onlyLast(lost, ws) {
		err = e.patientStore().Transact(ctx, ws[:2]...)
	}
	return err
}

// onlyLast reports whether only the last of ws was refused.
func onlyLast(lost *table.ConditionError, ws []table.Write) bool {
	return len(lost.Failed) == 1 && lost.Failed[0].Index == len(ws)-1 && len(ws) > 2
}
