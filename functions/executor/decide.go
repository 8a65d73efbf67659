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
	// maxAttempts is how often the provider is asked before an action fails because of transient errors.
	maxAttempts = 3
	// settleGrace is how long a provider may show the old state after it has accepted an act. EC2's describe calls
	// are eventually consistent.
	settleGrace = 10 * time.Second
	// firstBackoff is the wait after the first failed attempt. It doubles each time, plus a random part of up to the
	// same length.
	firstBackoff = 2 * time.Second
	// defaultTimeLimit is the time limit of kinds that define none.
	defaultTimeLimit = 15 * time.Minute
)

// transitionalStatus returns the status of a resource while the verb is being carried out.
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
		r.judgeAction(a, s)
	}
}

// judgeAction decides the next step of one action from the live state of its resource.
func (r *run) judgeAction(a *execution.Action, s cloud.State) {
	switch {
	case r.staysOff(a, s):
		r.leaveOff(a, offBefore)
	case r.owesRestore(a, s):
		r.judgeResting(a, s)
	case s.Status == a.Action.WantedStatus():
		r.succeedAction(a, s)
	case s.Status == cloud.Terminated:
		r.failAction(a, cloud.Terminated, "the resource is terminated: "+stateText(s))
	case s.Unschedulable != "":
		r.failAction(a, s.Status, s.Unschedulable)
	case r.isOverdue(a):
		r.failAction(a, s.Status,
			fmt.Sprintf("not %s after %s; it is %s", a.Action.WantedStatus(), r.timeLimit(), stateText(s)))
	case s.Status.IsTransitional() && (!r.kind.Absolute || s.Status == transitionalStatus(a.Action)):
		r.leaveForLater(a, "verify", "the resource is "+stateText(s))
	default:
		r.judgeResting(a, s)
	}
}

// judgeResting decides the next step of an action whose resource is in a stable state other than the desired one.
func (r *run) judgeResting(a *execution.Action, s cloud.State) {
	p := a.Progress
	switch {
	case r.now.Before(p.NextAt):
		r.lookLater(a)
	case p.ActedAt.IsZero():
		r.ready = append(r.ready, a)
	case r.justAccepted(a):
		r.leaveForLater(a, "verify", "accepted; the resource is still "+stateText(s))
	case s.NoCapacity:
		r.awaitCapacity(a, s.Status, "the provider accepted it, but the resource is "+stateText(s))
	default:
		r.countAttempt(a, s.Status, "the provider accepted it, but the resource is "+stateText(s))
	}
}

// justAccepted reports whether the provider may still show the state from before the act.
func (r *run) justAccepted(a *execution.Action) bool {
	return r.now.Before(a.Progress.ActedAt.Add(settleGrace))
}

// beginAction marks the action to be acted on in this run.
func (r *run) beginAction(a *execution.Action) {
	if a.Status == execution.Pending {
		r.untried[a] = true
	}
	r.markRunning(a)
	a.Attempts = a.Progress.Errors + a.Progress.Shorts + 1
	a.Idle, a.Progress.ActedAt = false, r.now
	if r.states[a.ResourceUID].Status != a.Action.WantedStatus() { // or only the marks of a stop are taken away
		a.Progress.Changed = true
	}
	a.AppendLog(r.now, "execute", "ok", fmt.Sprintf("asking %s to %s it, attempt %d", a.Provider, a.Action, a.Attempts))
	r.act = append(r.act, a)
}

// leaveForLater leaves the action to a later run.
func (r *run) leaveForLater(a *execution.Action, step, message string) {
	if a.Status == execution.Pending {
		a.AppendLog(r.now, step, "waiting", message)
		r.markRunning(a)
	}
	r.lookLater(a)
}

// markRunning sets the action to running; that is stored before anything is done.
func (r *run) markRunning(a *execution.Action) {
	if a.Status == execution.Pending {
		a.Status, a.StartedAt = execution.Running, r.now
	}
	r.started = append(r.started, a)
}

func (r *run) lookLater(a *execution.Action) { r.waiting = append(r.waiting, a) }

// succeedAction ends the action as succeeded.
func (r *run) succeedAction(a *execution.Action, s cloud.State) {
	if a.Status == execution.Pending {
		r.markRunning(a)
	}
	if a.Progress.Changed {
		a.AppendLog(r.now, "verify", "ok", "the resource is "+stateText(s))
	} else {
		r.noteFound(a, s)
		a.AppendLog(r.now, "verify", "ok", "the resource was already "+stateText(s)+": nothing was done")
	}
	r.ended = append(r.ended, execution.Outcome{
		Action: *a, Status: execution.Succeeded, State: s.Status, Steps: s.Steps, Changed: a.Progress.Changed,
		At: r.now,
	})
}

// failAction ends the action as failed. It is not retried.
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

