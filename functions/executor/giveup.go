package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// giveUp ends the actions of a run that goes no further, for the reason: each as its resource is by then. What is on its way, or
// whose state the provider does not tell, has not failed; it is left as it is, to be taken up again, until its deadline.
func (e *Executor) giveUp(ctx context.Context, in execution.RunInput, reason string) (RunResult, error) {
	actions, chunk, err := e.loadActions(ctx, in)
	if err != nil || len(actions) == 0 {
		return RunResult{Done: err == nil}, err
	}
	r := newRun(e, in, actions)
	r.groupID = chunk.GroupID
	never, err := r.open(ctx)
	if err == nil && never == "" {
		err = r.read(ctx)
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
	got, err := r.finish(ctx)
	got.WaitSeconds = max(got.WaitSeconds, respite)
	return got, err
}

// respite is how many seconds to leave alone at least what a run gave up.
const respite = 30

// endUnread ends what is over its deadline: what became of it nobody can tell. The rest waits.
func (r *run) endUnread(reason string, err error) {
	why := fmt.Sprintf("%s; its state cannot be read: %s", reason, err)
	for _, a := range r.actions {
		if r.overdue(a) {
			r.failAction(a, "", why)
			continue
		}
		r.wait(a, why)
	}
}

// endAsFound ends what is as wanted, and what stands still in another state; what moves waits until its deadline.
func (r *run) endAsFound(reason string) {
	for _, a := range r.actions {
		s, there := r.states[a.ResourceUID]
		switch {
		case !there:
			r.failAction(a, "", "the resource no longer exists at its provider")
		case s.Status == a.Action.WantedStatus():
			r.reached(a, s)
		case r.overdue(a) || s.Status == cloud.Terminated || !s.Status.IsTransitional() && !r.justAccepted(a):
			r.failAction(a, s.Status, fmt.Sprintf("%s; the resource is %s", reason, words(s)))
		default:
			r.wait(a, fmt.Sprintf("%s; the resource is %s", reason, words(s)))
		}
	}
}

// wait leaves the action to a later run, and has the time begin that it may take.
func (r *run) wait(a *execution.Action, why string) {
	a.AppendLog(r.now, "verify", "waiting", why)
	r.running(a)
	r.lookLater(a)
}
