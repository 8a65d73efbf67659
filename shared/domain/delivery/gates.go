package delivery

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// The limits of concurrent tries: in total, per organization, so that its slow receivers do not block other
// organizations, and per receiver.
const (
	atOnce      = 128
	perOrg      = 32
	perReceiver = 4
)

// gates limit concurrent tries.
type gates struct {
	all *semaphore.Weighted

	mu   sync.Mutex
	some map[any]*gate
}

// gate is the semaphore of one organization or one receiver. It is removed when it has no users.
type gate struct {
	*semaphore.Weighted
	users int
}

func newGates() *gates {
	return &gates{all: semaphore.NewWeighted(atOnce), some: map[any]*gate{}}
}

// receiverKey names a receiver.
type receiverKey struct {
	org string
	Target
}

// enter waits until the receiver may be tried and returns the function that releases its places. It acquires the
// total limit last, so that a try that waits for its receiver or organization does not take a place there.
func (g *gates) enter(ctx context.Context, k receiverKey) (leave func(), err error) {
	var undo []func()
	leave = func() {
		for _, u := range undo {
			u()
		}
	}
	for _, one := range []struct {
		key  any
		most int64
	}{{k, perReceiver}, {k.org, perOrg}} {
		w, drop := g.gate(one.key, one.most)
		if err = w.Acquire(ctx, 1); err != nil {
			drop()
			leave()
			return nil, err
		}
		undo = append(undo, func() { w.Release(1); drop() })
	}
	if err = g.all.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	undo = append(undo, func() { g.all.Release(1) })
	return leave, nil
}

// gate returns the gate of a key and the function that releases it.
func (g *gates) gate(key any, most int64) (w *gate, drop func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w = g.some[key]
	if w == nil {
		w = &gate{Weighted: semaphore.NewWeighted(most)}
		g.some[key] = w
	}
	w.users++
	return w, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if w.users--; w.users == 0 {
			delete(g.some, key)
		}
	}
}
