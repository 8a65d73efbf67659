package simulated

import (
	"context"
	"time"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// enforced are the limits of an account with the setting limits, in each region, by operation and by the number of
// instances in an operation. AWS documents them.
var enforced = map[string]throttle.Limit{
	"ec2:DescribeInstances":  {PerSecond: 20, Burst: 100},
	"ec2:StopInstances":      {PerSecond: 5, Burst: 50},
	"ec2:StartInstances":     {PerSecond: 2, Burst: 5},
	"ec2:StopInstances#ids":  {PerSecond: 20, Burst: 1000},
	"ec2:StartInstances#ids": {PerSecond: 2, Burst: 1000},
}

// RefusedCalls returns how many calls of this process to the account exceeded its limits. p must come from New.
func RefusedCalls(p cloud.Provider, account string) int {
	w := p.(*provider).world(account)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.refused
}

// ids ends the name of the bucket of the instances of an operation.
const ids = "#ids"

// newLimiter returns the limiter of the calls to accounts with limits. Like a provider's own limiter it stays a little
// below the enforced limits.
func newLimiter(store table.Store, clk clock.Clock) *throttle.Limiter {
	limits := map[string]throttle.Limit{}
	for api, l := range enforced {
		limits[api] = throttle.Limit{PerSecond: l.PerSecond * 0.95, Burst: l.Burst * 0.9}
	}
	return throttle.New(throttle.Options{Clock: clk, Store: store, Limits: limits})
}

// serve takes a call of n instances out of the buckets of the region; false when one of them has not enough. The
// caller does not hold w.mu.
func (w *world) serve(now time.Time, r request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls, instances := w.served(r.region, r.op), w.served(r.region, r.op+ids)
	if calls != nil && calls.TokensAt(now) < 1 || instances != nil && instances.TokensAt(now) < float64(r.ids) {
		w.refused++
		return false
	}
	return (calls == nil || calls.AllowN(now, 1)) && (instances == nil || instances.AllowN(now, r.ids))
}

// served finds the bucket; nil is no limit.
func (w *world) served(region, api string) *rate.Limiter {
	l, ok := enforced[api]
	if !ok {
		return nil
	}
	key := region + "#" + api
	if w.buckets[key] == nil {
		if w.buckets == nil {
			w.buckets = map[string]*rate.Limiter{}
		}
		w.buckets[key] = rate.NewLimiter(rate.Limit(l.PerSecond), int(l.Burst))
	}
	return w.buckets[key]
}

// bucket names a bucket of the account.
func (c *conn) bucket(region, api string) throttle.Key {
	return throttle.Key{Account: c.number, Region: region, API: api}
}

// await waits for the token of a call.
func (c *conn) await(ctx context.Context, r request) error {
	if _, ok := enforced[r.op]; !ok || !c.limited {
		return ctx.Err()
	}
	return c.limiter.Wait(ctx, c.bucket(r.region, r.op), 1)
}

// learn tells the limiter how a call ended.
func (c *conn) learn(r request, err error) {
	for _, api := range []string{r.op, r.op + ids} {
		switch _, ok := enforced[api]; {
		case !ok || !c.limited:
		case cloud.ClassOf(err) == cloud.Throttled && err != nil:
			c.limiter.Throttled(c.bucket(r.region, api), 0)
		default:
			c.limiter.Answered(c.bucket(r.region, api))
		}
	}
}

// Admit promises that of n instances so many may be acted on now as the account's buckets hold.
//
//nolint:revive // as cloud.Admitter has it
func (c *conn) Admit(ctx context.Context, verb cloud.Verb, kind, region string, n int) (now int, later time.Duration) {
	api := c.counted(verb, kind)
	if api == "" {
		return n, 0
	}
	now, later = c.limiter.Take(ctx, c.bucket(region, api), n)
	c.admitted[region+"#"+api] += now
	return now, later
}

// counted names the bucket of the instances of an act; "" is no limit.
func (c *conn) counted(verb cloud.Verb, kind string) string {
	k, ok := kindOf(kind)
	if !ok || !c.limited {
		return ""
	}
	api := kinds[k].permissionFor(verb) + ids
	if _, ok := enforced[api]; !ok {
		return ""
	}
	return api
}

// pay waits for the tokens of instances that were not admitted.
func (c *conn) pay(ctx context.Context, verb cloud.Verb, r request) error {
	api := c.counted(verb, r.kind)
	if api == "" {
		return nil
	}
	key := r.region + "#" + api
	paid := min(r.ids, c.admitted[key])
	if c.admitted[key] -= paid; paid == r.ids {
		return nil
	}
	if err := c.limiter.Wait(ctx, c.bucket(r.region, api), r.ids-paid); err != nil {
		return newFailure(cloud.Transient, r, "RequestCanceled", err.Error())
	}
	return nil
}
