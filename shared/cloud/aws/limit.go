package aws

import (
	"context"
	"strings"
	"sync"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"lamplighter.dev/shared/foundation/clock"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit struct {
	PerSecond float64
	Burst     float64
}

// defaultLimits stay below what AWS publishes for EC2 (describe: bucket of 100, 20 a second) and ECS, and below what is
// known by experience where it publishes nothing. The customer's own tools use the same buckets.
var defaultLimits = map[string]Limit{
	"ec2": {PerSecond: 15, Burst: 50},
	"ecs": {PerSecond: 15, Burst: 30},
	"s3":  {PerSecond: 100, Burst: 200},
	"sqs": {PerSecond: 50, Burst: 100},
	"":    {PerSecond: 8, Burst: 20},
}

// manyBuckets is when full buckets, which are as good as none, are thrown away.
const manyBuckets = 4096

type bucketKey struct{ account, region, service string }

type bucket struct {
	limit  Limit
	tokens float64
	at     time.Time
}

// limiter paces the attempts per account, region and service, because the SDK's own retry budget is shared by
// everything that a process does and turns throttling in one region into failures in all.
type limiter struct {
	clock   clock.Clock
	limits  map[string]Limit
	mu      sync.Mutex
	buckets map[bucketKey]*bucket
}

// wait takes a token, once there is one, or gives up with ctx.
func (l *limiter) wait(ctx context.Context, k bucketKey) error {
	if err := l.clock.Sleep(ctx, l.take(k, 1)); err != nil {
		l.take(k, -1)
		return err
	}
	return nil
}

// take takes n tokens and tells how long it is until they are there.
func (l *limiter) take(k bucketKey, n float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	b := l.bucket(k, now)
	b.fill(now)
	b.tokens -= n
	if b.tokens >= 0 {
		return 0
	}
	return time.Duration(-b.tokens / b.limit.PerSecond * float64(time.Second))
}

func (l *limiter) bucket(k bucketKey, now time.Time) *bucket {
	if b := l.buckets[k]; b != nil {
		return b
	}
	if len(l.buckets) >= manyBuckets {
		l.forgetFull(now)
	}
	limit, ok := l.limits[k.service]
	if !ok {
		limit = l.limits[""]
	}
	if limit.PerSecond <= 0 {
		limit = Limit{PerSecond: 1e6, Burst: 1e6}
	}
	b := &bucket{limit: limit, tokens: limit.Burst, at: now}
	l.buckets[k] = b
	return b
}

func (l *limiter) forgetFull(now time.Time) {
	for k, b := range l.buckets {
		if b.fill(now); b.tokens >= b.limit.Burst {
			delete(l.buckets, k)
		}
	}
}

func (b *bucket) fill(now time.Time) {
	b.tokens = min(b.limit.Burst, b.tokens+now.Sub(b.at).Seconds()*b.limit.PerSecond)
	b.at = now
}

// addLimiter makes every attempt of every call of the account wait for its token.
func (l *limiter) addLimiter(account string) func(*middleware.Stack) error {
	wait := func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (out middleware.FinalizeOutput, md middleware.Metadata, err error) {
		k := bucketKey{account, awsmiddleware.GetRegion(ctx), permissionPrefix(awsmiddleware.GetServiceID(ctx))}
		if err := l.wait(ctx, k); err != nil {
			return out, md, &smithy.CanceledError{Err: err}
		}
		return next.HandleFinalize(ctx, in)
	}
	return func(s *middleware.Stack) error {
		return s.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Limit", wait), "Retry", middleware.After)
	}
}

// prefixes are the names of services in permissions that do not follow from their own.
var prefixes = map[string]string{"Elastic Load Balancing v2": "elasticloadbalancing", "Elastic Load Balancing": "elasticloadbalancing", "Resource Groups Tagging API": "tag"}

// permissionPrefix returns the service's name in permissions: "Application Auto Scaling" is application-autoscaling.
func permissionPrefix(serviceID string) string {
	if p, ok := prefixes[serviceID]; ok {
		return p
	}
	s := strings.ReplaceAll(strings.ToLower(serviceID), "auto scaling", "autoscaling")
	return strings.ReplaceAll(s, " ", "-")
}
