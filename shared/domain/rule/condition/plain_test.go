package condition

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// missing is an unknown value: the names of the values that are missing.
type missing map[string]bool

// failed is the value of an expression that cannot be evaluated.
type failed string

// sample is one set of facts, metrics, settings and parameters, for both implementations. A missing name is unknown.
// A metric in none was queried and has no points.
type sample struct {
	res, m, org, p map[string]any
	none           map[string]bool
}

// scope is a sample with the variables of loops.
type scope struct {
	sample
	local map[string]any
}

// plainly evaluates an expression: bool, float64, string, time.Time, time.Duration, []any, map[string]string, missing
// or failed.
func (s scope) plainly(n *node) any {
	switch n.op {
	case "number":
		return n.num
	case "text":
		return n.text
	case "name":
		return s.name(n.text)
	case "&&":
		return s.either(n, false)
	case "||":
		return s.either(n, true)
	case "?:":
		return s.choose(n)
	case ".":
		return s.field(n.args[0].text, n.text)
	case "call":
		if n.text == "has" {
			return s.present(n.args[0])
		}
	case "method":
		if n.text == "exists" {
			return s.exists(n)
		}
	}
	args := make([]any, len(n.args))
	for i, a := range n.args {
		args[i] = s.plainly(a)
	}
	if bad := strict(args); bad != nil {
		return bad
	}
	return apply(n, args)
}

func (s scope) name(name string) any {
	switch v, local := s.local[name]; {
	case local:
		return v
	case name == "now":
		return at
	case name == "true", name == "false":
		return name == "true"
	}
	return failed("unknown name " + name)
}

func (s scope) field(group, name string) any {
	v, ok := map[string]map[string]any{"res": s.res, "m": s.m, "org": s.org, "p": s.p}[group][name]
	if !ok {
		return missing{group + "." + name: true}
	}
	return v
}

// present evaluates has(m.x).
func (s scope) present(n *node) any {
	v := s.field(n.args[0].text, n.text)
	if _, unknown := v.(missing); !unknown {
		return true
	}
	if n.args[0].text == "m" && s.none[n.text] {
		return false
	}
	return v
}

// either evaluates "a || b" (decisive true) and "a && b" (decisive false).
func (s scope) either(n *node, decisive bool) any {
	return settle([]any{s.plainly(n.args[0]), s.plainly(n.args[1])}, decisive)
}

// settle returns the decisive value if there is one, else the union of what is missing, else a failure, else the other
// value.
func settle(values []any, decisive bool) any {
	var fault any
	unknown := missing{}
	for _, v := range values {
		switch v := v.(type) {
		case bool:
			if v == decisive {
				return decisive
			}
		case missing:
			maps.Copy(unknown, v)
		default:
			fault = v
		}
	}
	switch {
	case len(unknown) > 0:
		return unknown
	case fault != nil:
		return fault
	}
	return !decisive
}

func (s scope) choose(n *node) any {
	switch c := s.plainly(n.args[0]).(type) {
	case bool:
		if c {
			return s.plainly(n.args[1])
		}
		return s.plainly(n.args[2])
	default:
		return c
	}
}

func (s scope) exists(n *node) any {
	list := s.plainly(n.args[0])
	items, ok := list.([]any)
	if !ok {
		return list
	}
	var values []any
	for _, item := range items {
		values = append(values, scope{s.sample, map[string]any{n.args[1].text: item}}.plainly(n.args[2]))
	}
	return settle(values, true)
}

// strict returns a failed or missing argument, nil if all are known.
func strict(args []any) any {
	unknown := missing{}
	for _, a := range args {
		switch a := a.(type) {
		case failed:
			return a
		case missing:
			maps.Copy(unknown, a)
		}
	}
	if len(unknown) > 0 {
		return unknown
	}
	return nil
}

// apply evaluates an operator or a function of known arguments.
func apply(n *node, args []any) any {
	switch n.op {
	case "list":
		return args
	case "not!":
		return !args[0].(bool)
	case "not-":
		return -args[0].(float64)
	case "==":
		return equal(args[0], args[1])
	case "!=":
		return !equal(args[0], args[1])
	case "in":
		return contains(args[1], args[0])
	case "[]":
		if v, ok := args[0].(map[string]string)[args[1].(string)]; ok {
			return v
		}
		return failed("no such key")
	case "call", "method":
		return invoke(n.text, args)
	case "+", "-", "*", "/":
		return compute(n.op, args[0], args[1])
	}
	order := compare(args[0], args[1])
	return map[string]bool{"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[n.op]
}

func equal(a, b any) bool {
	if x, ok := a.(time.Time); ok {
		return x.Equal(b.(time.Time))
	}
	return a == b
}

func contains(in, what any) bool {
	if m, ok := in.(map[string]string); ok {
		_, has := m[what.(string)]
		return has
	}
	return slices.Contains(in.([]any), what)
}

func compare(a, b any) int {
	switch x := a.(type) {
	case time.Time:
		return x.Compare(b.(time.Time))
	case time.Duration:
		return cmp.Compare(x, b.(time.Duration))
	case string:
		return strings.Compare(x, b.(string))
	}
	return cmp.Compare(a.(float64), b.(float64))
}

func compute(op string, a, b any) any {
	switch x := a.(type) {
	case time.Time:
		return x.Sub(b.(time.Time)) // at most 292 years
	case string:
		return x + b.(string)
	}
	x, y := a.(float64), b.(float64)
	if op == "/" && y == 0 {
		return failed("division by zero")
	}
	return map[string]float64{"+": x + y, "-": x - y, "*": x * y, "/": x / y}[op]
}

func invoke(name string, args []any) any {
	switch name {
	case "duration":
		if d, is := args[0].(time.Duration); is {
			return d
		}
		d, err := time.ParseDuration(args[0].(string))
		return orFailed(d, err)
	case "timestamp":
		t, err := time.Parse(time.RFC3339, args[0].(string))
		return orFailed(t, err)
	case "size":
		return float64(len(args[0].([]any)))
	}
	a, b := args[0].(string), args[1].(string)
	switch name {
	case "startsWith":
		return strings.HasPrefix(a, b)
	case "endsWith":
		return strings.HasSuffix(a, b)
	case "contains":
		return strings.Contains(a, b)
	case "matches":
		return regexp.MustCompile(b).MatchString(a)
	}
	panic(fmt.Sprintf("no function %s", name))
}

func orFailed(v any, err error) any {
	if err != nil {
		return failed(err.Error())
	}
	return v
}
