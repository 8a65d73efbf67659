package asl

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// fiber executes one level of states: the execution itself, a branch, or an item of a Map.
//
// It saves its frame before every effect that is visible from outside: before calling a function, waiting, delaying a
// retry, or starting branches and items, and when it ends. Pass, Choice, Succeed and Fail only compute. After a restart
// they are computed again from the last frame, which has no visible effect.
type fiber struct {
	run   *run
	level *level
	path  string         // "" for the execution; parent/visit.index for a child
	item  map[string]any // $$.Map, nil outside of a Map
	total *atomic.Int64  // history events of the whole execution

	frame Frame
	data  any            // the input of the state
	vars  map[string]any // never changed in place
	dirty bool           // the saved frame is older than this one
	acted bool           // the fiber has had a visible effect
	// restored reports that an earlier process may have been in this state when it ended, and so in its call.
	restored bool
	stale    []string // children whose frames are useless after the next save
}

// beginState enters a state.
func (f *fiber) beginState(state string, data any, vars map[string]any) {
	f.data, f.vars, f.dirty, f.restored = data, vars, true, false
	f.frame = Frame{
		State: state, Entered: f.run.env.Clock.Now(), Visit: f.frame.Visit + 1, Events: f.frame.Events,
	}
}

// restoreFrame sets the fiber to its state when its frame was saved.
func (f *fiber) restoreFrame(kept Frame) error {
	data, err := decodeJSON(kept.Input)
	if err != nil {
		return fmt.Errorf("restore input of fiber %q: %w", f.path, err)
	}
	f.frame, f.data = kept, data
	f.acted, f.restored = true, f.run.x.Resumed
	f.total.Add(kept.Events)
	if len(kept.Vars) == 0 {
		return nil
	}
	vars, err := decodeJSON(kept.Vars)
	if err != nil {
		return fmt.Errorf("restore variables of fiber %q: %w", f.path, err)
	}
	f.vars, _ = vars.(map[string]any)
	return nil
}

// saveFrame saves the frame, unless the saved one is up to date. Call it before every visible effect.
func (f *fiber) saveFrame(ctx context.Context) error {
	f.acted = true
	if !f.dirty || f.run.env.Journal == nil {
		return ctx.Err()
	}
	var err error
	if f.frame.Input, err = encodeJSON(f.data); err != nil {
		return err
	}
	if f.frame.Vars = nil; len(f.vars) > 0 {
		if f.frame.Vars, err = encodeJSON(f.vars); err != nil {
			return err
		}
	}
	return f.writeFrame(ctx)
}

// writeFrame passes the frame to the journal, and deletes the frames that it makes useless.
func (f *fiber) writeFrame(ctx context.Context) error {
	if err := f.run.env.Journal.Save(ctx, f.path, f.frame); err != nil {
		return fmt.Errorf("save fiber %q: %w", f.path, err)
	}
	f.dirty = false
	if len(f.stale) == 0 {
		return nil
	}
	if err := f.run.env.Journal.Forget(ctx, f.stale); err != nil {
		return fmt.Errorf("forget children of fiber %q: %w", f.path, err)
	}
	f.stale = nil
	return nil
}

// countEvents adds history events. It fails if no event would be left for ExecutionSucceeded.
func (f *fiber) countEvents(n int64) error {
	f.frame.Events += n
	if f.total.Add(n)+1 <= MaxEvents {
		return nil
	}
	return newError(errRuntime, "the execution reached the maximum number of history events (%d)", MaxEvents)
}

// runStates runs states until one of them ends the level.
func (f *fiber) runStates(ctx context.Context) (any, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s := f.level.states[f.frame.State]
		if s == nil {
			return nil, newError(
				errRuntime, "the state machine no longer has a state %q, where the execution stands", f.frame.State)
		}
		if err := f.countEvents(1); err != nil {
			return nil, err
		}
		out, next, err := f.attemptState(ctx, s)
		if err != nil {
			return nil, err
		}
		if err := f.countEvents(1); err != nil {
			return nil, err
		}
		if next == "" {
			return out, nil
		}
		f.beginState(next, out, f.vars)
	}
}