// countAttempt counts a failed attempt. Another attempt follows after a pause, or the action fails when none is left.
func (r *run) countAttempt(a *execution.Action, state cloud.Status, message string) {
	p := a.Progress
	p.Errors++
	p.Last, p.ActedAt = message, time.Time{}
	a.Attempts = max(a.Attempts, p.Errors)
	if p.Errors >= maxAttempts {
		r.failExhausted(a, state, message)
		return
	}
	pause := firstBackoff << (p.Errors - 1)
	p.NextAt = r.now.Add(pause + rand.N(pause)) //nolint:gosec // jitter needs no secrecy
	a.AppendLog(r.now, "execute", "retry", message)
	r.markRunning(a)
	r.lookLater(a)
}

// maxThrottledTime is how long throttling of an action does not count as a failed attempt. After that it counts like
// other errors, so that the action ends.
const maxThrottledTime = 30 * time.Minute

// isThrottled reports whether err only means that the provider throttled the action and it may still wait for its
// turn.
func (r *run) isThrottled(a *execution.Action, err error) bool {
	return cloud.ClassOf(err) == cloud.Throttled && r.now.Sub(a.CreatedAt) < maxThrottledTime
}

// throttlePause is the minimum pause of a throttled action. The provider's own limiter knows the exact time.
const throttlePause = 5 * time.Second

// requeueAction puts back an action that the provider throttled, without counting an attempt. An action that was
// tried for the first time returns to pending: it has not begun.
func (r *run) requeueAction(a *execution.Action, err error) {
	pause := throttlePause + rand.N(throttlePause) //nolint:gosec // jitter needs no secrecy
	a.Progress.ActedAt, a.Progress.NextAt = noTime, r.now.Add(pause)
	a.Progress.Last = err.Error()
	if r.untried[a] {
		a.Status, a.StartedAt, a.Attempts, a.Progress.Changed = execution.Pending, noTime, 0, false
	}
	a.AppendLog(r.now, "execute", "waiting", err.Error())
	r.lookLater(a)
}

// tripAll decides about all actions when the provider did not return their states. A requested act may have been
// carried out: its action ends only when the provider confirms the state, or never will.
func (r *run) tripAll(ctx context.Context, err error) {
	if isWithheld(err) {
		r.degradeAccount(ctx, err)
	}
	for _, a := range r.actions {
		switch {
		case !cloud.ClassOf(err).Retryable():
			r.failAction(a, "", err.Error())
		case r.isThrottled(a, err) && !r.isOverdue(a):
			r.lookLater(a)
		case a.Progress.Changed && !r.isOverdue(a):
			a.AppendLog(r.now, "verify", "waiting", "its state cannot be read: "+err.Error())
			r.lookLater(a)
		default:
			r.countAttempt(a, "", err.Error())
		}
	}
}

func (r *run) timeLimit() time.Duration {
	if r.kind.Deadline > 0 {
		return r.kind.Deadline
	}
	return defaultTimeLimit
}

// isOverdue reports whether the action has taken longer than its kind's time limit. The wait for capacity does not
// count: it has its own limit.
func (r *run) isOverdue(a *execution.Action) bool {
	since := a.StartedAt
	if p := a.Progress; !p.Short.IsZero() {
		since = cmp.Or(p.ActedAt, p.Short.Add(capacityPatience))
	}
	return !since.IsZero() && r.now.Sub(since) > r.timeLimit()
}

const (
	// minUsualTime is the first pause between two looks for kinds that define no usual time: that of the waiters in
	// AWS's SDK. With 10 s, a start or stop of 45 s took one look more, and its three state transitions.
	minUsualTime = 15 * time.Second
	// maxWait is the longest pause between two looks at an action that is under way.
	maxWait = time.Minute
)

// waitSeconds returns how many seconds to wait before the next run: at first the usual time of the kind, then longer
// the longer the action takes. A run costs as much as a second of waiting is worth.
func (r *run) waitSeconds() int {
	next := capacityLongest
	for _, a := range r.waiting {
		if a.Idle {
			next = min(next, r.nextLook(a))
			continue
		}
		next = min(next, maxWait, r.nextLook(a))
	}
	return max(1, int((next+time.Second-1)/time.Second))
}

// nextLook returns when to look at an action again: when it may be retried, or else after half of the time that it
// has taken so far.
func (r *run) nextLook(a *execution.Action) time.Duration {
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
	return max(cmp.Or(r.kind.Usual, minUsualTime), r.now.Sub(since)/2)
}

// stateText returns a state in the provider's terms.
func stateText(s cloud.State) string {
	w := s.Native
	if w == "" {
		w = string(s.Status)
	}
	if s.Reason != "" {
		w += " (" + s.Reason + ")"
	}
	return w
}
