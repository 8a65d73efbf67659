// Package asl interprets a written subset of the Amazon States Language, so that the state machines that run on Step
// Functions run the same way in this process; what is outside the subset is refused when a machine is read, never
// ignored. The subset is described in docs/operations/state-machines.md.
package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The quotas that Step Functions sets on a standard workflow, kept here so that a machine that breaks them fails on a
// laptop too. Source: the Step Functions developer guide, "Quotas for state machine executions".
const (
	MaxPayload     = 262_144 // bytes of JSON that go into or come out of a state
	MaxEvents      = 25_000  // history events of an execution
	MaxInlineItems = 40      // iterations of an inline Map at once
	MaxChildren    = 10_000  // iterations of a distributed Map at once
	// MaxVariables is the size of all variables of an execution together. Step Functions allows more (10 MiB); a
	// checkpoint, which holds an input and the variables, must fit into one item of the store.
	MaxVariables = 32_768
)

// Error is a failure as a machine sees it: Retry and Catch match Name.
type Error struct {
	Name, Cause string

	final bool // Retry does not apply
}

// Error returns the name and the cause.
func (e *Error) Error() string { return e.Name + ": " + e.Cause }

// The error names that the language reserves and that this package raises.
const (
	errAll           = "States.ALL"
	errDataLimit     = "States.DataLimitExceeded"
	errIntrinsic     = "States.IntrinsicFailure"
	errNoChoice      = "States.NoChoiceMatched"
	errResultPath    = "States.ResultPathMatchFailure"
	errRuntime       = "States.Runtime"
	errTaskFailed    = "States.TaskFailed"
	errTimeout       = "States.Timeout"
	errTooManyFailed = "States.ExceedToleratedFailureThreshold"
)

// ErrTimedOut ends an execution that ran longer than its machine's TimeoutSeconds.
var ErrTimedOut = &Error{Name: errTimeout,
	Cause: "the execution ran longer than the TimeoutSeconds of its state machine"}

// newError makes an Error of a reserved name.
func newError(name, format string, args ...any) error {
	return &Error{Name: name, Cause: fmt.Sprintf(format, args...)}
}

// Machine is a state machine, checked and ready to run. It is immutable.
type Machine struct {
	Comment string
	// TimeoutSeconds bounds an execution; 0 is no bound.
	TimeoutSeconds int64
	top            *level
}

// level is one set of states: a whole machine, the processor of a Map, or a branch of a Parallel.
type level struct {
	startAt string
	states  map[string]*state
}

// Parse reads a machine and checks it against the subset. Every error names the state and the field.
func Parse(definition []byte) (*Machine, error) {
	fields, err := decodeObject(definition)
	if err != nil {
		return nil, fmt.Errorf("read state machine: %w", err)
	}
	p := &parser{names: map[string]bool{}}
	m, err := p.parseMachine(fields)
	if err != nil {
		return nil, err
	}
	return m, p.variablesKnown()
}

// Functions lists the names of the functions that the machine's tasks call, where they are written in it; names that
// a path computes are left out.
func (m *Machine) Functions() []string {
	var out []string
	seen := map[string]bool{}
	m.top.each(func(s *state) {
		if s.kind != kindTask {
			return
		}
		if f := s.functionName(); f != "" && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	})
	return out
}

// each visits every state of a level and of the levels inside it.
func (l *level) each(visit func(*state)) {
	for _, s := range l.states {
		visit(s)
		for _, inner := range s.levels {
			inner.each(visit)
		}
	}
}

// decodeObject decodes a JSON object into its members, and refuses a member that is written twice.
func decodeObject(b []byte) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, fmt.Errorf("decode object: %w", err)
		}
		name, _ := t.(string)
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%q is written twice", name)
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("decode %q: %w", name, err)
		}
		out[name] = v
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("decode object: %w", err)
	}
	if d.More() {
		return nil, errors.New("text after the JSON object")
	}
	return out, nil
}
