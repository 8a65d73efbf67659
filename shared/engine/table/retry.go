package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	attempts    = 8                     // of one call
	attemptTime = 5 * time.Second       // of one attempt
	callTime    = 30 * time.Second      // of all, when ctx has no deadline
	firstPause  = 25 * time.Millisecond // doubled by each attempt, and drawn between nothing and that
	longPause   = time.Second
)

// class is what an error says about a call.
type class uint8

const (
	final      class = iota // the service's last word
	throttled               // not done: more units than its partition gives
	conflicted              // not done: a transaction holds an item of it
	unclear                 // perhaps done: a lost reply, a broken connection, a failure of the service
)

// ErrConflicted is the error of a call that found an item in another's transaction at each of its attempts.
var ErrConflicted = fault.New(fault.Unavailable, "another transaction holds the item; try again")

// busyError is a call that was not done for now. Keys are the items that another transaction holds, as far as they are known.
type busyError struct {
	class class
	keys  []Key
	err   error
}

// Error tells what stood in the way.
func (e *busyError) Error() string {
	var b strings.Builder
	b.WriteString(e.err.Error())
	for _, k := range e.keys {
		fmt.Fprintf(&b, "; %.80s %.80s is held", k.PK, k.SK)
	}
	return b.String()
}

// Unwrap returns the service's error.
func (e *busyError) Unwrap() error { return e.err }

// attempt is a call under way: how often it was tried, and whether a try may have been done without our learning it.
type attempt struct {
	clock clock.Clock
	n     int
	murky bool
}

// callWithRetry makes call until it succeeds or fails for good. One that must not be done twice (once) is not repeated when its
// fate is unclear: ErrLost then. The context has a deadline in any case.
func callWithRetry(ctx context.Context, c clock.Clock, once bool, call func(context.Context) error) (murky bool,
	err error) {
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	a := attempt{clock: c}
	for {
		err := a.try(ctx, call)
		if err == nil {
			return a.murky, nil
		}
		c := classify(err)
		a.murky = a.murky || c == unclear
		if c == final {
			return a.murky, err
		}
		if c == unclear && once {
			return true, fmt.Errorf("%w: %w", ErrLost, err)
		}
		if !a.waitBeforeRetry(ctx) {
			return a.murky, a.giveUp(ctx, c, err)
		}
	}
}

// errUnprocessed is the service's way of throttling a part of a batch.
var errUnprocessed = errors.New("a part of the batch was left undone")

// callUntilDone makes some of a batch's calls until nothing is left of todo, each after a pause: what is left was throttled. A call
// that got a part done begins the attempts again.
func callUntilDone[T any](ctx context.Context, c clock.Clock, todo []T,
	some func(context.Context, []T) (left []T, err error)) error {
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	for a := (attempt{clock: c}); len(todo) > 0; {
		left, err := some(ctx, todo)
		if err != nil {
			return err
		}
		if len(left) < len(todo) {
			a.n = 0
		}
		if len(left) > 0 && !a.waitBeforeRetry(ctx) {
			return a.giveUp(ctx, throttled, errUnprocessed)
		}
		todo = left
	}
	return nil
}

// withDefaultDeadline gives ctx a deadline if it has none.
func withDefaultDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, callTime)
}

// try makes one attempt. A context that has ended is not called at all.
func (a *attempt) try(ctx context.Context, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return call(ctx)
}

// waitBeforeRetry waits before the next attempt; false when there is to be none.
func (a *attempt) waitBeforeRetry(ctx context.Context) bool {
	if a.n++; a.n >= attempts {
		return false
	}
	return a.clock.Sleep(ctx, backoff(a.n)) == nil
}

// backoff draws the pause before attempt n.
func backoff(n int) time.Duration {
	most := min(firstPause<<n, longPause)
	return rand.N(most) //nolint:gosec // spreads load, guards nothing
}

// giveUp returns the error of a call that was given up.
func (a *attempt) giveUp(ctx context.Context, c class, err error) error {
	if end := ctx.Err(); end != nil && a.n <= 1 && errors.Is(err, end) {
		return end
	}
	switch c {
	case throttled:
		return fmt.Errorf("%w: %w", ErrThrottled, err)
	case conflicted:
		return fmt.Errorf("%w: %w", ErrConflicted, err)
	default:
		return fmt.Errorf("%w: %w", ErrDown, err)
	}
}
