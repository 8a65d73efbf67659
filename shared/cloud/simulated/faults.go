package simulated

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lamplighter.dev/shared/cloud"
)

// faults are the faults of an account; settings.go explains each.
type faults struct {
	throttle, partial, lost, fallBack, vanish, slow, noCapacity float64

	lag    time.Duration
	wait   time.Duration // of a slow call
	denied []string
	refuse bool
}

func (r *reader) readFaults() faults {
	f := faults{
		throttle: r.readRate("throttle", 0, 1), partial: r.readRate("partialFailure", 0, 1),
		lost:     r.readRate("lostReply", 0, 1),
		fallBack: r.readRate("fallBack", 0, 1), vanish: r.readRate("vanish", 0, 1), slow: r.readRate("slow", 0, 1),
		noCapacity: r.readRate("noCapacity", 0, 1), denied: r.readList("denied"), refuse: r.readFlag("refuse"),
	}
	f.lag = time.Duration(r.readRate("eventualConsistency", 0, 86_400) * float64(time.Second))
	f.wait = time.Duration(r.readInteger("slowMillis", 5000, 0, 3_600_000)) * time.Millisecond
	return f
}

// request is one call as faults see it.
type request struct {
	method, op               string
	kind, region, capability string
	ids                      int // that are acted on
}

// The attempts of one call, and how long the first retry waits; each further one waits twice as long.
const (
	attempts = 3
	backOff  = 100 * time.Millisecond
)

// simulateCall does one call: it takes its time, may be refused, and otherwise runs do, whose error it hands on.
// Throttling is retried here, as an SDK does. A lost reply runs do and then fails.
func (c *conn) simulateCall(ctx context.Context, r request, do func(context.Context) error) error {
	for i := range attempts {
		if err := c.awaitToken(ctx, r); err != nil {
			return newFailure(cloud.Transient, r, "RequestCanceled", err.Error())
		}
		number := c.world.countCall(r.method)
		err := c.passFaults(ctx, r, number)
		if c.learnFrom(r, err); err == nil {
			return c.answerCall(ctx, r, number, do)
		} else if cloud.ClassOf(err) != cloud.Throttled || i == attempts-1 {
			return err
		}
		if err := c.clk.Sleep(ctx, backOff<<i); err != nil {
			return newFailure(cloud.Transient, r, "RequestCanceled", err.Error())
		}
	}
	return nil // not reached: the last attempt returns
}

// passFaults lets the call take its time and reports whether it gets through.
func (c *conn) passFaults(ctx context.Context, r request, number int) error {
	took := c.latency
	if c.faultHits(r, number, "slow", c.faults.slow) {
		took += c.faults.wait
	}
	if err := c.clk.Sleep(ctx, min(took, callDeadline)); err != nil {
		return newFailure(cloud.Transient, r, "RequestCanceled", err.Error())
	}
	if took > callDeadline {
		return newFailure(cloud.Transient, r, "RequestTimeout", fmt.Sprintf("no answer within %s", callDeadline))
	}
	if err := c.refusalOf(r); err != nil {
		return err
	}
	if c.limited && !c.world.serveCall(c.clk.Now(), r) {
		return newFailure(cloud.Throttled, r, "RequestLimitExceeded", "Request limit exceeded.")
	}
	if c.world.takeThrottle() || c.faultHits(r, number, "throttle", c.faults.throttle) {
		return newFailure(cloud.Throttled, r, "RequestLimitExceeded", "Request limit exceeded.")
	}
	return nil
}

// mutating are the methods whose answer may be lost.
var mutating = []string{"Act", "Scale", "SetAutoscaling", "ApplyChange"}

func (c *conn) answerCall(ctx context.Context, r request, number int, do func(context.Context) error) error {
	if do == nil {
		return nil
	}
	if err := do(ctx); err != nil {
		e := newFailure(cloud.Transient, r, "InternalFailure", err.Error()) // the table's, which is this cloud's memory
		e.Err = err
		return e
	}
	if slices.Contains(mutating, r.method) && c.faultHits(r, number, "lost", c.faults.lost) {
		return newFailure(cloud.Transient, r, "RequestError", "read: connection reset by peer")
	}
	return nil
}

// refusalOf is why the credentials may not make this call; nil when they may.
func (c *conn) refusalOf(r request) *cloud.Error {
	if c.faults.refuse {
		return newFailure(cloud.Refused, r, "InvalidClientTokenId",
			"The security token included in the request is invalid.")
	}
	denied := c.world.deniedCapabilities(c.faults.denied)
	if len(denied) == 0 || r.op == "sts:GetCallerIdentity" { // which no policy can deny
		return nil
	}
	for _, d := range []string{"*", r.op, r.kind, r.region, r.capability} {
		if d != "" && slices.Contains(denied, d) {
			return newFailure(cloud.Denied, r, "AccessDenied", fmt.Sprintf(
				"User: arn:simulated:iam::%s:role/lamplighter is not authorized to perform: %s", c.number, r.op))
		}
	}
	return nil
}

// faultHits draws whether a fault hits the call with that number. Calls are numbered by method from 1 in each process,
// so the same calls in the same order meet the same faults.
func (c *conn) faultHits(r request, number int, fault string, rate float64) bool {
	return rate > 0 && fallsWithin(mixBits(c.key^hashParts(fault, r.method, strconv.Itoa(number))), rate)
}

func newFailure(class cloud.Class, r request, code, message string) *cloud.Error {
	return &cloud.Error{Class: class, Op: r.op, Code: code, Message: message}
}
