package executor

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// Lack of capacity passes in minutes or hours, not in seconds: what cannot be started for want of it is tried again after capacityFirst,
// then after twice as long each time, up to capacityLongest, for capacityPatience in all.
const (
	capacityPatience = time.Hour
	capacityFirst    = time.Minute
	capacityLongest  = 10 * time.Minute
)

// awaitCapacity has the action wait for room at its provider, which said so in message. Until it is tried again nothing of it is under
// way: it may be cancelled, and the opposite ends it.
func (r *run) awaitCapacity(a *execution.Action, state cloud.Status, message string) {
	p := a.Progress
	if p.Short.IsZero() {
		p.Short = r.now
	}
	p.Shorts++
	p.Last, p.ActedAt, a.Idle = message, noTime, true
	a.Attempts = p.Errors + p.Shorts
	end := p.Short.Add(capacityPatience)
	if !r.now.Before(end) {
		r.exhaust(a, state,
			fmt.Sprintf("no capacity in %d attempts within %s: %s", p.Shorts, r.now.Sub(p.Short).Round(time.Second),
				message))
		return
	}
	if p.NextAt = r.now.Add(capacityPause(p.Shorts)); p.NextAt.After(end) {
		p.NextAt = end
	}
	a.AppendLog(r.now, "execute", "retry", fmt.Sprintf("no capacity: %s; tried again at %s, and until %s",
		message, p.NextAt.Format(time.RFC3339), end.Format(time.RFC3339)))
	r.running(a)
	r.lookLater(a)
}

// capacityPause returns how long to wait after as many refusals; a quarter of it varies, so that many do not come back at once.
func capacityPause(refusals int) time.Duration {
	pause := min(capacityFirst<<min(refusals-1, 10), capacityLongest)
	return pause - rand.N(pause/4) //nolint:gosec // jitter needs no secrecy
}

// exhaust ends an action that has been tried as often as it may be.
func (r *run) exhaust(a *execution.Action, state cloud.Status, message string) {
	a.AppendLog(r.now, "execute", "failed", fmt.Sprintf("resource.retry_exhausted: %d attempts", a.Attempts))
	r.failAction(a, state, message)
	r.ended[len(r.ended)-1].Exhausted = true
}
