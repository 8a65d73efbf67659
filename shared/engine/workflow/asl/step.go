package asl

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// runState runs a state once: its input, its work, its output.
func (f *fiber) runState(ctx context.Context, s *state) (out any, next string, err error) {
	if s.task.callback && f.frame.Token == "" {
		f.frame.Token, f.dirty = f.run.env.Tasks.Token(f.path), true
	}
	in, given, err := f.stateInput(s)
	if err != nil {
		return nil, "", err
	}
	if s.kind == kindChoice {
		return f.chooseNext(s, in)
	}
	res, err := f.doWork(ctx, s, in, given)
	if err != nil {
		return nil, "", err
	}
	if err := f.assignVariables(s.assign, res); err != nil {
		return nil, "", err
	}
	out, err = f.stateOutput(s, in, res)
	return out, s.next, err
}

// stateInput applies InputPath, and then Parameters.
func (f *fiber) stateInput(s *state) (in, given any, err error) {
	in = f.data
	switch {
	case s.noInput:
		in = map[string]any{}
	case s.inputPath != nil:
		if in, err = s.inputPath.evaluate(f.pathScope(f.data)); err != nil {
			return nil, nil, err
		}
	}
	if s.parameters == nil {
		return in, in, nil
	}
	if given, err = s.parameters.evaluate(f.pathScope(in)); err != nil {
		return nil, nil, err
	}
	return in, given, checkDataLimit(given, "the result of Parameters of state "+s.name)
}

// doWork does the work of a state. `in` is the data after InputPath, `given` the data after Parameters.
func (f *fiber) doWork(ctx context.Context, s *state, in, given any) (any, error) {
	switch s.kind {
	case kindPass:
		if s.result != nil {
			return s.result.evaluate(scope{})
		}
		return given, nil
	case kindTask:
		return f.callTask(ctx, s, given)
	case kindWait:
		return in, f.waitState(ctx, s, in)
	case kindMap:
		return f.mapItems(ctx, s, in)
	case kindParallel:
		return f.runParallel(ctx, s, given)
	case kindFail:
		return nil, f.failState(s, in)
	case kindSucceed, kindChoice:
	}
	return in, nil
}

// stateOutput returns the output of a state for its result.
func (f *fiber) stateOutput(s *state, in, res any) (any, error) {
	var err error
	if s.selector != nil {
		if res, err = s.selector.evaluate(f.pathScope(res)); err != nil {
			return nil, err
		}
	}
	out, err := applyResultPath(s.resultPath, s.noResult, in, res)
	if err != nil {
		return nil, err
	}
	switch {
	case s.noOutput:
		out = map[string]any{}
	case s.outputPath != nil:
		if out, err = s.outputPath.evaluate(f.pathScope(out)); err != nil {
			return nil, err
		}
	}
	return out, checkDataLimit(out, "the output of state "+s.name)
}

// applyResultPath applies a ResultPath.
func applyResultPath(p *path, none bool, in, res any) (any, error) {
	if none {
		return in, nil
	}
	if p == nil {
		return res, nil
	}
	return p.placeValue(in, res)
}

// assignVariables sets the variables of an Assign. It computes all values before it sets the first.
func (f *fiber) assignVariables(a expr, data any) error {
	if a == nil {
		return nil
	}
	v, err := a.evaluate(f.pathScope(data))
	if err != nil {
		return err
	}
	set, _ := v.(map[string]any)
	vars := make(map[string]any, len(f.vars)+len(set))
	maps.Copy(vars, f.vars)
	maps.Copy(vars, set)
	if measureJSON(vars, MaxVariables) > MaxVariables {
		return newError(errDataLimit, "the variables are larger than %d bytes together", MaxVariables)
	}
	f.vars = vars
	return nil
}

// chooseNext returns the next state by the first rule that matches.
func (f *fiber) chooseNext(s *state, in any) (any, string, error) {
	next, assign := s.next, s.assign
	for _, r := range s.choice {
		ok, err := r.test.holds(f.pathScope(in))
		if err != nil {
			return nil, "", err
		}
		if ok {
			next, assign = r.next, r.assign
			break
		}
	}
	if next == "" {
		return nil, "", newError(errNoChoice, "no rule of state %s holds and it has no Default", s.name)
	}
	if err := f.assignVariables(assign, in); err != nil {
		return nil, "", err
	}
	out, err := f.stateOutput(s, in, in)
	return out, next, err
}

// failState returns the failure of a Fail state.
func (f *fiber) failState(s *state, in any) error {
	name, err := s.fail.name.evaluate(f.pathScope(in))
	if err != nil {
		return err
	}
	cause, err := s.fail.cause.evaluate(f.pathScope(in))
	if err != nil {
		return err
	}
	n, ok1 := name.(string)
	c, ok2 := cause.(string)
	if !ok1 || !ok2 {
		return newError(errRuntime, "ErrorPath and CausePath of state %s must lead to strings", s.name)
	}
	return &Error{Name: n, Cause: c}
}

// waitState waits until the time that the state specifies. It saves that time, so that a restart does not start the
// wait again.
func (f *fiber) waitState(ctx context.Context, s *state, in any) error {
	if f.frame.Until.IsZero() {
		until, err := f.waitUntil(s.wait, in)
		if err != nil {
			return err
		}
		if !until.After(f.run.env.Clock.Now()) {
			return nil
		}
		f.frame.Until, f.dirty = until, true
	}
	if err := f.saveFrame(ctx); err != nil {
		return err
	}
	return f.sleepUntil(ctx, f.frame.Until)
}

func (f *fiber) waitUntil(w wait, in any) (time.Time, error) {
	switch {
	case w.secondsPath != nil:
		return f.secondsFrom(w.secondsPath, in)
	case w.timestampPath != nil:
		v, err := w.timestampPath.evaluate(f.pathScope(in))
		if err != nil {
			return time.Time{}, err
		}
		text, _ := v.(string)
		t, ok := parseTimestamp(text)
		if !ok {
			return t, newError(
				errRuntime, "TimestampPath leads to %s, which is not an RFC 3339 time", clipForMessage(v))
		}
		return t, nil
	case !w.timestamp.IsZero():
		return w.timestamp, nil
	}
	return f.run.env.Clock.Now().Add(w.seconds), nil
}

func (f *fiber) secondsFrom(p *path, in any) (time.Time, error) {
	v, err := p.evaluate(f.pathScope(in))
	if err != nil {
		return time.Time{}, err
	}
	n, ok := toNumber(v)
	if !ok || n < 0 || n > maxSeconds || n != float64(int64(n)) {
		return time.Time{},
			newError(errRuntime, "SecondsPath leads to %s, which is not a whole number from 0 to %d", clipForMessage(v),
				maxSeconds)
	}
	return f.run.env.Clock.Now().Add(time.Duration(n) * time.Second), nil
}

// clipForMessage returns a value for a message, cut off if it is long.
func clipForMessage(v any) string {
	s := displayText(v)
	if len(s) > 100 {
		return fmt.Sprintf("%.100s…", s)
	}
	return s
}
