package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/aws/smithy-go"

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
	final   class = iota // the service's last word
	refused              // not done, for now: throttled, or in conflict with another
	unclear              // perhaps done: a lost reply, a broken connection, a failure of the service
)

// classify returns the class of an error of the SDK.
func classify(err error) class {
	if _, busy := errors.AsType[*busyError](err); busy {
		return refused
	}
	if ours(err) {
		return final
	}
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok {
		return unclear
	}
	switch e.ErrorCode() {
	case "ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "TransactionConflictException",
		"TransactionInProgressException", "LimitExceededException":
		return refused
	case "InternalServerError", "ServiceUnavailable", "ServiceUnavailableException", "InternalFailure":
		return unclear
	}
	if e.ErrorFault() == smithy.FaultServer {
		return unclear
	}
	return final
}

// ours reports whether err was already given its meaning here.
func ours(err error) bool {
	_, expired := errors.AsType[*expiredError](err)
	return expired || fault.KindOf(err) != fault.Internal
}

// attempt is a call under way: how often it was tried, and whether a try may have been done without our learning it.
type attempt struct {
	d     *DynamoDB
	n     int
	murky bool
}

// callWithRetry makes call until it succeeds or fails for good. One that must not be done twice (once) is not repeated when its
// fate is unclear: ErrLost then. The context has a deadline in any case.
func (d *DynamoDB) callWithRetry(ctx context.Context, once bool, call func(context.Context) error) (murky bool, err error) {
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	a := attempt{d: d}
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
	return a.d.clock.Sleep(ctx, backoff(a.n)) == nil
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
	if c == refused {
		return fmt.Errorf("%w: %w", ErrThrottled, err)
	}
	return fmt.Errorf("%w: %w", ErrDown, err)
}

// itemFaults are DynamoDB's words for what an item's data, not our expression, made impossible.
var itemFaults = []string{"incorrect data type", "type mismatch", "Item size", "item size", "Number overflow", "verflow", "significant digits", "Nesting"}

// classifyError returns an error of the service its kind.
func classifyError(err error) error {
	e, ok := errors.AsType[smithy.APIError](err)
	if !ok || fault.KindOf(err) != fault.Internal {
		return err
	}
	switch code := e.ErrorCode(); {
	case code == "ResourceNotFoundException":
		return fault.NewWithCause(fault.Internal, err, "the table does not exist")
	case strings.HasPrefix(code, "Validation") && impossible(e.ErrorMessage()):
		return fault.NewWithCause(fault.Invalid, err, "the store refused the item: %s", e.ErrorMessage())
	default:
		return err
	}
}

// impossible reports whether a validation message is about the item's data.
func impossible(message string) bool {
	for _, s := range itemFaults {
		if strings.Contains(message, s) {
			return true
		}
	}
	return false
}
