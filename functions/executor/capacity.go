package executor

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// A lack of capacity passes in minutes or hours, not in seconds. A start that fails for lack of capacity is retried
// after capacityFirst, then after twice as long each time, up to capacityLongest, for capacityPatience in total.
const (
	capacityPatience = time.Hour
	capacityFirst    = time.Minute
	capacityLongest  = 10 * time.Minute
)

// awaitCapacity puts the action into the wait for provider capacity; message is the provider's text. Until the next
// try nothing of the action is under way: it can be cancelled, and the opposite action ends it.
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
		r.failExhausted(a, state,
			fmt.Sprintf("no capacity in %d attempts within %s: %s", p.Shorts, r.now.Sub(p.Short).Round(time.Second),
				message))
		return
	}
	if p.NextAt = r.now.Add(capacityPause(p.Shorts)); p.NextAt.After(end) {
		p.NextAt = end
	}
	a.AppendLog(r.now, "execute", "retry", fmt.Sprintf("no capacity: %s; tried again at %s, and until %s",
		message, p.NextAt.Format(time.RFC3339), end.Format(time.RFC3339)))
	r.markRunning(a)
	r.lookLater(a)
}

// capacityPause returns the pause after the given number of refusals. Up to a quarter of it is random, so that many
// actions do not return at the same time.
func capacityPause(refusals int) time.Duration {
	pause := min(capacityFirst<<min(refusals-1, 10), capacityLongest)
	return pause - rand.N(pause/4) //nolint:gosec // jitter needs no secrecy
}

// failExhausted ends an action that has no attempts left.
func (r *run) failExhausted(a *execution.Action, state cloud.Status, message string) {
	a.AppendLog(r.now, "execute", "failed", fmt.Sprintf("resource.retry_exhausted: %d attempts", a.Attempts))
	r.failAction(a, state, message)
	r.ended[len(r.ended)-1].Exhausted = true
}
