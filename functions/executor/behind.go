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

// maxBehindWait is the longest pause between two looks at an action that waits behind another action.
const maxBehindWait = 15 * time.Second

// waitBehind returns how many seconds to wait before looking again at an action that waits behind another. The pause
// grows with the time waited: short stops are over soon, and long ones need no look each second.
func (e *Executor) waitBehind(a *execution.Action) int {
	return max(1, int(min(e.p.Clock.Now().Sub(a.CreatedAt)/2, maxBehindWait)/time.Second))
}

// unblockedActions returns the actions that wait behind no other action, and in how many seconds to look again at the
// others (0 if there are none). When the action in front has ended, the waiting action claims its resource and
// begins.
func (e *Executor) unblockedActions(
	ctx context.Context, org string, actions []*execution.Action,
) (free []*execution.Action, wait int, err error) {
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
		return nil, 0, fmt.Errorf("read the actions in front of %d waiting actions: %w", len(keys), err)
	}
	for _, a := range actions {
		if a.Progress.Behind != "" {
			if err = e.claimAfter(ctx, org, a, got[execution.ActionKey(org, a.Progress.Behind)]); err != nil {
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

// claimAfter lets a claim its resource if the stored action before it has ended. Otherwise, or when another action
// claimed the resource first, a continues to wait.
func (e *Executor) claimAfter(ctx context.Context, org string, a *execution.Action, before table.Item) error {
	going, err := decodeOpen(before)
	if err == nil && going != nil {
		going, err = e.supersedeIdle(ctx, org, going, a)
	}
	if err != nil || going != nil {
		return err
	}
	p := *a.Progress
	p.Claimed, p.Behind = true, ""
	next := *a
	next.Progress = &p
	err = e.patientStore().Transact(ctx, inventory.ClaimResource(org, a.ResourceUID, a.ID, a.Action),
		progressWrite(org, &next))
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

// supersedeIdle ends before, the opposite action in front of a, if it only waits for capacity. It returns before if
// before continues, otherwise nil.
func (e *Executor) supersedeIdle(
	ctx context.Context, org string, before, a *execution.Action,
) (*execution.Action, error) {
	ended, err := execution.EndIdle(ctx, e.patientStore(), org, execution.Outcome{
		Action: *before, Message: execution.EndedBy(a.Action, a.ChangedBy), At: e.p.Clock.Now(),
	})
	if ended {
		return nil, err //nolint:nilnil // nothing goes on any more
	}
	return before, err
}

// giveWay makes a, which could not claim its resource, wait behind the action that did, if that is the opposite verb.
// Beside an action of the same verb it simply runs. An action that has ended itself meanwhile, or whose resource is
// gone, is handled by the next run.
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
	err := e.patientStore().Transact(ctx, progressWrite(org, a))
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return nil
	}
	return fault.Wrap("have "+a.ID+" wait", err)
}
