package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// arnPrefix is the prefix of the IDs of executions and machines in the context object.
const arnPrefix = "arn:aws:states:local:000000000000:"

// launchExecution runs an execution in a new goroutine, unless one runs it already. If x is nil, the execution is read
// from the store. resumed reports that an earlier process may have run it.
func (e *Embedded) launchExecution(r ref, x *Execution, resumed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, already := e.running[r]; e.closed || already {
		return
	}
	ctx, cancel := context.WithCancelCause(e.life)
	done := make(chan struct{})
	e.running[r] = run{cancel, done}
	e.group.Go(func() {
		defer func() {
			cancel(nil)
			e.mu.Lock()
			delete(e.running, r)
			e.mu.Unlock()
			close(done)
		}()
		e.drive(ctx, r, x, resumed)
	})
}

// drive runs an execution until it has ended or is stopped. If the store fails, it tries again from the saved state.
func (e *Embedded) drive(ctx context.Context, r ref, x *Execution, resumed bool) {
	for n := 0; ; n++ {
		err := e.advance(ctx, r, x, resumed && n == 0)
		if err == nil || ctx.Err() != nil {
			return
		}
		e.p.Log.WarnContext(ctx, "execution interrupted, trying again", "execution", r.String(), "error", err)
		if e.p.Clock.Sleep(ctx, backoffAfter(n, time.Minute)) != nil {
			return
		}
		x = nil
	}
}

// backoffAfter returns the delay after try n: 50 ms, doubled each time, up to most.
func backoffAfter(n int, most time.Duration) time.Duration {
	return min(50*time.Millisecond<<min(n, 20), most)
}

// advance runs an execution from its saved state to its end.
func (e *Embedded) advance(ctx context.Context, r ref, x *Execution, resumed bool) error {
	w := newWork(e, r)
	defer w.releaseTokens()
	frames := map[string]asl.Frame{}
	if x == nil {
		var err error
		if x, err = e.loadExecution(ctx, w, frames); err != nil || x.Status != Running {
			return err
		}
	}
	out, err := e.p.Machines[r.machine].Run(ctx, asl.Env{
		Clock: e.p.Clock, Tasks: w, Journal: w, Trial: e.Trial,
		Transition: func() { e.p.Transition(r.machine) },
	}, asl.Execution{
		ID: arnPrefix + "execution:" + r.machine + ":" + r.name, Name: r.name,
		MachineID: arnPrefix + "stateMachine:" + r.machine, Machine: r.machine,
		Input: x.Input, Started: x.Started, Frames: frames, Resumed: resumed, Died: e.p.Died,
	})
	done := *x
	done.Stopped = e.p.Clock.Now()
	failed, isFailure := errors.AsType[*asl.Error](err)
	switch {
	case err == nil:
		done.Status, done.Output = Succeeded, out
	case errors.Is(context.Cause(ctx), errStopped):
		return w.deleteRunState(e.life, w.runStateDeletes()) //nolint:contextcheck // ctx has ended with the execution
	case ctx.Err() != nil || !isFailure:
		return err
	case errors.Is(err, asl.ErrTimedOut):
		done.Status, done.Error, done.Cause = TimedOut, failed.Name, failed.Cause
	default:
		done.Status, done.Error, done.Cause = Failed, failed.Name, failed.Cause
	}
	return w.finishExecution(ctx, done)
}

// Trial waits until no call is on trial, and starts the trial of a call that may have crashed an earlier process
// (Parts.Died). release ends it.
func (e *Embedded) Trial(ctx context.Context) (release func(), err error) {
	select {
	case e.trial <- struct{}{}:
		return func() { <-e.trial }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// loadExecution reads an execution and its frames.
func (e *Embedded) loadExecution(ctx context.Context, w *work, frames map[string]asl.Frame) (*Execution, error) {
	ctx = table.Within(ctx, scopePrefix)
	var x *Execution
	q := table.Query{PK: w.ref.partitionKey(), Limit: 1_000}
	for {
		page, err := e.p.Store.Query(ctx, q)
		if err != nil {
			return nil, fault.Wrap("load "+w.ref.String(), err)
		}
		for _, it := range page.Items {
			if it.SK == executionSK {
				have, _, err := decodeExecution(w.ref, it)
				if err != nil {
					return nil, err
				}
				x = &have
				continue
			}
			if err := w.addItem(it, frames); err != nil {
				return nil, err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	if x == nil {
		return nil, fmt.Errorf(
			"load %s: the execution has a place in the list of running ones, but is not there", w.ref)
	}
	return x, nil
}

// addItem adds an item that an earlier process saved.
func (w *work) addItem(it table.Item, frames map[string]asl.Frame) error {
	if it.SK == outputSK {
		return nil
	}
	w.kept[it.SK] = true
	path, ok := strings.CutPrefix(it.SK, framePrefix)
	if !ok {
		return nil
	}
	stored, err := table.Decode[frameItem](it)
	if err != nil {
		return err
	}
	var f asl.Frame
	if err := stored.unpackInto(&f); err != nil {
		return fmt.Errorf("load frame %q of %s: %w", path, w.ref, err)
	}
	frames[path] = f
	return nil
}
