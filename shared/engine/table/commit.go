package table

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// op is an operation that waits for a commit. Its plan checks and computes without writing, so that a refused operation
// has no effect on the commit that it shares with others.
type op struct {
	plan func(*ledger) ([]effect, error)
	err  error
	done chan struct{}
}

// commitPlanned carries out plan, and returns its result when it is on disk. One of the waiting callers commits for all
// of them. A single caller does its own work without waking another goroutine. Callers that arrive in the meantime
// share the next commit.
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

// queue holds the waiting operations. Taking an operation and withdrawing it exclude each other, so a caller whose ctx
// ends knows whether its operation was carried out. The queue has at most one operation of each waiting caller.
type queue struct {
	mu  sync.Mutex
	ops []*op
}

func (q *queue) add(o *op) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ops = append(q.ops, o)
}

// withdraw removes o from the queue. It returns false if o was already taken.
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

// maxGroup limits the operations of one commit.
const maxGroup = 512

// take moves waiting operations into group, oldest first.
func (q *queue) take(group []*op) []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.ops), maxGroup)
	group = append(group, q.ops[:n]...)
	q.ops = slices.Delete(q.ops, 0, n)
	return group
}

// commitUntil commits groups until o is done. After a group of several operations it yields first: the callers that it
// has just woken can submit their next writes, so that groups get larger and syncs fewer.
func (e *Embedded) commitUntil(o *op) {
	for !o.ended() {
		if len(e.group) > 1 {
			runtime.Gosched()
		}
		e.group = e.queue.take(e.group[:0])
		e.commitGroup(e.group)
		clear(e.group) // drop the operations, keep the capacity
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

// commitGroup carries out a group in one transaction of the file. If the file fails, it tries each operation alone, so
// that one that cannot be written does not fail the others.
func (e *Embedded) commitGroup(group []*op) {
	if err := e.updateFile(group); err != nil && len(group) > 1 {
		for _, o := range group {
			if err := e.updateFile([]*op{o}); err != nil {
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

// updateFile runs the group's plans and commits their effects. It returns errors of the file, not of plans.
func (e *Embedded) updateFile(group []*op) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer recoverEnginePanic(e.path, &err)
	tx, err := e.db.Begin(true)
	if err != nil {
		return fmt.Errorf("write store %s: %w", e.path, err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after a commit
	l, wrote := newLedger(tx, e.unixNow()), false
	l.contents = e.contents.after(tx)
	for _, o := range group {
		n, err := o.planAndApply(l)
		if err != nil {
			return fmt.Errorf("write store %s: %w", e.path, err)
		}
		wrote = wrote || n > 0
	}
	if !wrote {
		return nil
	}
	if err = l.contents.store(tx); err == nil { // without its sum, a transaction is not committed
		err = tx.Commit()
	}
	if err != nil {
		return fmt.Errorf("write store %s: %w", e.path, err)
	}
	return nil
}

// planAndApply plans one operation and writes its effects. A refusal is stored in the operation.
func (o *op) planAndApply(l *ledger) (int, error) {
	var effects []effect
	if effects, o.err = o.plan(l); o.err != nil {
		effects = nil
	}
	return len(effects), l.applyEffects(effects)
}
