package oauthlogin

import (
	"context"
	"sync"
	"time"
)

// How long what a provider publishes is believed, how long an old answer will do while it cannot be asked, and how often
// it is asked at most: after a failure, and for a key that it did not publish the last time.
const (
	freshFor  = time.Hour
	usableFor = 24 * time.Hour
	relief    = 5 * time.Second
	rest      = 30 * time.Second
)

// cached is one thing that a provider publishes. The zero value is ready. Who comes while it is being read waits for that.
type cached[T any] struct {
	mu    sync.Mutex
	v     T
	got   time.Time // when it was read; zero: never
	asked time.Time
	err   error // of the last asking
}

// get returns the thing, and reads it when it is not there or too old.
func (k *cached[T]) get(ctx context.Context, now time.Time, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.got.IsZero() && now.Sub(k.got) < freshFor {
		return k.v, nil
	}
	if k.err == nil || now.Sub(k.asked) >= relief {
		k.read(ctx, now, read)
	}
	if k.err != nil && !k.got.IsZero() && now.Sub(k.got) < usableFor {
		return k.v, nil
	}
	return k.v, k.err
}

// renew reads the thing again though it is fresh, unless that was done a moment ago. What cannot be read stays as it was.
func (k *cached[T]) renew(ctx context.Context, now time.Time, read func(context.Context) (T, error)) T {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.asked) >= rest {
		k.read(ctx, now, read)
	}
	return k.v
}

// read asks, whether or not the one for whom it is done waits for it: others do.
func (k *cached[T]) read(ctx context.Context, now time.Time, read func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	v, err := read(ctx)
	if k.asked, k.err = now, err; err == nil {
		k.v, k.got = v, now
	}
}
