package rule

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// ParamKind is the type of a parameter in CEL.
type ParamKind string

// The kinds of parameters. The default of a rule decides the kind: 5 is an int, 0.5 a double, "168h" a duration.
const (
	IntParam      ParamKind = "int"
	DoubleParam   ParamKind = "double"
	DurationParam ParamKind = "duration"
)

// Param is a threshold that a condition reads as p.<name>. Text is the value as written: "5", "0.5", "168h". CEL sees
// a duration as this text, and the condition converts it: duration(p.min_age).
type Param struct {
	Name string
	Kind ParamKind
	Text string
}

// Value returns what CEL sees: an int64, a float64 or the text of a duration.
func (p Param) Value() any {
	switch p.Kind {
	case IntParam:
		n, _ := strconv.ParseInt(p.Text, 10, 64)
		return n
	case DoubleParam:
		f, _ := strconv.ParseFloat(p.Text, 64)
		return f
	default:
		return p.Text
	}
}

// maxParam is the largest absolute value of a number, far above every threshold of the table.
const maxParam = 1e15

// With returns the parameter with another value. The value must be of the parameter's kind; a whole number is a
// double too. The kind of an error is Invalid.
func (p Param) With(text string) (Param, error) {
	kind, ok := paramKind(text)
	if !ok || kind != p.Kind && (kind != IntParam || p.Kind != DoubleParam) {
		return Param{}, fault.New(fault.Invalid, "parameter %s is %q: give %s", p.Name, fault.CleanText(text, 40),
			paramForms[p.Kind])
	}
	p.Text = text
	return p, nil
}

var paramForms = map[ParamKind]string{
	IntParam:      "a whole number, as 5",
	DoubleParam:   "a number, as 0.5",
	DurationParam: `a duration in hours, minutes or seconds, as "168h"`,
}

// paramKind returns the kind of a written value, and whether it is one.
func paramKind(text string) (ParamKind, bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return IntParam, n <= maxParam && n >= -maxParam
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return DoubleParam, f <= maxParam && f >= -maxParam // false for NaN
	}
	d, err := time.ParseDuration(text)
	return DurationParam, err == nil && d >= 0
}

// ParseParams reads the parameters of a rule from a JSON object of numbers and durations, as {"days":25,"age":"720h"},
// and returns them by name. The kind of an error is Invalid.
func ParseParams(object string) ([]Param, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err,
			`parameters are no JSON object of numbers and durations, as {"days":25,"min_age":"720h"}`)
	}
	out := make([]Param, 0, len(raw))
	for name, value := range raw {
		text, quoted := strings.CutPrefix(string(value), `"`)
		text = strings.TrimSuffix(text, `"`)
		kind, ok := paramKind(text)
		if !ok || quoted != (kind == DurationParam) || !isName(name) {
			return nil, fault.New(fault.Invalid, "parameter %s is %s: give a number, or a duration as \"168h\"",
				fault.CleanText(name, 40), fault.CleanText(string(value), 40))
		}
		out = append(out, Param{name, kind, text})
	}
	slices.SortFunc(out, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// isName reports whether text is the name of a fact, metric or parameter: a lower-case letter, then letters, digits
// and underscores.
func isName(text string) bool {
	for i, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != ""
}
