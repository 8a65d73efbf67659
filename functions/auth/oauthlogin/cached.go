package oauthlogin

import (
	"context"
	"sync"
	"time"
)

// These constants set how long published data are fresh, how long old data may be used while the provider cannot be
// reached, and the minimum intervals of requests: after a failure, and for a key that was not published the last
// time.
const (
	freshFor  = time.Hour
	usableFor = 24 * time.Hour
	relief    = 5 * time.Second
	rest      = 30 * time.Second
)

// cached is one published document of a provider. Its zero value is ready. Concurrent callers wait for the same read.
type cached[T any] struct {
	mu    sync.Mutex
	v     T
	got   time.Time // when it was read; zero: never
	asked time.Time
	err   error // of the last asking
}

// get returns the document, and reads it if it is missing or too old.
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

// renew reads the document again although it is fresh, unless that was done a moment ago. If the read fails, the old
// document stays.
func (k *cached[T]) renew(ctx context.Context, now time.Time, read func(context.Context) (T, error)) T {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.asked) >= rest {
		k.read(ctx, now, read)
	}
	return k.v
}

// read requests the document. It continues if the caller's context ends, because other callers wait for it.
func (k *cached[T]) read(ctx context.Context, now time.Time, read func(context.Context) (T, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	v, err := read(ctx)
	if k.asked, k.err = now, err; err == nil {
		k.v, k.got = v, now
	}
}
