package local

import (
	"context"
	"encoding/json"
	"sync"

	"lamplighter.dev/shared/engine/workflow"
)

// turns counts the running turns of loops and tasks of state machines, so that a process can wait until there are
// none before it is replaced. After a call of drain no turn begins.
type turns struct {
	mu       sync.Mutex
	under    int
	draining bool
	closed   bool
	idle     chan struct{} // closed once draining finds none under way
}

// turn is a running turn of a loop, or a running task. It is not counted while it waits for a cloud that this process
// cannot reach.
type turn struct {
	all   *turns
	waits int // needs all.mu
}

// turnKey is the key of the context value that holds the *turn.
type turnKey struct{}

func newTurns() *turns { return &turns{idle: make(chan struct{})} }

// begin begins a turn, and returns its context and the function that ends it. After a call of drain it waits for the
// end of ctx, and returns its cause.
func (t *turns) begin(ctx context.Context) (inTurn context.Context, end func(), err error) {
	t.mu.Lock()
	draining := t.draining
	if !draining {
		t.under++
	}
	t.mu.Unlock()
	if draining {
		<-ctx.Done()
		return nil, nil, context.Cause(ctx)
	}
	one := &turn{all: t}
	return context.WithValue(ctx, turnKey{}, one), func() { t.count(-1) }, nil
}

// task returns h with each call counted as a turn.
func (t *turns) task(h workflow.Handler) workflow.Handler {
	return func(ctx context.Context, in json.RawMessage) (any, error) {
		ctx, end, err := t.begin(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		return h(ctx, in)
	}
}

// count adds n to the number of running turns.
func (t *turns) count(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.under += n
	t.closeWhenIdle()
}

// closeWhenIdle closes idle if turns is draining and no turn runs. The caller holds mu.
func (t *turns) closeWhenIdle() {
	if t.draining && t.under == 0 && !t.closed {
		t.closed = true
		close(t.idle)
	}
}

// drain stops new turns from beginning, and returns when none runs. If ctx ends first it returns its cause.
func (t *turns) drain(ctx context.Context) error {
	t.mu.Lock()
	t.draining = true
	t.closeWhenIdle()
	t.mu.Unlock()
	select {
	case <-t.idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// turnOf returns the turn of ctx, or nil if ctx belongs to a client's request.
func turnOf(ctx context.Context) *turn {
	one, _ := ctx.Value(turnKey{}).(*turn)
	return one
}

// pause stops counting the turn until resume has been called as often as pause.
func (t *turn) pause() { t.wait(1) }

func (t *turn) resume() { t.wait(-1) }

func (t *turn) wait(n int) {
	t.all.mu.Lock()
	defer t.all.mu.Unlock()
	before := t.waits > 0
	t.waits += n
	if after := t.waits > 0; after && !before {
		t.all.under--
	} else if before && !after {
		t.all.under++
	}
	t.all.closeWhenIdle()
}
