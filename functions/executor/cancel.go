package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// windDown returns the remaining work of a bulk action that was cancelled or aborted. It ends the actions that have
// not begun, with the reason. A cancelling execution gets no chunks. The execution that began the bulk action gets
// the chunks that have an action under way.
func (e *Executor) windDown(ctx context.Context, in execution.BulkInput, reason string) (StepResult, error) {
	going, err := e.endWaiting(ctx, in, reason)
	if err != nil || in.Cancel {
		return StepResult{Last: err == nil, Chunks: []execution.RunInput{}}, err
	}
	out := StepResult{
		Last: len(going) == 0, Next: in.Step,
		Chunks: make([]execution.RunInput, min(len(going), stepSize)),
	}
	for i := range out.Chunks {
		out.Chunks[i] = execution.RunInput{
			Org: in.Org, BulkID: in.BulkID, Chunk: going[i],
			Until: execution.UntilSettled,
		}
	}
	return out, nil
}

// cancelledBy returns the reason given to the actions that a cancelled bulk action has not begun.
func cancelledBy(b execution.Bulk) string { return "cancelled by " + b.CancelledBy }

// endWaiting ends the actions of the bulk action that have not begun, with the reason. It returns the keys of the
// chunks that have an action under way.
func (e *Executor) endWaiting(ctx context.Context, in execution.BulkInput, reason string) (going []string, err error) {
	err = e.eachChunk(ctx, in, allChunks, func(key string, c execution.Chunk) error {
		run := execution.RunInput{Org: in.Org, Actions: make([]string, len(c.Members))}
		for i, m := range c.Members {
			run.Actions[i] = m.ActionID
		}
		actions, _, err := e.loadActions(ctx, run)
		if err == nil {
			actions, err = e.endPending(ctx, in.Org, reason, actions)
		}
		if len(actions) > 0 {
			going = append(going, key)
		}
		return err
	})
	return going, err
}

// uncancelledActions returns the actions of a run that may continue, and their bulk action. If the bulk action was
// cancelled, only actions that have begun may continue.
func (e *Executor) uncancelledActions(ctx context.Context, in execution.RunInput,
	actions []*execution.Action,
) ([]*execution.Action, execution.Bulk, error) {
	if in.BulkID == "" || len(actions) == 0 {
		return actions, execution.Bulk{}, nil
	}
	b, err := table.Read[execution.Bulk](ctx, e.p.Table, execution.BulkKey(in.Org, in.BulkID))
	if fault.Is(err, fault.NotFound) || err == nil && b.Status != execution.BulkCancelled {
		return actions, b, nil
	}
	if err != nil {
		return nil, b, fmt.Errorf("read bulk action %s: %w", in.BulkID, err)
	}
	actions, err = e.endPending(ctx, in.Org, cancelledBy(b), actions)
	return actions, b, err
}

// endPending ends the given actions that have not begun, with the reason, and returns the ones that have. An action
// that another executor begins at the same moment continues.
func (e *Executor) endPending(ctx context.Context, org, reason string,
	actions []*execution.Action,
) ([]*execution.Action, error) {
	var begun []*execution.Action
	var out []execution.Outcome
	waiting := execution.RunInput{Org: org}
	for _, a := range actions {
		if a.IsUnderWay() {
			begun = append(begun, a)
			continue
		}
		waiting.Actions = append(waiting.Actions, a.ID)
		out = append(out, execution.Outcome{
			Action: *a, Status: execution.Failed, Message: reason, Unstarted: true, At: e.p.Clock.Now(),
		})
	}
	if len(out) == 0 {
		return begun, nil
	}
	if err := execution.SettleActions(ctx, e.patientStore(), org, out); err != nil {
		return nil, err
	}
	raced, _, err := e.loadActions(ctx, waiting)
	return append(begun, raced...), err
}
