package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// longestBehind is how long what waits behind another action is left alone at most.
const longestBehind = 15 * time.Second

// waitBehind returns how many seconds to leave an action alone that waits behind another: longer the longer it has waited, for what
// stops a resource for a moment is over soon, and what takes minutes need not be looked at each second.
func (e *Executor) waitBehind(a *execution.Action) int {
	return max(1, int(min(e.p.Clock.Now().Sub(a.CreatedAt)/2, longestBehind)/time.Second))
}

// unblocked returns the actions that wait behind no other, and in how many seconds to look again at those that still do; 0 without any.
// What was waited for and has ended gives way: the action claims its resource, and begins.
func (e *Executor) unblocked(ctx context.Context, org string, actions []*execution.Action) (free []*execution.Action,
	wait int, err error) {
	var keys []table.Key
	for _, a := range actions {
		if a.Progress.Behind != "" {
			keys = append(keys, execution.ActionKey(org, a.Progress.Behind))
		}
	}
	if len(keys) == 0 {
		return actions, 0, nil
	}
	got, err := e.p.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, 0, fmt.Errorf("read what %d actions wait for: %w", len(keys), err)
	}
	for _, a := range actions {
		if a.Progress.Behind != "" {
			if err = e.follow(ctx, org, a, got[execution.ActionKey(org, a.Progress.Behind)]); err != nil {
				return nil, 0, err
			}
		}
		if a.Progress.Behind != "" {
			wait = min(cmp.Or(wait, e.waitBehind(a)), e.waitBehind(a))
			continue
		}
		free = append(free, a)
	}
	return free, wait, nil
}

// follow has a claim its resource when the action before it, as it is stored, has ended; else, or when another one came first, a goes
// on waiting.
func (e *Executor) follow(ctx context.Context, org string, a *execution.Action, before table.Item) error {
	going, err := open(before)
	if err == nil && going != nil {
		going, err = e.supersede(ctx, org, going, a)
	}
	if err != nil || going != nil {
		return err
	}
	p := *a.Progress
	p.Claimed, p.Behind = true, ""
	next := *a
	next.Progress = &p
	err = e.store().Transact(ctx, inventory.ClaimResource(org, a.ResourceUID, a.ID, a.Action), progress(org, &next))
	lost, refused := errors.AsType[*table.ConditionError](err)
	switch {
	case err == nil:
		a.Progress = &p
		return nil
	case !refused:
		return fmt.Errorf("claim %s for %s: %w", a.ResourceUID, a.ID, err)
	}
	return e.giveWay(ctx, org, a, lost)
}

// supersede ends before, which the opposite action a waits for, when that waits for capacity; it gives before when it goes on.
func (e *Executor) supersede(ctx context.Context, org string, before, a *execution.Action) (*execution.Action, error) {
	ended, err := execution.EndIdle(ctx, e.store(), org, execution.Outcome{
		Action: *before, Message: execution.EndedBy(a.Action, a.ChangedBy), At: e.p.Clock.Now(),
	})
	if ended {
		return nil, err //nolint:nilnil // nothing goes on any more
	}
	return before, err
}

// giveWay has a, which could not claim its resource, wait for the action that did, when that is the opposite one; one of the same type
// it goes on beside. One that was ended itself meanwhile, or whose resource is gone, the run after finds so.
func (e *Executor) giveWay(ctx context.Context, org string, a *execution.Action, lost *table.ConditionError) error {
	old, taken := lost.Old(0)
	if !taken {
		return nil
	}
	var res inventory.Resource
	if old.Data != nil {
		var err error
		if res, err = table.Decode[inventory.Resource](old); err != nil {
			return err
		}
	}
	a.Progress.Behind = ""
	if execution.InFlight(a.Action, res) != "" {
		a.Progress.Behind = res.ActionID
	}
	err := e.store().Transact(ctx, progress(org, a))
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("have "+a.ID+" wait", err)
}
