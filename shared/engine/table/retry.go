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
	maxAttempts = 8                     // of one call
	attemptTime = 5 * time.Second       // of one attempt
	callTime    = 30 * time.Second      // of all attempts, if ctx has no deadline
	firstPause  = 25 * time.Millisecond // doubled by each attempt; the delay is a random part of it
	longPause   = time.Second
)

// class is the meaning of an error for retries.
type class uint8

const (
	final      class = iota // do not retry
	throttled               // not done: the partition has no units left
	conflicted              // not done: a transaction holds one of its items
	unclear                 // possibly done: a lost reply, a broken connection, a failure of the service
)

// ErrConflicted is the error of a call that conflicted with another transaction at each attempt.
var ErrConflicted = fault.New(fault.Unavailable, "another transaction holds the item; try again")

// busyError is the error of a call that was refused temporarily. keys are the known items that another transaction
// holds.
type busyError struct {
	class class
	keys  []Key
	err   error
}

// Error returns the reason and the held items.
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

// attempt is the state of a call: the number of attempts, and whether one may have succeeded without a reply.
type attempt struct {
	clock clock.Clock
	n     int
	murky bool
}

// callWithRetry repeats call until it succeeds or fails permanently. If once is set, the call must not be done twice:
// it returns ErrLost if it may have succeeded. The context always has a deadline.
func callWithRetry(ctx context.Context, c clock.Clock, once bool, call func(context.Context) error) (murky bool,
	err error,
) {
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	a := attempt{clock: c}
	for {
		err := a.tryOnce(ctx, call)
		if err == nil {
			return a.murky, nil
		}
		c := classOf(err)
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

// errUnprocessed is the error for the part of a batch that the service throttled.
var errUnprocessed = errors.New("a part of the batch was left undone")

// callUntilDone calls some for the entries of todo, and repeats it with the entries that were left out because of
// throttling, after a delay. A call that made progress resets the number of attempts.
func callUntilDone[T any](ctx context.Context, c clock.Clock, todo []T,
	some func(context.Context, []T) (left []T, err error),
) error {
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

// withDefaultDeadline returns a context with a deadline.
func withDefaultDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, callTime)
}

// tryOnce makes one attempt. It makes no call if the context has ended.
func (a *attempt) tryOnce(ctx context.Context, call func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	return call(ctx)
}

// waitBeforeRetry waits before the next attempt. It returns false if there is none.
func (a *attempt) waitBeforeRetry(ctx context.Context) bool {
	if a.n++; a.n >= maxAttempts {
		return false
	}
	return a.clock.Sleep(ctx, drawBackoff(a.n)) == nil
}

// drawBackoff returns the random delay before attempt n.
func drawBackoff(n int) time.Duration {
	most := min(firstPause<<n, longPause)
	return rand.N(most) //nolint:gosec // spreads load, guards nothing
}

// giveUp returns the error of a call that is not retried any more.
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
