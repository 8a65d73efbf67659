// Package clocktest has clocks for tests whose waits would take real time, or would have to be waited for.
package clocktest

import (
	"context"
	"encoding/json"
	"sync/atomic"
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

// Leaping is the clock of an engine whose machines wait and have time limits. It stands still while a function works,
// so that a slow computer exceeds no limit. When no function works, a wait is over after a thousandth of its time, and
// has then taken all of it.
type Leaping struct {
	*clock.Manual
	working atomic.Int64
}

// NewLeaping returns a clock that moves m.
func NewLeaping(m *clock.Manual) *Leaping { return &Leaping{Manual: m} }

const (
	haste = 1000
	// longestWait is the longest wait that the clock leaps over. A longer one is a time limit, which comes only when
	// shorter waits have moved the clock there.
	longestWait = 10 * time.Minute
)

// Sleep waits until d has passed on the clock.
func (l *Leaping) Sleep(ctx context.Context, d time.Duration) error {
	if d > longestWait {
		return l.Manual.Sleep(ctx, d)
	}
	end := l.Now().Add(d)
	err := clock.System{}.Sleep(ctx, d/haste)
	for err == nil && l.working.Load() > 0 {
		err = clock.System{}.Sleep(ctx, time.Millisecond)
	}
	if err == nil {
		l.Advance(max(0, end.Sub(l.Now())))
	}
	return err
}

// Watch returns the functions of an engine on the clock l, which stands still while one of them works.
func Watch[F ~func(context.Context, json.RawMessage) (any, error)](l *Leaping, functions map[string]F) map[string]F {
	out := map[string]F{}
	for name, f := range functions {
		out[name] = func(ctx context.Context, in json.RawMessage) (any, error) {
			l.working.Add(1)
			defer l.working.Add(-1)
			return f(ctx, in)
		}
	}
	return out
}
