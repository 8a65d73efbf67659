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

// unheld returns the actions that no active event readiness plan is against, and in how many seconds to look again at the others; wait is
// that of actions that wait for something else. A stop that has asked nothing of its provider is ended while a plan holds its target. A
// forced stop has the plan let the target go first. It takes one round trip for stops that have not begun, and none for other actions.
func (e *Executor) unheld(
	ctx context.Context, org string, actions []*execution.Action, wait int, //nolint:revive // whose, what, and when to look again
) (free []*execution.Action, again int, err error) {
	if !hasUnaskedStop(actions) {
		return actions, wait, nil
	}
	held, err := eventhold.Read(ctx, e.p.Table, org)
	if err != nil {
		return nil, wait, err
	}
	var ended []execution.Outcome
	for _, a := range actions {
		holds := held.Inside(a.ResourceUID)
		switch {
		case !isUnaskedStop(a) || len(holds) == 0:
			free = append(free, a)
		case !a.Force:
			o := e.endedUnasked(a, held.Against(a.Action, a.ResourceUID))
			o.LeftOut = true
			ended = append(ended, o)
		default:
			seconds, failed, err := e.letGo(ctx, org, a, holds)
			switch {
			case err != nil:
				return nil, wait, err
			case failed != "":
				ended = append(ended, e.endedUnasked(a, failed))
			case seconds > 0:
				wait = min(cmp.Or(wait, seconds), seconds)
			default:
				free = append(free, a)
			}
		}
	}
	return free, wait, execution.SettleActions(ctx, e.store(), org, ended)
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
