package simulated

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lamplighter.dev/shared/cloud"
)

// faults are what goes wrong in an account; settings.go explains each.
type faults struct {
	throttle, partial, lost, fallBack, vanish, slow float64

	lag    time.Duration
	wait   time.Duration // of a slow call
	denied []string
	refuse bool
}

func (r *reader) faults() faults {
	f := faults{
		throttle: r.rate("throttle", 0, 1), partial: r.rate("partialFailure", 0, 1), lost: r.rate("lostReply", 0, 1),
		fallBack: r.rate("fallBack", 0, 1), vanish: r.rate("vanish", 0, 1), slow: r.rate("slow", 0, 1),
		denied: r.list("denied"), refuse: r.flag("refuse"),
	}
	f.lag = time.Duration(r.rate("eventualConsistency", 0, 86_400) * float64(time.Second))
	f.wait = time.Duration(r.integer("slowMillis", 5000, 0, 3_600_000)) * time.Millisecond
	return f
}

// request is one call as faults see it.
type request struct {
	method, op               string
	kind, region, capability string
}

// The attempts of one call, and how long the first retry waits; each further one waits twice as long.
const (
	attempts = 3
	backOff  = 100 * time.Millisecond
)

// call does one call: it takes its time, may be refused, and otherwise runs do, whose error it hands on. Throttling is
// retried here, as an SDK does. A lost reply runs do and then fails.
func (c *conn) call(ctx context.Context, r request, do func(context.Context) error) error {
	for i := range attempts {
		number := c.world.counted(r.method)
		if err := c.pass(ctx, r, number); err == nil {
			return c.answer(ctx, r, number, do)
		} else if cloud.ClassOf(err) != cloud.Throttled || i == attempts-1 {
			return err
		}
		if err := c.clk.Sleep(ctx, backOff<<i); err != nil {
			return failure(cloud.Transient, r, "RequestCanceled", err.Error())
		}
	}
	return nil // not reached: the last attempt returns
}

// pass lets the call take its time and tells whether it gets through.
func (c *conn) pass(ctx context.Context, r request, number int) error {
	took := c.latency
	if c.chance(r, number, "slow", c.faults.slow) {
		took += c.faults.wait
	}
	if err := c.clk.Sleep(ctx, min(took, callDeadline)); err != nil {
		return failure(cloud.Transient, r, "RequestCanceled", err.Error())
	}
	if took > callDeadline {
		return failure(cloud.Transient, r, "RequestTimeout", fmt.Sprintf("no answer within %s", callDeadline))
	}
	if err := c.refusal(r); err != nil {
		return err
	}
	if c.world.throttling() || c.chance(r, number, "throttle", c.faults.throttle) {
		return failure(cloud.Throttled, r, "RequestLimitExceeded", "Request limit exceeded.")
	}
	return nil
}

func (c *conn) answer(ctx context.Context, r request, number int, do func(context.Context) error) error {
	if do == nil {
		return nil
	}
	if err := do(ctx); err != nil {
		e := failure(cloud.Transient, r, "InternalFailure", err.Error()) // the table's, which is this cloud's memory
		e.Err = err
		return e
	}
	if (r.method == "Act" || r.method == "Scale") && c.chance(r, number, "lost", c.faults.lost) {
		return failure(cloud.Transient, r, "RequestError", "read: connection reset by peer")
	}
	return nil
}

// refusal is why the credentials may not make this call; nil when they may.
func (c *conn) refusal(r request) *cloud.Error {
	if c.faults.refuse {
		return failure(cloud.Refused, r, "InvalidClientTokenId", "The security token included in the request is invalid.")
	}
	denied := c.world.denials(c.faults.denied)
	if len(denied) == 0 || r.op == "sts:GetCallerIdentity" { // which no policy can deny
		return nil
	}
	for _, d := range []string{"*", r.op, r.kind, r.region, r.capability} {
		if d != "" && slices.Contains(denied, d) {
			return failure(cloud.Denied, r, "AccessDenied", fmt.Sprintf(
				"User: arn:simulated:iam::%s:role/lamplighter is not authorized to perform: %s", c.number, r.op))
		}
	}
	return nil
}

// chance draws whether a fault hits the call with that number. Calls are numbered by method from 1 in each process, so
// the same calls in the same order meet the same faults.
func (c *conn) chance(r request, number int, fault string, rate float64) bool {
	return rate > 0 && within(mix(c.key^hash(fault, r.method, strconv.Itoa(number))), rate)
}

func failure(class cloud.Class, r request, code, message string) *cloud.Error {
	return &cloud.Error{Class: class, Op: r.op, Code: code, Message: message}
}
