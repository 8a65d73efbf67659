package table

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
)

// op is one operation on its way into a commit. Its plan checks and computes without writing, so that a refused operation
// leaves nothing in the commit that it shares with others.
type op struct {
	plan func(*ledger) ([]effect, error)
	err  error
	done chan struct{}
}

// commitPlanned has plan carried out, and tells how that went when it is on disk. Of the callers that wait, one commits for all: a
// caller that is alone does its own work, without waking another goroutine, and callers that come meanwhile share the
// next commit.
func (e *Embedded) commitPlanned(ctx context.Context, plan func(*ledger) ([]effect, error)) error {
	if err := e.beginOperation(ctx); err != nil {
		return err
	}
	defer e.endOperation()
	o := &op{plan: plan, done: make(chan struct{})}
	e.queue.add(o)
	select {
	case <-o.done:
	case e.lead <- struct{}{}:
		defer func() { <-e.lead }()
		e.commitUntil(o)
	case <-ctx.Done():
		if e.queue.withdraw(o) {
			return ctx.Err()
		}
		<-o.done
	}
	return o.err
}

// queue is the operations that wait. Taking one and withdrawing it exclude each other, so a caller whose ctx ends knows
// what happened; as only callers that wait are in it, it is as long as they are many.
type queue struct {
	mu  sync.Mutex
	ops []*op
}

func (q *queue) add(o *op) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops = append(q.ops, o)
}

// withdraw takes o back; false when it has been taken up.
func (q *queue) withdraw(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.ops, o)
	if i < 0 {
		return false
	}
	q.ops = slices.Delete(q.ops, i, i+1)
	return true
}

// maxGroup bounds the operations of one commit.
const maxGroup = 512

// take moves what waits into group, the oldest first.
func (q *queue) take(group []*op) []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.ops), maxGroup)
	group = append(group, q.ops[:n]...)
	q.ops = slices.Delete(q.ops, 0, n)
	return group
}

// commitUntil commits groups until o is done. After a group of many it yields first: the callers that it has just woken
// can hand in their next writes, which makes groups bigger and syncs fewer.
func (e *Embedded) commitUntil(o *op) {
	for !o.ended() {
		if len(e.group) > 1 {
			runtime.Gosched()
		}
		e.group = e.queue.take(e.group[:0])
		e.commit(e.group)
		clear(e.group) // how many they were is all that is kept
	}
}

// ended reports whether the operation is done.
func (o *op) ended() bool {
	select {
	case <-o.done:
		return true
	default:
		return false
	}
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
	defer recoverEnginePanic(e.path, &err)
	tx, err := e.db.Begin(true)
	if err != nil {
		return fmt.Errorf("write store %s: %w", e.path, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit this does nothing
	l, wrote := newLedger(tx, e.unixNow()), false
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
	var effects []effect
	if effects, o.err = o.plan(l); o.err != nil {
		effects = nil
	}
	return len(effects), l.applyEffects(effects)
}
