package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// letGoPatience is how long a forced stop waits for the plan's capacity to be given back.
const letGoPatience = 15 * time.Minute

// pending is actions of one bulk action, or a single action, and in how many seconds to look again at others that wait.
type pending struct {
	org     string
	bulk    execution.Bulk // zero for a single action
	actions []*execution.Action
	wait    int
}

// unheld returns the actions that no active event readiness plan is against, and in how many seconds to look again at the others. A stop that
// has asked nothing of its provider is ended while a plan holds its target. A forced stop that may act has the plan let the target go first; one that
// something else is against goes on to be left out, and the plan keeps its target. It takes one round trip for stops that have not
// begun, those of skipsOf where a forced one meets a plan, and none for other actions.
func (e *Executor) unheld(ctx context.Context, p pending) (free []*execution.Action, again int, err error) {
	if !hasUnaskedStop(p.actions) {
		return p.actions, p.wait, nil
	}
	held, err := scheduling.ReadEventHolds(ctx, e.p.Table, p.org)
	if err != nil {
		return nil, p.wait, err
	}
	var ended []execution.Outcome
	var forced []*execution.Action
	for _, a := range p.actions {
		switch {
		case !isUnaskedStop(a) || len(held.Inside(a.ResourceUID)) == 0:
			free = append(free, a)
		case a.Force:
			forced = append(forced, a)
		default:
			ended = append(ended, e.endedUnasked(a, held.Against(a.Action, a.ResourceUID)))
		}
	}
	p.actions = forced
	let, failed, again, err := e.letForcedGo(ctx, p, held)
	if err != nil {
		return nil, p.wait, err
	}
	ended = append(ended, failed...)
	if err = e.owe(ctx, p.org, p.bulk, held, resourcesOf(ended)); err != nil {
		return nil, p.wait, err
	}
	return append(free, let...), again, execution.SettleActions(ctx, e.store(), p.org, ended)
}

// letForcedGo has plans let the targets of forced stops go. It returns the stops that may go on, the ends of those that failed, and in how many
// seconds to look again at the others.
func (e *Executor) letForcedGo(
	ctx context.Context, p pending, held scheduling.EventHolds,
) (free []*execution.Action, ended []execution.Outcome, again int, err error) {
	skips, err := e.skipsOf(ctx, p.org, p.bulk, p.actions)
	if err != nil {
		return nil, nil, p.wait, err
	}
	again = p.wait
	for _, a := range p.actions {
		if _, out := skips[a.ID]; out {
			free = append(free, a)
			continue
		}
		seconds, failed, err := e.letGo(ctx, p.org, a, held.Inside(a.ResourceUID))
		switch {
		case err != nil:
			return nil, nil, again, err
		case failed != "":
			ended = append(ended, e.endedUnasked(a, failed))
		case seconds > 0:
			again = min(cmp.Or(again, seconds), seconds)
		default:
			free = append(free, a)
		}
	}
	return free, ended, again, nil
}

func resourcesOf(ended []execution.Outcome) []string {
	out := make([]string, len(ended))
	for i := range ended {
		out[i] = ended[i].Action.ResourceUID
	}
	return out
}

// owe has the holds on resources remember the stops that an order of a schedule or an override cannot make now. What a person has asked for is not made
// good: the answer tells the person. A hold that has ended meanwhile is fault.Unavailable: the step is tried again, and finds the resource free.
func (e *Executor) owe( //nolint:revive // of which order, as holds are
	ctx context.Context, org string, b execution.Bulk, held scheduling.EventHolds, uids []string,
) error {
	if !b.Ordered() || b.Force || len(uids) == 0 {
		return nil
	}
	w, some := held.Owe(org, scheduling.OwedOrder{BulkID: b.ID, UIDs: uids, Promised: b.Plan.Promised})
	if !some {
		return nil
	}
	_, err := e.p.Table.Write(ctx, w)
	if _, ended := errors.AsType[*table.ConditionError](err); ended {
		return fault.NewWithCause(fault.Unavailable, err,
			"a hold on resources of %s has ended at this moment: try again", b.ID)
	}
	return fault.Wrap("note what "+b.ID+" cannot stop during an event", err)
}

// oweLeftOut is owe for what a bulk action leaves out as it is planned: one round trip more where that is something.
func (e *Executor) oweLeftOut(ctx context.Context, org string, b execution.Bulk, left []execution.LeftOut) error {
	var uids []string
	for _, l := range left {
		if l.Reason == execution.LeftOutEvent {
			uids = append(uids, l.UID)
		}
	}
	if !b.Ordered() || len(uids) == 0 {
		return nil
	}
	held, err := scheduling.ReadEventHolds(ctx, e.p.Table, org)
	if err != nil {
		return err
	}
	for _, uid := range uids {
		if _, still := held.Of(uid); !still {
			return fault.New(fault.Unavailable, "the hold on resource %s has ended at this moment: try again", uid)
		}
	}
	return e.owe(ctx, org, b, held, uids)
}

// isUnaskedStop reports whether an action is a stop that nothing is under way of at its provider.
func isUnaskedStop(a *execution.Action) bool {
	return a.Action == cloud.Stop && a.Progress.ActedAt.IsZero()
}

func hasUnaskedStop(actions []*execution.Action) bool {
	return slices.ContainsFunc(actions, isUnaskedStop)
}

// endedUnasked returns the end of an action that is left out, for a reason: nothing was asked of its provider, so it is no failure that aborts a
// bulk action.
func (e *Executor) endedUnasked(a *execution.Action, reason string) execution.Outcome {
	return execution.Outcome{Action: *a, Status: execution.Failed, Message: reason, LeftOut: true,
		Changed: a.Progress.Changed, At: e.p.Clock.Now()}
}

// letGo has plans let the targets of a forced stop go. It returns in how many seconds to call it again, 0 when all are let go, or why the stop
// fails: after letGoPatience the capacity was not given back.
func (e *Executor) letGo(ctx context.Context, org string, a *execution.Action, holds []scheduling.EventHold) (seconds int,
	failed string, err error) {
	now := e.p.Clock.Now()
	for _, h := range holds {
		at, why, err := e.rescaler().LetGo(ctx, rescaling.Forced{
			Org: org, PlanID: h.PlanID, PolicyID: h.PolicyID, By: a.ChangedBy, ActionID: a.ID,
		})
		switch {
		case err != nil:
			return 0, "", fmt.Errorf("let %s go from %s: %w", h.PolicyID, h.PlanID, err)
		case at.IsZero():
		case now.Sub(a.CreatedAt) > letGoPatience:
			return 0, fmt.Sprintf(
					"not stopped: the capacity that %s raised was not given back in %s: %s", h.PlanID, letGoPatience,
					why),
				nil
		default:
			wait := max(1, int((at.Sub(now)+time.Second-1)/time.Second))
			seconds = max(seconds, wait)
		}
	}
	return seconds, "", nil
}
