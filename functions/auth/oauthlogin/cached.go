package oauthlogin

import (
	"context"
	"sync"
	"time"
)

// The times of the cache: how long data is fresh, how long old data is used while the provider cannot be reached, and
// the minimum time between requests after a failure, and for a key that was not in the last response.
const (
	freshFor  = time.Hour
	usableFor = 24 * time.Hour
	relief    = 5 * time.Second
	rest      = 30 * time.Second
)

// cached is data that a provider publishes. The zero value is ready for use. Concurrent callers wait for one request.
type cached[T any] struct {
	mu    sync.Mutex
	v     T
	got   time.Time // time of the last successful read; zero means never
	asked time.Time
	err   error // of the last request
}

// get returns the data. It reads it if there is none or if it is too old.
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

// renew reads the data again even if it is fresh, unless it was read recently. If reading fails, the old data stays.
func (k *cached[T]) renew(ctx context.Context, now time.Time, read func(context.Context) (T, error)) T {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.asked) >= rest {
		k.read(ctx, now, read)
	}
	return k.v
}

// read makes the request even if its caller stops waiting, because other callers may wait too.
func (k *cached[T]) read(ctx context.Context, now time.Time, read func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	v, err := read(ctx)
	if k.asked, k.err = now, err; err == nil {
		k.v, k.got = v, now
	}
}
