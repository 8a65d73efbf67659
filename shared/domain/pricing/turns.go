package pricing

import (
	"context"
	"sync"

	"lamplighter.dev/shared/api/platform"
)

// updateTurns lets one update of an organization's costs run at a time in a process. Of two that run at once, one
// computes everything for nothing: the imports and discoveries of several accounts end at the same time when they are
// first connected. Updates of other processes are found by the condition on the head.
type updateTurns struct {
	mu      sync.Mutex
	running map[string]chan struct{} // by organization; closed when the update ends
}

func newUpdateTurns(*platform.Platform) *updateTurns {
	return &updateTurns{running: map[string]chan struct{}{}}
}

// take waits until no update of the organization runs, and returns the function that ends the caller's. It returns the
// cause of ctx if ctx ends first.
func (t *updateTurns) take(ctx context.Context, org string) (end func(), err error) {
	for {
		busy, end := t.tryTake(org)
		if end != nil {
			return end, nil
		}
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryTake returns the function that ends the caller's update, or the channel of the running one.
func (t *updateTurns) tryTake(org string) (busy chan struct{}, end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if busy, ok := t.running[org]; ok {
		return busy, nil
	}
	done := make(chan struct{})
	t.running[org] = done
	return nil, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.running, org)
		close(done)
	}
}
