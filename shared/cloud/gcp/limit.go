package gcp

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/foundation/clock"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit struct {
	PerSecond float64
	Burst     int
}

// defaultLimits stay below what Google publishes for a project: 1,500 calls a minute of Compute Engine, 180 of Cloud SQL Admin,
// 3,000 of GKE and of Cloud Run's reads. The customer's own tools use the same quotas.
var defaultLimits = map[string]Limit{
	"compute":  {PerSecond: 20, Burst: 100},
	"sqladmin": {PerSecond: 2.5, Burst: 30},
	"":         {PerSecond: 8, Burst: 20},
}

// manyBuckets is when full buckets, which are as good as none, are thrown away.
const manyBuckets = 4096

type bucketKey struct{ project, api string }

// limiter paces the attempts per project and API, across all connections.
type limiter struct {
	clock   clock.Clock
	limits  map[string]Limit
	mu      sync.Mutex
	buckets map[bucketKey]*rate.Limiter
}

func newLimiter(c clock.Clock, limits map[string]Limit) *limiter {
	return &limiter{clock: c, limits: limits, buckets: map[bucketKey]*rate.Limiter{}}
}

// wait takes a token, once there is one, or gives it back when ctx ends before.
func (l *limiter) wait(ctx context.Context, k bucketKey) error {
	now := l.clock.Now()
	r := l.bucket(k, now).ReserveN(now, 1)
	if err := l.clock.Sleep(ctx, r.DelayFrom(now)); err != nil {
		r.CancelAt(l.clock.Now())
		return err
	}
	return nil
}

func (l *limiter) bucket(k bucketKey, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.buckets[k]; b != nil {
		return b
	}
	if len(l.buckets) >= manyBuckets {
		l.forgetFull(now)
	}
	limit, ok := l.limits[k.api]
	if !ok {
		limit = l.limits[""]
	}
	b := rate.NewLimiter(rate.Inf, 1)
	if limit.PerSecond > 0 {
		b = rate.NewLimiter(rate.Limit(limit.PerSecond), max(limit.Burst, 1))
	}
	l.buckets[k] = b
	return b
}

func (l *limiter) forgetFull(now time.Time) {
	for k, b := range l.buckets {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(l.buckets, k)
		}
	}
}
