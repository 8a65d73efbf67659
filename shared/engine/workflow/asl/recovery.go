package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// readRecovery parses Retry and Catch.
func (r *reader) readRecovery() error {
	retriers, err1 := decodeField[[]json.RawMessage](r.fields, "Retry")
	catchers, err2 := decodeField[[]json.RawMessage](r.fields, "Catch")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	for i, raw := range retriers {
		t, err := parseRetrier(raw, i == len(retriers)-1)
		if err != nil {
			return fmt.Errorf("element %d of Retry: %w", i, err)
		}
		r.state.retry = append(r.state.retry, t)
	}
	for i, raw := range catchers {
		c, err := parseCatcher(raw, i == len(catchers)-1)
		if err != nil {
			return fmt.Errorf("element %d of Catch: %w", i, err)
		}
		r.state.catch = append(r.state.catch, c)
	}
	return nil
}

// errorNames parses ErrorEquals. States.ALL must be its only name, and in the last element.
func errorNames(fields map[string]json.RawMessage, last bool) ([]string, error) {
	names, err := decodeField[[]string](fields, "ErrorEquals")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, errors.New("field \"ErrorEquals\" must name at least one error")
	}
	if slices.Contains(names, errAll) && (len(names) > 1 || !last) {
		return nil, errors.New("field \"ErrorEquals\": States.ALL must stand alone, and in the last element")
	}
	return names, nil
}

func parseRetrier(raw json.RawMessage, last bool) (retrier, error) {
	t := retrier{}
	fields, err := decodeObject(raw)
	if err != nil {
		return t, err
	}
	err = allowFields(fields, "Comment", "ErrorEquals", "IntervalSeconds", "MaxAttempts", "BackoffRate",
		"MaxDelaySeconds", "JitterStrategy")
	if err != nil {
		return t, err
	}
	var errs [4]error
	t.names, errs[0] = errorNames(fields, last)
	interval, err := boundedField(fields, "IntervalSeconds", 1, 1)
	t.interval, errs[1] = float64(interval), err
	attempts, err := boundedField(fields, "MaxAttempts", 3, 0)
	t.attempts, errs[2] = int(attempts), err
	maxDelay, err := boundedField(fields, "MaxDelaySeconds", 0, 1)
	t.maxDelay, errs[3] = float64(maxDelay), err
	return t, errors.Join(errors.Join(errs[:]...), t.readBackoff(fields))
}

// boundedField parses an integer field with a minimum. It returns def if the field is absent.
func boundedField(fields map[string]json.RawMessage, name string, def, least int64) (int64, error) {
	if _, ok := fields[name]; !ok {
		return def, nil
	}
	n, err := decodeField[int64](fields, name)
	if err == nil && (n < least || n > maxSeconds) {
		err = fmt.Errorf("field %q must be between %d and %d", name, least, maxSeconds)
	}
	return n, err
}

func (t *retrier) readBackoff(fields map[string]json.RawMessage) error {
	strategy, err1 := decodeField[string](fields, "JitterStrategy")
	rate, err2 := decodeField[float64](fields, "BackoffRate")
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	t.rate = 2
	if _, ok := fields["BackoffRate"]; ok {
		t.rate = rate
	}
	if t.rate < 1 {
		return errors.New("field \"BackoffRate\" must be at least 1")
	}
	if t.maxDelay > 0 && t.maxDelay <= t.interval {
		return errors.New("field \"MaxDelaySeconds\" must be greater than IntervalSeconds")
	}
	if strategy != "" && strategy != "FULL" && strategy != "NONE" {
		return fmt.Errorf("field \"JitterStrategy\" must be FULL or NONE, not %q", strategy)
	}
	t.jitter = strategy == "FULL"
	return nil
}

// delayAfter returns the delay before the next try, after n retries by this retrier. With jitter it is a random share
// of the delay, so that tasks that failed at the same time are not retried at the same time.
func (t retrier) delayAfter(n int, share func() float64) time.Duration {
	d := t.interval * math.Pow(t.rate, float64(n))
	if t.maxDelay > 0 {
		d = min(d, t.maxDelay)
	}
	d = min(d, maxSeconds)
	if t.jitter {
		d *= share()
	}
	return time.Duration(d * float64(time.Second))
}

func parseCatcher(raw json.RawMessage, last bool) (catcher, error) {
	c := catcher{}
	fields, err := decodeObject(raw)
	if err != nil {
		return c, err
	}
	if err := allowFields(fields, "Comment", "ErrorEquals", "Next", "ResultPath", "Assign"); err != nil {
		return c, err
	}
	r := reader{fields: fields}
	var errs [4]error
	c.names, errs[0] = errorNames(fields, last)
	c.next, errs[1] = decodeField[string](fields, "Next")
	c.resultPath, c.noResult, errs[2] = r.optionalPath("ResultPath", parseResultPath)
	c.assign, errs[3] = parseAssign(fields)
	if c.next == "" && errs[1] == nil {
		errs[1] = errors.New("field \"Next\" is missing")
	}
	return c, errors.Join(errs[:]...)
}

// matchesError reports whether ErrorEquals matches the error of a state. States.Runtime always ends the execution.
// States.DataLimitExceeded is only matched by its own name.
func matchesError(names []string, name string) bool {
	if name == errRuntime {
		return false
	}
	for _, want := range names {
		switch want {
		case name:
			return true
		case errAll:
			return name != errDataLimit
		case errTaskFailed:
			if name != errTimeout && name != errDataLimit {
				return true
			}
		}
	}
	return false
}
