package testenv

import (
	"context"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Ahead is the machine's clock, which a test can set ahead: to the organization's next minute when it asks more than a
// minute allows, to the end of a code or a token. Who sleeps for less than a minute wakes when the time has come, by either way:
// what goes on behind the requests would otherwise wait on the machine's clock for what it reckons from times that never passed
// there. What is done each minute and each hour keeps to the machine's clock, so that a test that sets the clock ahead discovers
// and evaluates nothing besides.
type Ahead struct {
	clock.System
	mu    sync.Mutex
	by    time.Duration
	moved chan struct{} // closed when the clock is set ahead
}

// Now returns the machine's time and what the clock was set ahead.
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

// Advance sets the clock ahead by d.
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
