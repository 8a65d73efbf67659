package executor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/eventhold"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/readiness/rescaling"
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
	held, err := eventhold.Read(ctx, e.p.Table, p.org)
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
			o := e.endedUnasked(a, held.Against(a.Action, a.ResourceUID))
			o.LeftOut = true
			ended = append(ended, o)
		}
	}
	p.actions = forced
	let, failed, again, err := e.letForcedGo(ctx, p, held)
	if err != nil {
		return nil, p.wait, err
	}
	return append(free, let...), again, execution.SettleActions(ctx, e.store(), p.org, append(ended, failed...))
}

// letForcedGo has plans let the targets of forced stops go. It returns the stops that may go on, the ends of those that failed, and in how many
// seconds to look again at the others.
func (e *Executor) letForcedGo(
	ctx context.Context, p pending, held eventhold.List,
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

// isUnaskedStop reports whether an action is a stop that nothing is under way of at its provider.
func isUnaskedStop(a *execution.Action) bool {
	return a.Action == cloud.Stop && a.Progress.ActedAt.IsZero()
}

func hasUnaskedStop(actions []*execution.Action) bool {
	return slices.ContainsFunc(actions, isUnaskedStop)
}

// endedUnasked returns the end of an action that is not asked of its provider, for a reason. Nobody is told of it: nothing was tried.
func (e *Executor) endedUnasked(a *execution.Action, reason string) execution.Outcome {
	return execution.Outcome{Action: *a, Status: execution.Failed, Message: reason, Changed: a.Progress.Changed, At: e.p.Clock.Now()}
}

// letGo has plans let the targets of a forced stop go. It returns in how many seconds to call it again, 0 when all are let go, or why the stop
// fails: after letGoPatience the capacity was not given back.
func (e *Executor) letGo(ctx context.Context, org string, a *execution.Action, holds []eventhold.Hold) (seconds int, failed string, err error) {
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
			return 0, fmt.Sprintf("not stopped: the capacity that %s raised was not given back in %s: %s", h.PlanID, letGoPatience, why), nil
		default:
			wait := max(1, int((at.Sub(now)+time.Second-1)/time.Second))
			seconds = max(seconds, wait)
		}
	}
	return seconds, "", nil
}
