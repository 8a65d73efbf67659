package workflow

import (
	"context"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// Wait waits until an execution no longer runs in this process, and describes it. It takes one round trip. The
// execution is still Running if another process runs it, or if this engine was closed.
func (e *Embedded) Wait(ctx context.Context, machine, name string) (Execution, error) {
	if err := e.await(ctx, func(r ref) bool { return r == ref{machine, name} }); err != nil {
		return Execution{}, fault.Wrap("wait for "+ref{machine, name}.String(), err)
	}
	return e.Describe(ctx, machine, name)
}

// Idle waits until no execution runs in this process, except those of the machines `except`.
func (e *Embedded) Idle(ctx context.Context, except ...string) error {
	err := e.await(ctx, func(r ref) bool { return !slices.Contains(except, r.machine) })
	return fault.Wrap("wait for the executions under way", err)
}

// await waits until no running execution matches.
func (e *Embedded) await(ctx context.Context, which func(ref) bool) error {
	for {
		done := e.oneUnderWay(which)
		if done == nil {
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// oneUnderWay returns a channel that is closed when a running execution that matches has ended, or nil if there is
// none.
func (e *Embedded) oneUnderWay(which func(ref) bool) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	for r, under := range e.running {
		if which(r) {
			return under.done
		}
	}
	return nil
}
