package executor

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

const (
	// attempts is how often the provider is asked before an action fails of a transient error.
	attempts = 3
	// grace is how long a provider may go on showing the old state after it has accepted an act (EC2's describe calls
	// are eventually consistent).
	grace = 10 * time.Second
	// backoff is the wait after the first failed attempt; it doubles, and a random part of as much is added.
	backoff = 2 * time.Second
	// patience is the deadline of kinds that name none.
	patience = 15 * time.Minute
)

// transitionalStatus returns the status of a resource on its way to what the verb wants.
func transitionalStatus(v cloud.Verb) cloud.Status {
	if v == cloud.Start {
		return cloud.Starting
	}
	return cloud.Stopping
}

// decideActions sorts the actions by the live states of their resources.
func (r *run) decideActions() {
	for _, a := range r.actions {
		s, ok := r.states[a.ResourceUID]
		if !ok {
			r.failAction(a, "", "the resource no longer exists at its provider")
			continue
		}
		r.judge(a, s)
	}
}

// judge decides about one action.
func (r *run) judge(a *execution.Action, s cloud.State) {
	switch {
	case r.staysOff(a, s):
		r.leaveOff(a, offBefore)
	case r.owes(a, s):
		r.resting(a, s)
	case s.Status == a.Action.WantedStatus():
		r.reached(a, s)
	case s.Status == cloud.Terminated:
		r.failAction(a, cloud.Terminated, "the resource is terminated: "+words(s))
	case s.Unschedulable != "":
		r.failAction(a, s.Status, s.Unschedulable)
	case r.overdue(a):
		r.failAction(a, s.Status,
			fmt.Sprintf("not %s after %s; it is %s", a.Action.WantedStatus(), r.limit(), words(s)))
	case s.Status.IsTransitional() && (!r.kind.Absolute || s.Status == transitionalStatus(a.Action)):
		r.watch(a, "verify", "the resource is "+words(s))
	default:
		r.resting(a, s)
	}
}

// resting decides about an action whose resource stands still in a state that is not the wanted one.
func (r *run) resting(a *execution.Action, s cloud.State) {
	p := a.Progress
	switch {
	case r.now.Before(p.NextAt):
		r.lookLater(a)
	case p.ActedAt.IsZero():
		r.ready = append(r.ready, a)
	case r.justAccepted(a):
		r.watch(a, "verify", "accepted; the resource is still "+words(s))
	case s.NoCapacity:
		r.awaitCapacity(a, s.Status, "the provider accepted it, but the resource is "+words(s))
	default:
		r.countAttempt(a, s.Status, "the provider accepted it, but the resource is "+words(s))
	}
}

// justAccepted reports whether the provider may still show the state from before the act.
func (r *run) justAccepted(a *execution.Action) bool {
	return r.now.Before(a.Progress.ActedAt.Add(grace))
}

// begin has the action acted on in this run.
func (r *run) begin(a *execution.Action) {
	if a.Status == execution.Pending {
		r.untried[a] = true
	}
	r.running(a)
	a.Attempts = a.Progress.Errors + a.Progress.Shorts + 1
	a.Idle, a.Progress.ActedAt = false, r.now
	if r.states[a.ResourceUID].Status != a.Action.WantedStatus() { // or only the marks of a stop are taken away
		a.Progress.Changed = true
	}
	a.AppendLog(r.now, "execute", "ok", fmt.Sprintf("asking %s to %s it, attempt %d", a.Provider, a.Action, a.Attempts))
	r.act = append(r.act, a)
}

// watch leaves the action to a later run.
func (r *run) watch(a *execution.Action, step, message string) {
	if a.Status == execution.Pending {
		a.AppendLog(r.now, step, "waiting", message)
		r.running(a)
	}
	r.lookLater(a)
}

// running makes the action running, and has that stored before anything is done.
func (r *run) running(a *execution.Action) {
	if a.Status == execution.Pending {
		a.Status, a.StartedAt = execution.Running, r.now
	}
	r.started = append(r.started, a)
}

func (r *run) lookLater(a *execution.Action) { r.waiting = append(r.waiting, a) }

// reached ends the action well.
func (r *run) reached(a *execution.Action, s cloud.State) {
	if a.Status == execution.Pending {
		r.running(a)
	}
	if a.Progress.Changed {
		a.AppendLog(r.now, "verify", "ok", "the resource is "+words(s))
	} else {
		r.noteFound(a, s)
		a.AppendLog(r.now, "verify", "ok", "the resource was already "+words(s)+": nothing was done")
	}
	r.ended = append(r.ended, execution.Outcome{
		Action: *a, Status: execution.Succeeded, State: s.Status, Steps: s.Steps, Changed: a.Progress.Changed,
		At: r.now,
	})
}

