// Package clock is the only place that reads the time of day, so that schedules, windows and expiries are tested by
// moving a clock instead of waiting.
package clock

import (
	"context"
	"time"
)

// Clock tells the time and waits.
type Clock interface {
	// Now is the time in UTC.
	Now() time.Time
	// Sleep waits until d has passed or ctx ends, whichever is first; it returns ctx's error in the second case.
	Sleep(ctx context.Context, d time.Duration) error
}

// System is the machine's clock.
type System struct{}

// Now returns the machine's time in UTC.
func (System) Now() time.Time { return time.Now().UTC() }

// Sleep waits on the machine's clock.
func (System) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Earliest returns the earlier of two times.
func Earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// Latest returns the later of two times.
func Latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
