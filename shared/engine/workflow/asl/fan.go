package asl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// fan is a running Map or Parallel: children of one fiber that run concurrently.
type fan struct {
	parent *fiber
	n      int // number of children
	limit  int // number of concurrent children
	level  func(i int) *level
	// start returns the data and the $$.Map of child i, and whether they would be the same after a restart.
	start func(i int) (data any, item map[string]any, steady bool, err error)
	each  *each // of a Map; nil for a Parallel

	mu     sync.Mutex
	failed int
	err    error
	out    []any
}

// runParallel runs the branches of a Parallel.
func (f *fiber) runParallel(ctx context.Context, s *state, given any) (any, error) {
	x := &fan{
		parent: f, n: len(s.levels), limit: len(s.levels),
		level: func(i int) *level { return s.levels[i] },
		start: func(int) (any, map[string]any, bool, error) {
			return given, f.item, s.parameters == nil || s.parameters.steady(), nil
		},
	}
	return x.run(ctx, 2)
}

// mapItems runs the items of a Map.
func (f *fiber) mapItems(ctx context.Context, s *state, in any) (any, error) {
	items := in
	if s.each.items != nil {
		var err error
		if items, err = s.each.items.evaluate(f.pathScope(in)); err != nil {
			return nil, err
		}
	}
	list, ok := items.([]any)
	if !ok {
		return nil, newError(errRuntime, "the items of state %s are not an array but %s", s.name, clipForMessage(items))
	}
	x := &fan{
		parent: f, n: len(list), limit: s.each.concurrency, each: &s.each,
		level: func(int) *level { return s.levels[0] },
	}
	x.start = func(i int) (any, map[string]any, bool, error) {
		item := map[string]any{"Item": map[string]any{"Index": integerNumber(int64(i)), "Value": list[i]}}
		if s.each.selector == nil {
			return list[i], item, true, nil
		}
		sc := scope{in, func() map[string]any {
			c := f.contextObject()
			c["Map"] = item
			return c
		}, f.vars}
		data, err := s.each.selector.evaluate(sc)
		return data, item, s.each.selector.steady(), err
	}
	return x.run(ctx, 2)
}

// run runs all children, at most limit at the same time. The first failure that is not tolerated ends the others. It
// saves the frame of the parent first, so that the finished children are found after a restart.
func (x *fan) run(ctx context.Context, events int64) (any, error) {
	f := x.parent
	if err := f.saveFrame(ctx); err != nil {
		return nil, err
	}
	if err := f.countEvents(events); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	x.out = make([]any, x.n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(x.n, x.limit) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < x.n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if x.recordOutcome(i, x.child(ctx, i)) {
					cancel()
				}
			}
		})
	}
	wg.Wait()
	if x.err == nil {
		x.err = ctx.Err()
	}
	f.dirty = true
	return x.out, x.err
}

// outcome is the result of a child.
type outcome struct {
	fiber *fiber
	out   any
	err   error
}

// child runs child i, unless it had ended before a restart.
func (x *fan) child(ctx context.Context, i int) outcome {
	f := x.parent
	c := &fiber{
		run: f.run, level: x.level(i), total: f.total, vars: f.vars,
		path: fmt.Sprintf("%s/%d.%05d", f.path, f.frame.Visit, i),
	}
	if x.each != nil && x.each.distributed {
		c.total, c.vars = &atomic.Int64{}, nil
	}
	kept, found := f.run.takeFrame(c.path)
	if found && kept.Done {
		return c.restoredOutcome(kept)
	}
	if err := x.prepare(c, i, kept, found); err != nil {
		return outcome{c, nil, err}
	}
	out, err := c.runStates(ctx)
	if failed, ok := errors.AsType[*Error](err); ok && ctx.Err() == nil && x.toleratesFailures() {
		return outcome{c, nil, errors.Join(c.saveEnd(ctx, Frame{Failed: failed}), failed)}
	}
	if err == nil {
		err = c.finishWith(ctx, out)
	}
	return outcome{c, out, err}
}

// prepare sets a child to its start, or to its state before a restart.
func (x *fan) prepare(c *fiber, i int, kept Frame, found bool) error {
	data, item, steady, err := x.start(i)
	if err != nil {
		return err
	}
	c.item = item
	if found {
		return c.restoreFrame(kept)
	}
	c.beginState(c.level.startAt, data, c.vars)
	c.restored = x.parent.restored
	c.dirty = !steady // otherwise it can be computed from the frame of the parent
	if x.each != nil {
		return c.countEvents(1)
	}
	return nil
}

// restoredOutcome returns the outcome of a child that had ended before a restart.
func (f *fiber) restoredOutcome(kept Frame) outcome {
	f.frame, f.acted = kept, true
	f.total.Add(kept.Events)
	if kept.Failed != nil {
		return outcome{f, nil, kept.Failed}
	}
	out, err := decodeJSON(kept.Output)
	return outcome{f, out, err}
}

// finishWith saves that a child has ended with out. It does not save a child without visible effects, which a restart
// computes again.
func (f *fiber) finishWith(ctx context.Context, out any) error {
	if !f.acted || f.run.env.Journal == nil {
		return nil
	}
	raw, err := encodeJSON(out)
	if err != nil {
		return err
	}
	return f.saveEnd(ctx, Frame{Output: raw})
}

func (f *fiber) saveEnd(ctx context.Context, end Frame) error {
	if f.run.env.Journal == nil {
		return nil
	}
	f.acted = true
	end.Done, end.Events = true, f.frame.Events
	f.frame = end
	return f.writeFrame(ctx)
}

// toleratesFailures reports whether the fan is a Map that tolerates failed items.
func (x *fan) toleratesFailures() bool {
	return x.each != nil && x.each.distributed && (x.each.tolerated > 0 || x.each.tolerance > 0)
}

// recordOutcome stores the outcome of child i, and reports whether it ends the fan.
func (x *fan) recordOutcome(i int, o outcome) (stop bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.absorb(o.fiber)
	if o.err == nil {
		x.out[i] = o.out
		return false
	}
	if x.err != nil {
		return true
	}
	failed, ok := errors.AsType[*Error](o.err)
	if !ok || !x.toleratesFailures() {
		x.err = o.err
		return true
	}
	x.failed++
	x.out[i] = map[string]any{"Status": "FAILED", "Error": failed.Name, "Cause": failed.Cause}
	if x.exceedsTolerance() {
		x.err = newError(errTooManyFailed, "%d of %d items failed, the last with %s", x.failed, x.n, failed)
		return true
	}
	return false
}

// absorb adds the events and the frames of a child to those of the parent.
func (x *fan) absorb(c *fiber) {
	f := x.parent
	if c.total == f.total {
		f.frame.Events += c.frame.Events
	}
	if c.acted && f.run.env.Journal != nil {
		f.stale = append(append(f.stale, c.stale...), c.path)
	}
}

// exceedsTolerance reports whether more items have failed than one of the given thresholds allows.
func (x *fan) exceedsTolerance() bool {
	byCount := x.each.tolerated > 0 && x.failed > x.each.tolerated
	byShare := x.each.tolerance > 0 && float64(x.failed)*100 > x.each.tolerance*float64(x.n)
	return byCount || byShare
}
