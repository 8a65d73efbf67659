package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// parser parses one machine. It holds the names of all states, which must be unique across levels, and the assigned and
// read variables by level.
type parser struct {
	names  map[string]bool
	levels []variables
}

// fieldsOf lists the fields of each kind of state in the subset. All kinds also have Type, Comment and QueryLanguage.
var fieldsOf = map[kind][]string{
	kindPass: {"Next", "End", "InputPath", "OutputPath", "Parameters", "Result", "ResultPath", "Assign"},
	kindTask: {
		"Next", "End", "InputPath", "OutputPath", "Parameters", "ResultSelector", "ResultPath", "Assign",
		"Resource", "TimeoutSeconds", "Retry", "Catch",
	},
	kindChoice: {"InputPath", "OutputPath", "Choices", "Default", "Assign"},
	kindWait: {
		"Next", "End", "InputPath", "OutputPath", "Seconds", "SecondsPath", "Timestamp", "TimestampPath", "Assign",
	},
	kindMap: {
		"Next", "End", "InputPath", "OutputPath", "ItemsPath", "ItemSelector", "ItemProcessor", "MaxConcurrency",
		"ResultSelector", "ResultPath", "Assign", "Retry", "Catch", "ToleratedFailurePercentage",
		"ToleratedFailureCount",
	},
	kindParallel: {
		"Next", "End", "InputPath", "OutputPath", "Parameters", "Branches", "ResultSelector", "ResultPath", "Assign",
		"Retry", "Catch",
	},
	kindSucceed: {"InputPath", "OutputPath"},
	kindFail:    {"Error", "ErrorPath", "Cause", "CausePath"},
}

// allowFields returns an error for a field that is not listed.
func allowFields(fields map[string]json.RawMessage, allowed ...string) error {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, name) {
			return fmt.Errorf("field %q is outside the subset", name)
		}
	}
	return nil
}

// decodeField decodes the field name into a T. An absent field gives the zero value.
func decodeField[T any](fields map[string]json.RawMessage, name string) (T, error) {
	var v T
	raw, ok := fields[name]
	if !ok {
		return v, nil
	}
	if string(raw) == "null" {
		return v, fmt.Errorf("field %q must not be null", name)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("field %q must be %s", name, describeType(v))
	}
	return v, nil
}

func describeType(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int, int64:
		return "an integer"
	case float64:
		return "a number"
	}
	return "an array or object of the right members"
}

// checkLanguage returns an error for every query language except JSONPath.
func checkLanguage(fields map[string]json.RawMessage) error {
	l, err := decodeField[string](fields, "QueryLanguage")
	if err != nil {
		return err
	}
	if l != "" && l != "JSONPath" {
		return fmt.Errorf("field \"QueryLanguage\": %q is outside the subset, which has JSONPath only", l)
	}
	return nil
}

func (p *parser) parseMachine(fields map[string]json.RawMessage) (*Machine, error) {
	var m Machine
	err := allowFields(fields, "Comment", "QueryLanguage", "StartAt", "States", "TimeoutSeconds", "Version")
	if err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}
	version, errV := decodeField[string](fields, "Version")
	if errV == nil && version != "" && version != "1.0" {
		errV = fmt.Errorf("field \"Version\" must be \"1.0\", not %q", version)
	}
	var errC, errT error
	m.Comment, errC = decodeField[string](fields, "Comment")
	m.TimeoutSeconds, errT = decodeField[int64](fields, "TimeoutSeconds")
	if errT == nil && (m.TimeoutSeconds < 0 || m.TimeoutSeconds > maxSeconds) {
		errT = fmt.Errorf("field \"TimeoutSeconds\" must be between 0 and %d", maxSeconds)
	}
	if err := errors.Join(checkLanguage(fields), errV, errC, errT); err != nil {
		return nil, fmt.Errorf("state machine: %w", err)
	}
	m.top, err = p.parseLevel(fields, -1, "")
	return &m, err
}

// parseLevel parses StartAt and States. The states can read the variables of the level outer; -1 means none.
func (p *parser) parseLevel(fields map[string]json.RawMessage, outer int, at string) (*level, error) {
	var l level
	var err error
	where := func(err error) error {
		return fmt.Errorf("%s: %w", cmpOr(strings.TrimSuffix(at, "."), "state machine"), err)
	}
	if l.startAt, err = decodeField[string](fields, "StartAt"); err != nil {
		return nil, where(err)
	}
	states, err := decodeObject(fields["States"])
	if err != nil {
		return nil, where(fmt.Errorf("field \"States\": %w", err))
	}
	p.levels = append(p.levels, variables{outer: outer, assigned: map[string]bool{}, used: map[string]string{}})
	self := len(p.levels) - 1
	l.states = make(map[string]*state, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s, err := p.parseState(name, states[name], self, at)
		if err != nil {
			return nil, fmt.Errorf("state %q: %w", at+name, err)
		}
		l.states[name] = s
	}
	if err := l.checkConnected(); err != nil {
		return nil, where(err)
	}
	return &l, nil
}

func cmpOr(s, or string) string {
	if s == "" {
		return or
	}
	return "state \"" + s + "\""
}

// checkConnected checks that all states that are named exist, and that every state can be reached.
func (l *level) checkConnected() error {
	if l.states[l.startAt] == nil {
		return fmt.Errorf("field \"StartAt\": there is no state %q", l.startAt)
	}
	reached, todo := map[string]bool{l.startAt: true}, []string{l.startAt}
	for len(todo) > 0 {
		s := l.states[todo[0]]
		todo = todo[1:]
		for _, t := range s.targets() {
			if l.states[t] == nil {
				return fmt.Errorf("state %q leads to %q, which does not exist", s.name, t)
			}
			if !reached[t] {
				reached[t] = true
				todo = append(todo, t)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.states)) {
		if !reached[name] {
			return fmt.Errorf("state %q cannot be reached", name)
		}
	}
	return nil
}

// targets returns the states that may follow s.
func (s *state) targets() []string {
	var out []string
	if s.next != "" {
		out = append(out, s.next)
	}
	for _, c := range s.catch {
		out = append(out, c.next)
	}
	for _, r := range s.choice {
		out = append(out, r.next)
	}
	return out
}

// parseState parses one state.
func (p *parser) parseState(name string, raw json.RawMessage, self int, at string) (*state, error) {
	if err := p.checkUnique(name); err != nil {
		return nil, err
	}
	fields, err := decodeObject(raw)
	if err != nil {
		return nil, err
	}
	typ, err := decodeField[string](fields, "Type")
	if err != nil {
		return nil, err
	}
	allowed, ok := fieldsOf[kind(typ)]
	if !ok {
		return nil, fmt.Errorf("field \"Type\": %q is outside the subset", typ)
	}
	if err := allowFields(fields, append([]string{"Type", "Comment", "QueryLanguage"}, allowed...)...); err != nil {
		return nil, fmt.Errorf("a %s state: %w", typ, err)
	}
	if err := checkLanguage(fields); err != nil {
		return nil, err
	}
	s := &state{name: name, kind: kind(typ)}
	r := &reader{parser: p, fields: fields, state: s, self: self, at: at}
	if err := r.readFields(); err != nil {
		return nil, err
	}
	p.noteVariables(s, self)
	return s, nil
}

func (p *parser) checkUnique(name string) error {
	if name == "" || len([]rune(name)) > 80 {
		return errors.New("the name of a state has 1 to 80 characters")
	}
	if p.names[name] {
		return errors.New("there is another state of this name; names are unique in a machine")
	}
	p.names[name] = true
	return nil
}