// failAction ends the action badly, for good.
func (r *run) failAction(a *execution.Action, state cloud.Status, message string) {
	r.ended = append(r.ended, execution.Outcome{
		Action: *a, Status: execution.Failed, State: state, Steps: r.states[a.ResourceUID].Steps, Message: message,
		Changed: a.Progress.Changed, At: r.now,
	})
}

func (r *run) failAll(message string) {
	for _, a := range r.actions {
		r.failAction(a, "", message)
	}
}

// countAttempt counts a failed attempt: another one follows after a while, or none is left.
func (r *run) countAttempt(a *execution.Action, state cloud.Status, message string) {
	p := a.Progress
	p.Errors++
	p.Last, p.ActedAt = message, time.Time{}
	a.Attempts = max(a.Attempts, p.Errors)
	if p.Errors >= attempts {
		r.exhaust(a, state, message)
		return
	}
	pause := backoff << (p.Errors - 1)
	p.NextAt = r.now.Add(pause + rand.N(pause)) //nolint:gosec // jitter needs no secrecy
	a.AppendLog(r.now, "execute", "retry", message)
	r.running(a)
	r.lookLater(a)
}

// queueing is how long an action may be throttled: then that counts like other errors, so that it ends some day.
const queueing = 30 * time.Minute

// throttled reports whether err only says that it is not yet this action's turn.
func (r *run) throttled(a *execution.Action, err error) bool {
	return cloud.ClassOf(err) == cloud.Throttled && r.now.Sub(a.CreatedAt) < queueing
}

// throttlePause is how long an action that was throttled is left alone at least. The provider's own limiter knows better.
const throttlePause = 5 * time.Second

// queue puts an action back that the provider did not take because it is throttled: no attempt is counted. One that was tried for the
// first time has not begun.
func (r *run) queue(a *execution.Action, err error) {
	a.Progress.ActedAt, a.Progress.NextAt = noTime, r.now.Add(throttlePause+rand.N(throttlePause)) //nolint:gosec // jitter needs no secrecy
	a.Progress.Last = err.Error()
	if r.untried[a] {
		a.Status, a.StartedAt, a.Attempts, a.Progress.Changed = execution.Pending, noTime, 0, false
	}
	a.AppendLog(r.now, "execute", "waiting", err.Error())
	r.lookLater(a)
}

// tripAll decides when the provider did not tell the states. What it was asked for may have been done: that ends only when the
// provider says so, or never will.
func (r *run) tripAll(ctx context.Context, err error) {
	if isWithheld(err) {
		r.degradeAccount(ctx, err)
	}
	for _, a := range r.actions {
		switch {
		case !cloud.ClassOf(err).Retryable():
			r.failAction(a, "", err.Error())
		case r.throttled(a, err) && !r.overdue(a):
			r.lookLater(a)
		case a.Progress.Changed && !r.overdue(a):
			a.AppendLog(r.now, "verify", "waiting", "its state cannot be read: "+err.Error())
			r.lookLater(a)
		default:
			r.countAttempt(a, "", err.Error())
		}
	}
}

func (r *run) limit() time.Duration {
	if r.kind.Deadline > 0 {
		return r.kind.Deadline
	}
	return patience
}

// overdue reports whether the action has taken longer than its kind may. Waiting for capacity does not count: that has a bound of
// its own.
func (r *run) overdue(a *execution.Action) bool {
	since := a.StartedAt
	if p := a.Progress; !p.Short.IsZero() {
		since = cmp.Or(p.ActedAt, p.Short.Add(capacityPatience))
	}
	return !since.IsZero() && r.now.Sub(since) > r.limit()
}

const (
	// usual is how long a start or stop takes at least, of kinds that name no time.
	usual = 10 * time.Second
	// longest is how long what is under way is left alone at most.
	longest = time.Minute
)

// waitSeconds returns how many seconds to leave alone what is under way: what it usually takes at first, longer the longer it
// takes. A run costs as much as a second of waiting for it is worth.
func (r *run) waitSeconds() int {
	next := capacityLongest
	for _, a := range r.waiting {
		if a.Idle {
			next = min(next, r.due(a))
			continue
		}
		next = min(next, longest, r.due(a))
	}
	return max(1, int((next+time.Second-1)/time.Second))
}

// due returns when to look at an action again: when it may be retried, else after half of the time that it has taken so far.
func (r *run) due(a *execution.Action) time.Duration {
	if d := a.Progress.NextAt.Sub(r.now); d > 0 {
		return d
	}
	if a.Status == execution.Pending {
		return max(cmp.Or(r.turn, r.now.Sub(a.CreatedAt)/4), throttlePause)
	}
	since := a.Progress.ActedAt
	if since.IsZero() {
		since = a.StartedAt
	}
	return max(cmp.Or(r.kind.Usual, usual), r.now.Sub(since)/2)
}

// words returns a state in the provider's terms.
func words(s cloud.State) string {
	w := s.Native
	if w == "" {
		w = string(s.Status)
	}
	if s.Reason != "" {
		w += " (" + s.Reason + ")"
	}
	return w
}
