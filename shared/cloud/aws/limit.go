package aws

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/endpoint"
	"lamplighter.dev/shared/cloud/throttle"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit = throttle.Limit

// defaultLimits stay below the limits that AWS publishes for EC2, by account, region and API (describes: a bucket of
// 100, 20 a second more; stops: 50 calls, 5 a second, and 1,000 instances, 20 a second; starts: 5 calls, 2 a second,
// and 1,000 instances, 2 a second), and for ECS. For services without published limits they stay below the limits
// known by experience. The customer's own tools use the same buckets; the limiter then learns from the requests that
// AWS refuses.
var defaultLimits = map[string]Limit{
	"ec2":                {PerSecond: 19, Burst: 60},
	"ec2:StopInstances":  {PerSecond: 4.5, Burst: 30},
	"ec2:StartInstances": {PerSecond: 1.9, Burst: 4},
	resource.StoppedIDs:  {PerSecond: 19, Burst: 900},
	resource.StartedIDs:  {PerSecond: 1.9, Burst: 900},
	"ecs":                {PerSecond: 15, Burst: 30},
	"s3":                 {PerSecond: 100, Burst: 200},
	"sqs":                {PerSecond: 50, Burst: 100},
	"ce":                 {PerSecond: 4, Burst: 5},
	"":                   {PerSecond: 8, Burst: 20},
}

// pace is a limiter with its limits.
type pace struct {
	*throttle.Limiter
	limits map[string]Limit
}

func newPace(o Options) pace {
	return pace{throttle.New(throttle.Options{Clock: o.Clock, Store: o.Store, Limits: o.Limits, Log: o.Log}), o.Limits}
}

// newEndpointPace returns a pace for accounts with an EndpointURL. It is not shared with other processes.
func newEndpointPace(o Options) pace {
	return pace{endpoint.NewLimiter(o.Clock, o.Log), endpoint.Limits()}
}

// paceOf returns the limiter of an account.
func (p *Provider) paceOf(a cloud.Account) pace {
	if a.EndpointURL != "" {
		return p.endpoints
	}
	return p.pace
}

// counts reports whether there is a limit with exactly this name.
func (p pace) counts(api string) bool {
	_, ok := p.limits[api]
	return ok
}

// addLimiter makes every attempt of every call of the account wait for its token, and reports the answers to the
// limiter. The SDK's own retry budget is shared by the whole process: throttling in one region would cause failures in
// all regions.
func (p pace) addLimiter(account string) func(*middleware.Stack) error {
	wait := func(ctx context.Context, in middleware.FinalizeInput,
		next middleware.FinalizeHandler,
	) (out middleware.FinalizeOutput, md middleware.Metadata, err error) {
		api := resource.PermissionPrefix(awsmiddleware.GetServiceID(ctx)) + ":" + awsmiddleware.GetOperationName(ctx)
		k := throttle.Key{Account: account, Region: awsmiddleware.GetRegion(ctx), API: api}
		if err := p.Wait(ctx, k, 1); err != nil {
			return out, md, &smithy.CanceledError{Err: err}
		}
		out, md, err = next.HandleFinalize(ctx, in)
		p.learn(k, err)
		return out, md, err
	}
	return func(s *middleware.Stack) error {
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Limit", wait), "Retry", middleware.After)
	}
}

// learn reports the result of an attempt to the limiter. AWS does not say which of its two buckets was empty, that of
// the calls or that of the instances, so both are slowed down. A denied call counts as answered.
func (p pace) learn(k throttle.Key, err error) {
	keys := []throttle.Key{k}
	if ids := k.API + "#ids"; p.counts(ids) {
		keys = append(keys, throttle.Key{Account: k.Account, Region: k.Region, API: ids})
	}
	for _, k := range keys {
		switch {
		case cloud.ClassOf(resource.ClassifyError(err)) == cloud.Throttled:
			p.Throttled(k, retryAfter(err))
		case err == nil || resource.CodeOf(err) != "":
			p.Answered(k)
		}
	}
}

// retryAfter returns AWS's Retry-After; 0 when the answer has none.
func retryAfter(err error) time.Duration {
	e, ok := errors.AsType[*smithyhttp.ResponseError](err)
	if !ok || e.Response == nil || e.Response.Response == nil {
		return 0
	}
	return seconds(e.Response.Header)
}

func seconds(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(min(n, 3600)) * time.Second
}

// admission is the key of the resources that Admit has admitted and that are not acted on yet.
type admission struct{ region, api string }

// Admit takes tokens for up to n resources. It returns how many may be acted on now, and the time to wait before the
// caller asks for the rest. A resource that is acted on without a token waits for it in Act.
func (c *conn) Admit(ctx context.Context, v cloud.Verb, kind, region string, n int) (int, time.Duration) {
	api := c.counted(v, kind, region)
	if api == "" {
		return n, 0
	}
	got, wait := c.pace.Take(ctx, throttle.Key{Account: accountOf(c.account), Region: region, API: api}, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.admitted[admission{region, api}] += got
	return got, wait
}

// counted returns the name of the limit that counts the resources of an act; "" if AWS counts only the calls.
func (c *conn) counted(v cloud.Verb, kind, region string) string {
	o, err := c.operationsOf(kind, region)
	if err != nil {
		return ""
	}
	if api := o.Counted(v); c.pace.counts(api) {
		return api
	}
	return ""
}

// pay waits for the tokens of n resources, less the tokens that Admit has already taken.
func (c *conn) pay(ctx context.Context, region, api string, n int) error {
	if api == "" {
		return nil
	}
	c.mu.Lock()
	paid := min(n, c.admitted[admission{region, api}])
	c.admitted[admission{region, api}] -= paid
	c.mu.Unlock()
	if paid == n {
		return nil
	}
	return c.pace.Wait(ctx, throttle.Key{Account: accountOf(c.account), Region: region, API: api}, n-paid)
}

// accountOf returns the account ID that the limits apply to: two organizations may connect the same account.
func accountOf(a cloud.Account) string {
	if a.NativeID != "" {
		return a.NativeID
	}
	return a.ID
}
