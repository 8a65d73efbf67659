package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// giveUp ends the actions of a run that is aborted for a reason, each according to the current state of its resource.
// An action whose resource is in transition, or whose state the provider does not tell, is left as it is, to be
// resumed, until its deadline.
func (e *Executor) giveUp(ctx context.Context, in execution.RunInput, reason string) (RunResult, error) {
	actions, chunk, err := e.loadActions(ctx, in)
	if err != nil || len(actions) == 0 {
		return RunResult{Done: err == nil}, err
	}
	r := newRun(e, in, actions)
	r.groupID = chunk.GroupID
	never, err := r.openAccount(ctx)
	if err == nil && never == "" {
		err = r.readStates(ctx)
	}
	switch {
	case never != "":
		r.failAll(never)
	case err != nil:
		r.endUnread(reason, err)
	default:
		r.endAsFound(reason)
	}
	if err = r.storeProgress(ctx, r.waiting); err != nil {
		return RunResult{}, err
	}
	got, err := r.finishRun(ctx)
	got.WaitSeconds = max(got.WaitSeconds, giveUpPauseSeconds)
	return got, err
}

// giveUpPauseSeconds is the minimum number of seconds before an abandoned run is looked at again.
const giveUpPauseSeconds = 30

// endUnread fails the actions that are past their deadline and whose state cannot be read. The others wait.
func (r *run) endUnread(reason string, err error) {
	why := fmt.Sprintf("%s; its state cannot be read: %s", reason, err)
	for _, a := range r.actions {
		if r.isOverdue(a) {
			r.failAction(a, "", why)
			continue
		}
		r.waitUntilDeadline(a, why)
	}
}

// endAsFound ends the actions whose resources are in the desired state or in another stable state. Resources in
// transition wait until their deadline.
func (r *run) endAsFound(reason string) {
	for _, a := range r.actions {
		s, there := r.states[a.ResourceUID]
		switch {
		case !there:
			r.failAction(a, "", "the resource no longer exists at its provider")
		case s.Status == a.Action.WantedStatus():
			r.succeedAction(a, s)
		case r.isOverdue(a) || s.Status == cloud.Terminated || !s.Status.IsTransitional() && !r.justAccepted(a):
			r.failAction(a, s.Status, fmt.Sprintf("%s; the resource is %s", reason, stateText(s)))
		default:
			r.waitUntilDeadline(a, fmt.Sprintf("%s; the resource is %s", reason, stateText(s)))
		}
	}
}

// waitUntilDeadline leaves the action to a later run and starts its time limit.
func (r *run) waitUntilDeadline(a *execution.Action, why string) {
	a.AppendLog(r.now, "verify", "waiting", why)
	r.markRunning(a)
	r.lookLater(a)
}
