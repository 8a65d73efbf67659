package testenv

import (
	"context"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Ahead is the machine's clock plus an offset that tests increase, for example to the organization's next minute or to
// the expiry of a token. A sleep of less than a minute ends when either clock reaches its end: otherwise the service
// would wait on the machine's clock for times computed from the offset. A sleep of a minute or more keeps to the
// machine's clock, so that a test which increases the offset starts no discovery or evaluation by that.
type Ahead struct {
	clock.System
	mu    sync.Mutex
	by    time.Duration
	moved chan struct{} // closed when the clock is set ahead
}

// Now returns the machine's time plus the offset.
func (a *Ahead) Now() time.Time {
	now, _ := a.read()
	return now
}

func (a *Ahead) read() (now time.Time, moved chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.moved == nil {
		a.moved = make(chan struct{})
	}
	return a.System.Now().Add(a.by), a.moved
}

// Advance increases the offset by d.
func (a *Ahead) Advance(d time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by += d
	if a.moved != nil {
		close(a.moved)
		a.moved = nil
	}
}

// Sleep returns when d has passed, or when ctx ends.
func (a *Ahead) Sleep(ctx context.Context, d time.Duration) error {
	if d >= time.Minute {
		return a.System.Sleep(ctx, d)
	}
	now, moved := a.read()
	for until := now.Add(d); until.After(now); now, moved = a.read() {
		left, stop := context.WithTimeout(ctx, until.Sub(now))
		select {
		case <-moved:
		case <-left.Done():
		}
		stop()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return ctx.Err()
}
