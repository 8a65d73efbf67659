package asl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// rule is one element of Choices.
type rule struct {
	test   test
	next   string
	assign expr
}

// test is a condition on the data.
type test interface {
	holds(sc scope) (bool, error)
	reads() []*path
}

// choice reads Choices.
func (r *reader) choice() error {
	list, err := read[[]json.RawMessage](r.fields, "Choices")
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

// parseRule reads a rule, which has Next and may have Assign.
func parseRule(raw json.RawMessage) (rule, error) {
	fields, err := object(raw)
	if err != nil {
		return rule{}, err
	}
	var rl rule
	if rl.next, err = read[string](fields, "Next"); err != nil {
		return rl, err
	}
	if rl.next == "" {
		return rl, errors.New("field \"Next\" is missing")
	}
	if rl.assign, err = assignment(fields); err != nil {
		return rl, err
	}
	for _, name := range []string{"Next", "Assign", "Comment"} {
		delete(fields, name)
	}
	rl.test, err = parseTest(fields, 0)
	return rl, err
}

// maxTests is how deep And, Or and Not may stand in one another.
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
			inner, err := object(raw)
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
		return nil, errors.New("what And and Or combine must be an array of rules")
	}
	out := make([]test, len(list))
	for i, r := range list {
		fields, err := object(r)
		if err != nil {
			return nil, err
		}
		if out[i], err = parseTest(fields, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// combined is And, or Or when any is set.
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

// negated is Not.
type negated struct{ test test }

func (n negated) holds(sc scope) (bool, error) {
	ok, err := n.test.holds(sc)
	return !ok, err
}

func (n negated) reads() []*path { return n.test.reads() }

// comparison tests the value of a variable, against a value or against what another path holds.
type comparison struct {
	variable *path
	compare  func(v, want any) bool
	want     any
	wantPath *path
	present  bool // IsPresent, whose answer does not need the value
}

func (c comparison) reads() []*path { return []*path{c.variable, c.wantPath} }

func (c comparison) holds(sc scope) (bool, error) {
	v, ok := c.variable.find(sc)
	if c.present {
		return ok == c.want, nil
	}
	if !ok {
		return false, raise(errRuntime, "invalid path %q: the choice's variable is not in the input", c.variable.text)
	}
	want := c.want
	if c.wantPath != nil {
		var err error
		if want, err = c.wantPath.eval(sc); err != nil {
			return false, err
		}
	}
	return c.compare(v, want), nil
}

// parseComparison reads Variable and the one comparison beside it.
func parseComparison(fields map[string]json.RawMessage) (test, error) {
	text, err := read[string](fields, "Variable")
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
		if err := c.against(op, raw); err != nil {
			return nil, fmt.Errorf("field %q: %w", op, err)
		}
	}
	return c, nil
}

// against reads the comparison op and what it compares with.
func (c *comparison) against(op string, raw json.RawMessage) error {
	want, err := decode(raw)
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
		return fmt.Errorf("cannot compare with %s", display(want))
	}
	if isPath {
		text, _ := want.(string)
		c.wantPath, err = reference(text)
	}
	return err
}

// typeTests are the tests of what a value is. IsPresent is answered without the value.
var typeTests = map[string]func(v any) bool{
	"IsPresent":   func(any) bool { return true },
	"IsNull":      func(v any) bool { return v == nil },
	"IsString":    isString,
	"IsNumeric":   isNumber,
	"IsBoolean":   func(v any) bool { _, ok := v.(bool); return ok },
	"IsTimestamp": isTimestamp,
}

func isString(v any) bool { _, ok := v.(string); return ok }
func isNumber(v any) bool { _, ok := number(v); return ok }

func isTimestamp(v any) bool {
	s, ok := v.(string)
	if ok {
		_, ok = timestamp(s)
	}
	return ok
}

// timestamp reads the profile of RFC 3339 that the language uses: T and Z in upper case.
func timestamp(s string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, s)
	return t, err == nil && !strings.ContainsAny(s, "tz")
}

// ordering is a comparison of two values of one type; values of another type never hold.
type ordering struct {
	accepts func(v any) bool
	holds   func(v, want any) bool
}

// comparisons are the tests that have a Path variant, and StringMatches.
var comparisons = func() map[string]ordering {
	out := map[string]ordering{
		"BooleanEquals": {
			accepts: typeTests["IsBoolean"],
			holds:   func(v, want any) bool { b, ok := v.(bool); return ok && b == want },
		},
		"StringMatches": {accepts: isString, holds: func(v, want any) bool {
			s, ok := v.(string)
			pattern, _ := want.(string)
			return ok && glob(pattern, s)
		}},
	}
	relations := map[string]func(c int) bool{
		"Equals":            func(c int) bool { return c == 0 },
		"LessThan":          func(c int) bool { return c < 0 },
		"LessThanEquals":    func(c int) bool { return c <= 0 },
		"GreaterThan":       func(c int) bool { return c > 0 },
		"GreaterThanEquals": func(c int) bool { return c >= 0 },
	}
	types := map[string]struct {
		accepts func(any) bool
		compare func(v, want any) int
	}{
		"String":    {isString, func(v, want any) int { return strings.Compare(v.(string), want.(string)) }},          //nolint:forcetypeassert // both accepted
		"Numeric":   {isNumber, func(v, want any) int { return compareNumbers(v.(json.Number), want.(json.Number)) }}, //nolint:forcetypeassert // both accepted
		"Timestamp": {isTimestamp, compareTimes},
	}
	for name, t := range types {
		for rel, meets := range relations {
			out[name+rel] = ordering{t.accepts, func(v, want any) bool {
				return t.accepts(v) && t.accepts(want) && meets(t.compare(v, want))
			}}
		}
	}
	return out
}()

func compareTimes(v, want any) int {
	a, _ := timestamp(v.(string))    //nolint:forcetypeassert // both accepted
	b, _ := timestamp(want.(string)) //nolint:forcetypeassert // both accepted
	return a.Compare(b)
}

// glob matches a StringMatches pattern: * is any text, \* a star, \\ a backslash.
func glob(pattern, s string) bool {
	var parts []string // the texts between the stars
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '*':
			parts = append(parts, b.String())
			b.Reset()
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		default:
			b.WriteByte(pattern[i])
		}
	}
	last := b.String()
	if len(parts) == 0 {
		return s == last
	}
	s, ok := strings.CutPrefix(s, parts[0])
	if !ok || len(s) < len(last) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[:len(s)-len(last)]
	for _, p := range parts[1:] {
		if _, s, ok = strings.Cut(s, p); !ok {
			return false
		}
	}
	return true
}
