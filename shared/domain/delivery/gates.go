package delivery

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// How much goes on side by side: in all, of one organization, so that its slow receivers keep nobody else waiting, and to one receiver.
const (
	atOnce      = 128
	perOrg      = 32
	perReceiver = 4
)

// gates hold tries back until there is room for them.
type gates struct {
	all *semaphore.Weighted

	mu   sync.Mutex
	some map[any]*gate
}

// gate is that of one organization, or of one receiver; it goes when nobody stands before it or is behind it.
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

// enter waits until a receiver may be sent to, and returns what must be called after that. The widest gate is the last: whoever waits at
// another takes no place there.
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

// gate returns the gate of a key, and what must be called when it is needed no more.
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
