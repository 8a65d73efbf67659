// Package throttle limits the rate of calls to a provider's API whose limit belongs to the account and not to a
// process. It has a token bucket for each account, region and API. Buckets slow down when the provider throttles, and
// processes share them through the table. It exists so that many processes stay within one limit, and so that each
// provider does not build this again.
package throttle

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Limit is the limit of an API for one account in one region: Burst at once, and PerSecond more each second. It counts
// calls, or resources where an API counts resources. A PerSecond of 0 is no limit.
type Limit struct{ PerSecond, Burst float64 }

// Key names a bucket. API is the name of a call ("ec2:StopInstances"), of a resource that calls use up
// ("ec2:StopInstances#ids"), or of a service ("rds").
type Key struct{ Account, Region, API string }

// Options are the dependencies and settings of a Limiter.
type Options struct {
	Clock clock.Clock
	// Store is shared with the other processes that call the same accounts; nil is for a process that is alone. Who
	// calls must be allowed Partition.
	Store table.Store
	// Limits by API. A call "ec2:StopInstances" has the limit of that name, else shares that of "ec2" with the other
	// calls of the service, else that of "".
	Limits map[string]Limit
	// Log receives a message when the store does not answer; nil logs nothing.
	Log *slog.Logger
}

// Limiter holds the buckets of one process. It is safe for use by many goroutines.
type Limiter struct {
	o       Options
	mu      sync.Mutex
	buckets map[Key]*bucket
}

// manyBuckets is the number of buckets from which idle ones are removed.
const manyBuckets = 4096

// New makes a limiter whose buckets are full.
func New(o Options) *Limiter {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Limiter{o: o, buckets: map[Key]*bucket{}}
}

// Wait takes n tokens and waits until they count. If ctx ends first, it returns ctx's error, and the tokens are lost.
func (l *Limiter) Wait(ctx context.Context, k Key, n int) error {
	b := l.bucket(k)
	if b == nil {
		return ctx.Err()
	}
	at, err := l.book(ctx, b, n)
	if err != nil {
		return err
	}
	return l.o.Clock.Sleep(ctx, at.Sub(l.o.Clock.Now()))
}

// Take takes as many of n tokens as count now, without waiting, and tells how long it is until it is worth to ask for
// the rest.
func (l *Limiter) Take(ctx context.Context, k Key, n int) (got int, wait time.Duration) {
	b := l.bucket(k)
	if b == nil {
		return n, 0
	}
	got = l.takeNow(ctx, b, n)
	if got == n {
		return got, 0
	}
	return got, b.rest(l.o.Clock.Now(), n-got)
}

// Throttled records that the provider refused a call because of its rate limit. It halves the bucket's rate, and no
// call is made for the pause after, which the provider asked for; 0 if it named none. Refusals within one second count
// once, because their calls ran in parallel. A pause is cut to longestPause. A missing permission is not throttling;
// do not report it here.
func (l *Limiter) Throttled(k Key, after time.Duration) {
	if b := l.bucket(k); b != nil {
		b.slow(l.o.Clock.Now(), min(after, longestPause))
	}
}

// Pause has nothing sent for after, at most longestPause, because the provider said that nothing is left until then:
// no call was refused, and the rate stays.
func (l *Limiter) Pause(k Key, after time.Duration) {
	if b := l.bucket(k); b != nil {
		b.pause(l.o.Clock.Now().Add(min(after, longestPause)))
	}
}

// longestPause bounds the pause that an answer may ask for, because the answer may come from an address that a user
// entered.
const longestPause = time.Minute

// Answered tells that the provider took a call: a bucket that was slowed down gets a little faster, up to its limit.
func (l *Limiter) Answered(k Key) {
	if b := l.bucket(k); b != nil {
		b.recover(l.o.Clock.Now())
	}
}

// bucket finds the bucket that the key leads to; nil is no limit.
func (l *Limiter) bucket(k Key) *bucket {
	var limit Limit
	if k.API, limit = l.limitOf(k.API); limit.PerSecond <= 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.o.Clock.Now()
	b := l.buckets[k]
	if b == nil {
		if len(l.buckets) >= manyBuckets {
			l.forgetIdle(now)
		}
		b = newBucket(k, limit, now)
		l.buckets[k] = b
	}
	b.used = now
	return b
}

// limitOf returns the limit for an API and the name that has it: the API itself, or its service.
func (l *Limiter) limitOf(api string) (string, Limit) {
	if limit, ok := l.o.Limits[api]; ok {
		return api, limit
	}
	service, _, _ := strings.Cut(api, ":")
	if limit, ok := l.o.Limits[service]; ok {
		return service, limit
	}
	return service, l.o.Limits[""]
}

// idle is the time after which an unused bucket is equal to a new one.
const idle = 5 * time.Minute

func (l *Limiter) forgetIdle(now time.Time) {
	for k, b := range l.buckets {
		if now.Sub(b.used) > idle {
			delete(l.buckets, k)
		}
	}
}
