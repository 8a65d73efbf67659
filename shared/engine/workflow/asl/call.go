package asl

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// errTaskTimedOut ends a task that runs longer than TimeoutSeconds.
var errTaskTimedOut = &Error{Name: errTimeout, Cause: "the task ran longer than its TimeoutSeconds"}

// callTask runs a Task: it calls the function and, with .waitForTaskToken, waits for the token's answer.
func (f *fiber) callTask(ctx context.Context, s *state, given any) (any, error) {
	function, payload, err := s.target(given)
	if err != nil {
		return nil, err
	}
	if s.task.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = withClockDeadline(ctx, f.run.env.Clock, f.expiry(s), errTaskTimedOut)
		defer cancel()
	}
	if err := f.saveFrame(ctx); err != nil {
		return nil, timedOut(ctx, err)
	}
	if err := f.countEvents(eventsOf(s.task)); err != nil {
		return nil, err
	}
	raw, err := f.answer(ctx, s, function, payload)
	if err != nil {
		return nil, timedOut(ctx, err)
	}
	res, err := decodeJSON(raw)
	if err != nil {
		return nil, newError(errRuntime, "the answer of %s is not JSON: %s", function, err)
	}
	if err := checkDataLimit(res, "the result of state "+s.name); err != nil {
		return nil, err
	}
	if s.task.invoke && !s.task.callback {
		res = map[string]any{"Payload": res, "StatusCode": json.Number("200")}
	}
	return res, nil
}

// eventsOf returns the number of history events of a call beside entering and leaving the state: scheduled, started and
// succeeded or failed; a task with a token is also submitted.
func eventsOf(t task) int64 {
	if t.callback {
		return 4
	}
	return 3
}

// expiry returns when the task times out. A task that waits for its token keeps that time over a restart; any other begins
// anew.
func (f *fiber) expiry(s *state) time.Time {
	if !s.task.callback {
		return f.run.env.Clock.Now().Add(s.task.timeout)
	}
	if f.frame.Until.IsZero() {
		f.frame.Until, f.dirty = f.run.env.Clock.Now().Add(s.task.timeout), true
	}
	return f.frame.Until
}

// timedOut returns the failure of a task whose ctx ended by its timeout, else err.
func timedOut(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errTaskTimedOut) {
		return errTaskTimedOut
	}
	return err
}

// answer calls the function, unless a restart finds that this was done, and waits for the token, if there is one.
func (f *fiber) answer(ctx context.Context, s *state, function string, payload json.RawMessage) (json.RawMessage,
	error) {
	tasks := f.run.env.Tasks
	if !s.task.callback {
		return f.invoke(ctx, function, payload)
	}
	if !f.frame.Sent {
		if _, err := f.invoke(ctx, function, payload); err != nil {
			return nil, err
		}
		f.frame.Sent, f.dirty = true, true
		if err := f.saveFrame(ctx); err != nil {
			return nil, err
		}
	}
	return tasks.Await(ctx, f.frame.Token)
}

// invoke calls the function, when it may be called.
func (f *fiber) invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error) {
	release, err := f.admitCall(ctx, function)
	if err != nil {
		return nil, err
	}
	defer release()
	return f.run.env.Tasks.Invoke(ctx, function, payload)
}

// target returns the function that a Task calls and the payload it is given.
func (s *state) target(given any) (string, json.RawMessage, error) {
	if !s.task.invoke {
		payload, err := encodeJSON(given)
		return FunctionName(s.task.resource), payload, err
	}
	fields, _ := given.(map[string]any)
	name, _ := fields["FunctionName"].(string)
	function := FunctionName(name)
	if function == "" {
		return "", nil, newError(errRuntime, "FunctionName of state %s is not the name of a function", s.name)
	}
	payload, ok := fields["Payload"]
	if !ok {
		payload = map[string]any{}
	}
	raw, err := encodeJSON(payload)
	return function, raw, err
}
