package ratelimit

import (
	"context"

	"golang.org/x/time/rate"

	"lamplighter.dev/shared/foundation/clock"
)

// Bucket paces what this process asks of a service that has a quota: so many calls at once, and so many more each second. It is
// safe for use by many goroutines. Other processes have buckets of their own: leave them their part of the quota.
type Bucket struct {
	clock   clock.Clock
	limiter *rate.Limiter
}

// NewBucket makes a full bucket of burst calls, to which perSecond calls come back.
func NewBucket(c clock.Clock, perSecond float64, burst int) *Bucket {
	return &Bucket{c, rate.NewLimiter(rate.Limit(perSecond), burst)}
}

// Wait takes a call out of the bucket, and waits until there is one. It returns ctx's error when that ends first.
func (b *Bucket) Wait(ctx context.Context) error {
	now := b.clock.Now()
	r := b.limiter.ReserveN(now, 1)
	err := b.clock.Sleep(ctx, r.DelayFrom(now))
	if err != nil {
		r.CancelAt(b.clock.Now())
	}
	return err
}
