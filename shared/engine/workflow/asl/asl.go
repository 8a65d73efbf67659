// Package asl interprets a documented subset of the Amazon States Language, so that the state machines of Step
// Functions run the same way in this process. It refuses to parse machines outside the subset; it never ignores a
// field. docs/operations/state-machines.md describes the subset.
package asl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// The quotas of a standard workflow of Step Functions. They are enforced here so that a machine that exceeds them also
// fails on a laptop. Source: the Step Functions developer guide, "Quotas for state machine executions".
const (
	MaxPayload     = 262_144 // bytes of JSON in the input or output of a state
	MaxEvents      = 25_000  // history events of an execution
	MaxInlineItems = 40      // concurrent iterations of an inline Map
	MaxChildren    = 10_000  // concurrent iterations of a distributed Map
	// MaxVariables is the size of all variables of an execution together, in bytes. Step Functions allows 10 MiB. Here
	// it is less, because a checkpoint, which holds an input and the variables, must fit into one item of the store.
	MaxVariables = 32_768
)

// Error is a failure of a state. Retry and Catch match Name.
type Error struct {
	Name, Cause string

	final bool // Retry does not apply
}

// Error returns the name and the cause.
func (e *Error) Error() string { return e.Name + ": " + e.Cause }

// The reserved error names that this package uses.
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
var ErrTimedOut = &Error{
	Name:  errTimeout,
	Cause: "the execution ran longer than the TimeoutSeconds of its state machine",
}

// newError returns an Error with a reserved name.
func newError(name, format string, args ...any) error {
	return &Error{Name: name, Cause: fmt.Sprintf(format, args...)}
}

// Machine is a parsed and validated state machine. It is immutable.
type Machine struct {
	Comment string
	// TimeoutSeconds limits the duration of an execution; 0 means no limit.
	TimeoutSeconds int64
	top            *level
}

// level is one set of states: those of a machine, of the processor of a Map, or of a branch of a Parallel.
type level struct {
	startAt string
	states  map[string]*state
}

// Parse parses a machine and checks that it is within the subset. Each error names the state and the field.
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
	return m, p.checkVariables()
}

// Functions lists the names of the functions that the machine's tasks call. It leaves out names that are computed by a
// path.
func (m *Machine) Functions() []string {
	var out []string
	seen := map[string]bool{}
	m.top.eachState(func(s *state) {
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

// eachState calls visit for every state of the level and of the levels inside it.
func (l *level) eachState(visit func(*state)) {
	for _, s := range l.states {
		visit(s)
		for _, inner := range s.levels {
			inner.eachState(visit)
		}
	}
}

// decodeObject decodes a JSON object into its members. It returns an error if a member occurs twice.
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