// attemptState runs a state with its Retry and Catch.
func (f *fiber) attemptState(ctx context.Context, s *state) (out any, next string, err error) {
	for {
		if err := f.waitForRetry(ctx); err != nil {
			return nil, "", err
		}
		if f.run.env.Transition != nil {
			f.run.env.Transition()
		}
		events := f.frame.Events
		out, next, err := f.runState(ctx, s)
		if err == nil {
			return out, next, nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || ctx.Err() != nil {
			return nil, "", err
		}
		if f.frame.Events == events { // it failed before it had any effect: EvaluationFailed
			if err := f.countEvents(1); err != nil {
				return nil, "", err
			}
		}
		again, err := f.prepareRetry(ctx, s, e)
		if err != nil {
			return nil, "", err
		}
		if !again {
			return f.catchError(s, e)
		}
	}
}

// waitForRetry waits for the delay of a retry.
func (f *fiber) waitForRetry(ctx context.Context) error {
	if f.frame.RetryAt.IsZero() {
		return nil
	}
	if err := f.sleepUntil(ctx, f.frame.RetryAt); err != nil {
		return err
	}
	f.frame.RetryAt = time.Time{}
	return nil
}

func (f *fiber) sleepUntil(ctx context.Context, at time.Time) error {
	d := at.Sub(f.run.env.Clock.Now())
	if d <= 0 {
		return ctx.Err()
	}
	f.restored = false // the call was not made yet
	return f.run.env.Clock.Sleep(ctx, d)
}

// prepareRetry reports whether Retry allows another attempt after e. If so, it saves the attempt.
func (f *fiber) prepareRetry(ctx context.Context, s *state, e *Error) (bool, error) {
	f.acquit()
	if e.final {
		return false, nil
	}
	for i, t := range s.retry {
		if !matchesError(t.names, e.Name) {
			continue
		}
		if len(f.frame.Tries) != len(s.retry) {
			f.frame.Tries = make([]int, len(s.retry))
		}
		n := f.frame.Tries[i]
		if n >= t.attempts {
			return false, nil
		}
		f.frame.Tries[i]++
		f.frame.Visit++
		f.frame.Token, f.frame.Sent, f.frame.Until = "", false, time.Time{}
		f.frame.RetryAt = f.run.env.Clock.Now().Add(t.delayAfter(n, f.run.env.drawShare))
		f.dirty = true
		return true, f.saveFrame(ctx)
	}
	return false, nil
}

// catchError returns the output and the next state of the first catcher that matches e. Without one it returns e.
func (f *fiber) catchError(s *state, e *Error) (any, string, error) {
	for _, c := range s.catch {
		if !matchesError(c.names, e.Name) {
			continue
		}
		problem := map[string]any{"Error": e.Name, "Cause": e.Cause}
		if err := f.assignVariables(c.assign, problem); err != nil {
			return nil, "", err
		}
		out, err := applyResultPath(c.resultPath, c.noResult, f.data, problem)
		if err == nil {
			err = checkDataLimit(out, "the output of state "+s.name)
		}
		return out, c.next, err
	}
	return nil, "", e
}

// retryCount returns how often the state was retried.
func (f *fiber) retryCount() int64 {
	n := 0
	for _, t := range f.frame.Tries {
		n += t
	}
	return int64(n)
}

// pathScope returns the values that paths can read, with the given data.
func (f *fiber) pathScope(data any) scope { return scope{data, f.contextObject, f.vars} }

// contextObject returns the context object, "$$".
func (f *fiber) contextObject() map[string]any {
	x := f.run.x
	c := map[string]any{
		"Execution": map[string]any{
			"Id": x.ID, "Name": x.Name, "Input": f.run.input, "StartTime": formatTime(x.Started),
		},
		"StateMachine": map[string]any{"Id": x.MachineID, "Name": x.Machine},
		"State": map[string]any{
			"Name": f.frame.State, "EnteredTime": formatTime(f.frame.Entered),
			"RetryCount": integerNumber(f.retryCount()),
		},
	}
	if f.item != nil {
		c["Map"] = f.item
	}
	if f.frame.Token != "" {
		c["Task"] = map[string]any{"Token": f.frame.Token}
	}
	return c
}

// formatTime formats a time as in the context object.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
