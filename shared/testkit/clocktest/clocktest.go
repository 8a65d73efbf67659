// Package clocktest has clocks for tests whose waits would take real time, or would have to be waited for.
package clocktest

import (
	"context"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Instant is a clock on which a wait takes no time at all.
type Instant struct{ *clock.Manual }

// Sleep returns at once, with ctx's error.
func (Instant) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// Skipping is a clock on which every wait is over at once, and has taken its time.
type Skipping struct{ *clock.Manual }

// Sleep moves the clock by d, and returns ctx's error.
func (s Skipping) Sleep(ctx context.Context, d time.Duration) error {
	s.Advance(d)
	return ctx.Err()
}

// Hurried is the clock of an engine: Speed of its seconds are one real second, so that a wait is short and a time limit
// is not. It is the same in all processes that have the same Began and Speed.
type Hurried struct {
	clock.System
	Began time.Time
	Speed time.Duration
}

// NewHurried returns a clock that begins now.
func NewHurried(speed time.Duration) Hurried {
	return Hurried{Began: clock.System{}.Now(), Speed: speed}
}

// Now returns the time since Began, hurried.
func (h Hurried) Now() time.Time { return h.Began.Add(h.Speed * h.System.Now().Sub(h.Began)) }

// Sleep waits for its part of d.
func (h Hurried) Sleep(ctx context.Context, d time.Duration) error {
	return h.System.Sleep(ctx, d/h.Speed)
}
