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

// heldCheck is a set of actions of one bulk action, or a single action, and in how many seconds to look again at
// other actions that wait.
type heldCheck struct {
	org         string
	bulk        execution.Bulk // zero for a single action
	actions     []*execution.Action
	waitSeconds int
}

// unheldActions returns the actions that no active event readiness plan holds back, and in how many seconds to look
// again at the others.
//
// A stop that has asked nothing of its provider is ended while a plan holds its target. A forced stop that may act
// first makes the plan release the target. A forced stop that may not act for another reason is left out later, and
// the plan keeps its target.
//
// It takes one round trip for stops that have not begun, those of skipsOf where a forced stop meets a plan, and none
// for other actions.
func (e *Executor) unheldActions(ctx context.Context, p heldCheck) (free []*execution.Action, again int, err error) {
	if !hasUnaskedStop(p.actions) {
		return p.actions, p.waitSeconds, nil
	}
	held, err := scheduling.ReadEventHolds(ctx, e.p.Table, p.org)
	if err != nil {
		return nil, p.waitSeconds, err
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
		return nil, p.waitSeconds, err
	}
	ended = append(ended, failed...)
	if err = e.oweStops(ctx, p.org, p.bulk, held, resourcesOf(ended)); err != nil {
		return nil, p.waitSeconds, err
	}
	return append(free, let...), again, execution.SettleActions(ctx, e.patientStore(), p.org, ended)
}

// letForcedGo makes plans release the targets of forced stops. It returns the stops that may continue, the outcomes
// of those that failed, and in how many seconds to look again at the others.
func (e *Executor) letForcedGo(
	ctx context.Context, p heldCheck, held scheduling.EventHolds,
) (free []*execution.Action, ended []execution.Outcome, again int, err error) {
	skips, err := e.skipsOf(ctx, p.org, p.bulk, p.actions)
	if err != nil {
		return nil, nil, p.waitSeconds, err
	}
	again = p.waitSeconds
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

// oweStops stores in the holds on resources the stops that an order of a schedule or an override cannot make now, so
// that they are made when the holds end. A stop requested by a person is not stored: the answer tells the person. If
// a hold has ended meanwhile, the error is fault.Unavailable; the step is retried and finds the resource free.
func (e *Executor) oweStops(
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
	return fault.Wrap("store the stops of "+b.ID+" that an event delays", err)
}

// oweLeftOut records the stops that a bulk action leaves out because of an event when it is planned. It takes one
// more round trip if there are any.
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
	return e.oweStops(ctx, org, b, held, uids)
}

// isUnaskedStop reports whether an action is a stop that has asked nothing of its provider yet.
func isUnaskedStop(a *execution.Action) bool {
	return a.Action == cloud.Stop && a.Progress.ActedAt.IsZero()
}

func hasUnaskedStop(actions []*execution.Action) bool {
	return slices.ContainsFunc(actions, isUnaskedStop)
}

// endedUnasked returns the outcome of an action that is left out for a reason. Nothing was asked of its provider, so
// this failure does not abort a bulk action.
func (e *Executor) endedUnasked(a *execution.Action, reason string) execution.Outcome {
	return execution.Outcome{
		Action: *a, Status: execution.Failed, Message: reason, LeftOut: true,
		Changed: a.Progress.Changed, At: e.p.Clock.Now(),
	}
}

// letGo makes plans release the targets of a forced stop. It returns in how many seconds to call it again, or 0 when
// all targets are released. If the capacity was not given back within letGoPatience, it returns the reason why the
// stop fails.
func (e *Executor) letGo(
	ctx context.Context, org string, a *execution.Action, holds []scheduling.EventHold,
) (seconds int, failed string, err error) {
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
