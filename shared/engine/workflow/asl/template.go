package asl

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// expr is an expression that is evaluated when a state runs.
type expr interface {
	evaluate(sc scope) (any, error)
	// paths calls visit for every path that the expression reads.
	paths(visit func(*path))
	// steady reports whether the expression gives the same value each time it is evaluated with the same data.
	steady() bool
}

// constant is a literal value.
type constant struct{ v any }

func (c constant) evaluate(scope) (any, error) { return c.v, nil }
func (c constant) paths(func(*path))           {}
func (c constant) steady() bool                { return true }

func (p *path) paths(visit func(*path)) { visit(p) }

func (p *path) steady() bool {
	return p.root != rootContext || len(p.steps) > 0 && p.steps[0].name != "State"
}

// members is an object with at least one computed member.
type members map[string]expr

func (m members) evaluate(sc scope) (any, error) {
	out := make(map[string]any, len(m))
	for k, e := range m {
		v, err := e.evaluate(sc)
		if err != nil {
			return nil, err
		}
		out[k] = v
	}
	return out, nil
}

func (m members) paths(visit func(*path)) { visitPaths(maps.Values(m), visit) }

func (m members) steady() bool { return allSteady(maps.Values(m)) }

// elements is an array with at least one computed element.
type elements []expr

func (l elements) evaluate(sc scope) (any, error) {
	out := make([]any, len(l))
	for i, e := range l {
		v, err := e.evaluate(sc)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (l elements) paths(visit func(*path)) { visitPaths(slices.Values(l), visit) }

func (l elements) steady() bool { return allSteady(slices.Values(l)) }

// visitPaths calls visit for the paths in all parts of an expression.
func visitPaths(parts iter.Seq[expr], visit func(*path)) {
	for e := range parts {
		e.paths(visit)
	}
}

// allSteady reports whether all parts of an expression are steady.
func allSteady(parts iter.Seq[expr]) bool {
	for e := range parts {
		if !e.steady() {
			return false
		}
	}
	return true
}

// parseTemplate parses a payload template: a member whose name ends in ".$" is a path or an intrinsic.
func parseTemplate(raw json.RawMessage) (expr, error) {
	v, err := decodeJSON(raw)
	if err != nil {
		return nil, err
	}
	return compileTemplate(v)
}

func compileTemplate(v any) (expr, error) {
	switch x := v.(type) {
	case map[string]any:
		return compileObject(x)
	case []any:
		return compileArray(x)
	}
	return constant{v}, nil
}

func compileObject(m map[string]any) (expr, error) {
	out, fixed := members{}, true
	for k, v := range m {
		name, computed := strings.CutSuffix(k, ".$")
		e, err := compileMember(k, v, computed)
		if err != nil {
			return nil, err
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%q and %q are both given", name, name+".$")
		}
		out[name] = e
		if _, is := e.(constant); !is {
			fixed = false
		}
	}
	if fixed {
		return constant{m}, nil
	}
	return out, nil
}

func compileMember(k string, v any, computed bool) (expr, error) {
	if !computed {
		return compileTemplate(v)
	}
	text, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("%q must be a string: a path or an intrinsic", k)
	}
	e, err := parseExpr(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", k, err)
	}
	return e, nil
}

func compileArray(a []any) (expr, error) {
	out, fixed := make(elements, len(a)), true
	for i, v := range a {
		e, err := compileTemplate(v)
		if err != nil {
			return nil, err
		}
		out[i] = e
		if _, is := e.(constant); !is {
			fixed = false
		}
	}
	if fixed {
		return constant{a}, nil
	}
	return out, nil
}

// parseExpr parses a path or an intrinsic.
func parseExpr(text string) (expr, error) {
	if strings.HasPrefix(text, "States.") {
		return parseCall(text)
	}
	return parsePath(text)
}
