package asl

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// errTaskTimedOut ends a task that runs longer than its TimeoutSeconds.
var errTaskTimedOut = &Error{Name: errTimeout, Cause: "the task ran longer than its TimeoutSeconds"}

// callTask runs a Task: it calls the function and, with .waitForTaskToken, waits for the answer to the token.
func (f *fiber) callTask(ctx context.Context, s *state, given any) (any, error) {
	function, payload, err := s.resolveTarget(given)
	if err != nil {
		return nil, err
	}
	if s.task.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = withClockDeadline(ctx, f.run.env.Clock, f.taskExpiry(s), errTaskTimedOut)
		defer cancel()
	}
	if err := f.saveFrame(ctx); err != nil {
		return nil, timedOut(ctx, err)
	}
	if err := f.countEvents(eventsOf(s.task)); err != nil {
		return nil, err
	}
	raw, err := f.callAndAwait(ctx, s, function, payload)
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

// eventsOf returns the number of history events of a call, in addition to entering and leaving the state: scheduled,
// started, and succeeded or failed. A task with a token also has the event submitted.
func eventsOf(t task) int64 {
	if t.callback {
		return 4
	}
	return 3
}

// taskExpiry returns when the task times out. After a restart, a task that waits for its token keeps that time; all
// others start anew.
func (f *fiber) taskExpiry(s *state) time.Time {
	if !s.task.callback {
		return f.run.env.Clock.Now().Add(s.task.timeout)
	}
	if f.frame.Until.IsZero() {
		f.frame.Until, f.dirty = f.run.env.Clock.Now().Add(s.task.timeout), true
	}
	return f.frame.Until
}

// timedOut returns errTaskTimedOut if the task's timeout ended ctx, else err.
func timedOut(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errTaskTimedOut) {
		return errTaskTimedOut
	}
	return err
}

// callAndAwait calls the function, unless it returned before a restart, and waits for the token, if there is one.
func (f *fiber) callAndAwait(ctx context.Context, s *state, function string, payload json.RawMessage) (json.RawMessage,
	error,
) {
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

// invoke calls the function, if admitCall allows it.
func (f *fiber) invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error) {
	release, err := f.admitCall(ctx, function)
	if err != nil {
		return nil, err
	}
	defer release()
	return f.run.env.Tasks.Invoke(ctx, function, payload)
}

// resolveTarget returns the function that a Task calls and its payload.
func (s *state) resolveTarget(given any) (string, json.RawMessage, error) {
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
