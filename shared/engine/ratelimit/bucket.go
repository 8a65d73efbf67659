package ratelimit

import (
	"context"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/foundation/clock"
)

// Bucket limits the rate of this process's calls to a service with a quota: so many calls at once, and so many more per
// second. It is safe for concurrent use. Other processes have buckets of their own, so leave them their share of the
// quota.
type Bucket struct {
	clock   clock.Clock
	limiter *rate.Limiter
}

// NewBucket returns a full bucket of burst calls that is refilled with perSecond calls per second.
func NewBucket(c clock.Clock, perSecond float64, burst int) *Bucket {
	return &Bucket{c, rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// Wait takes a call out of the bucket, and waits until there is one. It returns ctx's error if ctx ends first.
func (b *Bucket) Wait(ctx context.Context) error {
	now := b.clock.Now()
	r := b.limiter.ReserveN(now, 1)
	err := b.clock.Sleep(ctx, r.DelayFrom(now))
	if err != nil {
		r.CancelAt(b.clock.Now())
	}
	return err
}
