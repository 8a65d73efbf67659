package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// rule is one element of Choices.
type rule struct {
	test   test
	next   string
	assign expr
}

// test is a condition on data.
type test interface {
	holds(sc scope) (bool, error)
	reads() []*path
}

// readChoices parses Choices.
func (r *reader) readChoices() error {
	list, err := decodeField[[]json.RawMessage](r.fields, "Choices")
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("field \"Choices\" must have at least one rule")
	}
	for i, raw := range list {
		rl, err := parseRule(raw)
		if err != nil {
			return fmt.Errorf("rule %d of Choices: %w", i, err)
		}
		r.state.choice = append(r.state.choice, rl)
	}
	return nil
}

// parseRule parses a rule, which has Next and may have Assign.
func parseRule(raw json.RawMessage) (rule, error) {
	fields, err := decodeObject(raw)
	if err != nil {
		return rule{}, err
	}
	var rl rule
	if rl.next, err = decodeField[string](fields, "Next"); err != nil {
		return rl, err
	}
	if rl.next == "" {
		return rl, errors.New("field \"Next\" is missing")
	}
	if rl.assign, err = parseAssign(fields); err != nil {
		return rl, err
	}
	for _, name := range []string{"Next", "Assign", "Comment"} {
		delete(fields, name)
	}
	rl.test, err = parseTest(fields, 0)
	return rl, err
}

// maxTests is how deep And, Or and Not may be nested.
const maxTests = 32

func parseTest(fields map[string]json.RawMessage, depth int) (test, error) {
	if depth > maxTests {
		return nil, fmt.Errorf("more than %d tests within one another", maxTests)
	}
	if _, ok := fields["Variable"]; ok {
		return parseComparison(fields)
	}
	if len(fields) != 1 {
		return nil, errors.New("a rule has Variable and one comparison, or one of And, Or, Not")
	}
	for name, raw := range fields {
		switch name {
		case "And", "Or":
			list, err := parseTests(raw, depth)
			return combined{list, name == "Or"}, err
		case "Not":
			inner, err := decodeObject(raw)
			if err != nil {
				return nil, fmt.Errorf("under Not: %w", err)
			}
			t, err := parseTest(inner, depth+1)
			return negated{t}, err
		}
	}
	return nil, fmt.Errorf("field %q is outside the subset", slices.Collect(maps.Keys(fields))[0])
}

func parseTests(raw json.RawMessage, depth int) ([]test, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 {
		return nil, errors.New("the fields And and Or must have an array of rules")
	}
	out := make([]test, len(list))
	for i, r := range list {
		fields, err := decodeObject(r)
		if err != nil {
			return nil, err
		}
		if out[i], err = parseTest(fields, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// combined is an And, or an Or if any is set.
type combined struct {
	tests []test
	any   bool
}

func (c combined) holds(sc scope) (bool, error) {
	for _, t := range c.tests {
		ok, err := t.holds(sc)
		if err != nil || ok == c.any {
			return ok, err
		}
	}
	return !c.any, nil
}

func (c combined) reads() []*path {
	var out []*path
	for _, t := range c.tests {
		out = append(out, t.reads()...)
	}
	return out
}

// negated is a Not.
type negated struct{ test test }

func (n negated) holds(sc scope) (bool, error) {
	ok, err := n.test.holds(sc)
	return !ok, err
}

func (n negated) reads() []*path { return n.test.reads() }

// comparison compares the value of a variable with a constant, or with the value at another path.
type comparison struct {
	variable *path
	compare  func(v, want any) bool
	want     any
	wantPath *path
	present  bool // it is IsPresent, which does not need the value
}

func (c comparison) reads() []*path { return []*path{c.variable, c.wantPath} }

func (c comparison) holds(sc scope) (bool, error) {
	v, ok := c.variable.findValue(sc)
	if c.present {
		return ok == c.want, nil
	}
	if !ok {
		return false, newError(
			errRuntime, "invalid path %q: the choice's variable is not in the input", c.variable.text)
	}
	want := c.want
	if c.wantPath != nil {
		var err error
		if want, err = c.wantPath.evaluate(sc); err != nil {
			return false, err
		}
	}
	return c.compare(v, want), nil
}

// parseComparison parses Variable and its comparison.
func parseComparison(fields map[string]json.RawMessage) (test, error) {
	text, err := decodeField[string](fields, "Variable")
	if err != nil {
		return nil, err
	}
	var c comparison
	if c.variable, err = parsePath(text); err != nil {
		return nil, fmt.Errorf("field \"Variable\": %w", err)
	}
	delete(fields, "Variable")
	delete(fields, "Comment")
	if len(fields) != 1 {
		return nil, errors.New("a rule has exactly one comparison beside Variable")
	}
	for op, raw := range fields {
		if err := c.parseOperator(op, raw); err != nil {
			return nil, fmt.Errorf("field %q: %w", op, err)
		}
	}
	return c, nil
}

// parseOperator parses the comparison op and its operand.
func (c *comparison) parseOperator(op string, raw json.RawMessage) error {
	want, err := decodeJSON(raw)
	if err != nil {
		return err
	}
	if is, ok := typeTests[op]; ok {
		expected, isBool := want.(bool)
		if !isBool {
			return errors.New("must be true or false")
		}
		c.want, c.present = expected, op == "IsPresent"
		c.compare = func(v, _ any) bool { return is(v) == expected }
		return nil
	}
	base, isPath := strings.CutSuffix(op, "Path")
	cmp, ok := comparisons[base]
	if !ok || isPath && base == "StringMatches" {
		return errors.New("is outside the subset")
	}
	c.compare, c.want = cmp.holds, want
	if !isPath && !cmp.accepts(want) {
		return fmt.Errorf("cannot compare with %s", displayText(want))
	}
	if isPath {
		text, _ := want.(string)
		c.wantPath, err = parseReference(text)
	}
	return err
}
