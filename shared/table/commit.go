package table

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
)

// op is one operation on its way through the committing goroutine. Its plan checks and computes without writing, so that
// a refused operation leaves nothing in the commit that it shares with others.
type op struct {
	plan  func(*ledger) ([]effect, error)
	state atomic.Int32
	err   error
	done  chan struct{}
}

// The states of an op. Taking it and giving it up exclude each other, so a caller whose ctx ends knows what happened.
const (
	waiting int32 = iota
	taken
	abandoned
)

// do has the committing goroutine carry plan out, and tells how that went when it is on disk.
func (e *Embedded) do(ctx context.Context, plan func(*ledger) ([]effect, error)) error {
	if err := e.enter(ctx); err != nil {
		return err
	}
	defer e.leave()
	o := &op{plan: plan, done: make(chan struct{})}
	select {
	case e.queue <- o:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		if o.state.CompareAndSwap(waiting, abandoned) {
			return ctx.Err()
		}
		<-o.done
	}
	return o.err
}

// maxGroup bounds the operations of one commit.
const maxGroup = 512

// commitAll is the committing goroutine: it commits what waits, together, until Close.
func (e *Embedded) commitAll() {
	group := make([]*op, 0, maxGroup)
	for o := range e.queue {
		group = e.gather(append(group[:0], o))
		e.commit(group)
		if e.written() {
			e.giveBack()
		}
	}
}

// gather takes what waits behind the first operation. Yielding first lets callers that the last commit has just woken
// hand in their next writes, which makes groups bigger and syncs fewer.
func (e *Embedded) gather(group []*op) []*op {
	runtime.Gosched()
	for len(group) < maxGroup {
		select {
		case o, ok := <-e.queue:
			if !ok {
				return group
			}
			group = append(group, o)
		default:
			return group
		}
	}
	return group
}

// commit carries a group out in one transaction of the file. When the file itself fails, each is tried alone, so that
// one that cannot be written does not fail its neighbours.
func (e *Embedded) commit(group []*op) {
	if err := e.update(group); err != nil && len(group) > 1 {
		for _, o := range group {
			if err := e.update([]*op{o}); err != nil {
				o.err = err
			}
		}
	} else if err != nil {
		group[0].err = err
	}
	for _, o := range group {
		close(o.done)
	}
}

// update runs the group's plans and commits their effects. The error is one of the file's, not of a plan.
func (e *Embedded) update(group []*op) (err error) {
	defer guard(e.path, &err)
	tx, err := e.db.Begin(true)
	if err != nil {
		return fmt.Errorf("write store %s: %w", e.path, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	l, wrote := newLedger(tx, e.now()), false
	for _, o := range group {
		n, err := o.run(l)
		if err != nil {
			return fmt.Errorf("write store %s: %w", e.path, err)
		}
		wrote = wrote || n > 0
	}
	if !wrote {
		return nil
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write store %s: %w", e.path, err)
	}
	return nil
}

// run plans one operation and writes its effects. A refusal stays with the operation.
func (o *op) run(l *ledger) (int, error) {
	if !o.state.CompareAndSwap(waiting, taken) && o.state.Load() == abandoned {
		return 0, nil
	}
	var effects []effect
	if effects, o.err = o.plan(l); o.err != nil {
		effects = nil
	}
	return len(effects), l.apply(effects)
}
