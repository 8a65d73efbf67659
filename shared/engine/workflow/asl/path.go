package asl

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// scope holds the values that a path can read: "$" the data, "$$" the context object, "$name" the variables.
type scope struct {
	data    any
	context func() map[string]any
	vars    map[string]any
}

// root is the start of a path.
type root uint8

const (
	rootData root = iota
	rootContext
	rootVariable
)

// step is one part of a path: a member, an index, or all elements.
type step struct {
	name  string
	index int
	kind  stepKind
}

type stepKind uint8

const (
	stepMember stepKind = iota
	stepIndex
	stepEach
)

// path is a JSONPath of the subset: $, $$ or $name, followed by .name, ['name'], [n] and [*].
type path struct {
	text     string
	root     root
	variable string
	steps    []step
}

// parsePath parses a path.
func parsePath(text string) (*path, error) {
	p := &path{text: text}
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return nil, fmt.Errorf("%q is not a path: it does not begin with $", text)
	}
	switch {
	case strings.HasPrefix(rest, "$"):
		p.root, rest = rootContext, rest[1:]
	case rest != "" && rest[0] != '.' && rest[0] != '[':
		n := strings.IndexAny(rest, ".[")
		if n < 0 {
			n = len(rest)
		}
		p.root, p.variable, rest = rootVariable, rest[:n], rest[n:]
		if !isIdentifier(p.variable) {
			return nil, fmt.Errorf("path %q: %q is not a variable's name", text, p.variable)
		}
	}
	for rest != "" {
		s, after, err := parseStep(rest)
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", text, err)
		}
		p.steps, rest = append(p.steps, s), after
	}
	return p, nil
}

// parseStep parses the first step of r, and returns the rest of r.
func parseStep(r string) (step, string, error) {
	if r[0] == '[' {
		return parseBracket(r[1:])
	}
	if r[0] != '.' {
		return step{}, "", fmt.Errorf("unexpected %q", r)
	}
	n := strings.IndexAny(r[1:], ".[") + 1
	if n == 0 {
		n = len(r)
	}
	name := r[1:n]
	if name == "" || strings.ContainsAny(name, "*?()@ ,'\"$\\") {
		return step{}, "", fmt.Errorf("%q is outside the subset of .name, ['name'], [n] and [*]", r)
	}
	return step{name: name}, r[n:], nil
}

// parseBracket parses the text after a [.
func parseBracket(r string) (step, string, error) {
	if r != "" && (r[0] == '\'' || r[0] == '"') {
		n := strings.IndexByte(r[1:], r[0])
		if n < 0 || !strings.HasPrefix(r[n+2:], "]") || strings.Contains(r[1:n+1], `\`) {
			return step{}, "", fmt.Errorf("[%s is not ['name']", r)
		}
		return step{name: r[1 : n+1]}, r[n+3:], nil
	}
	in, after, ok := strings.Cut(r, "]")
	if !ok {
		return step{}, "", fmt.Errorf("[%s has no ]", r)
	}
	if in == "*" {
		return step{kind: stepEach}, after, nil
	}
	n, err := strconv.ParseUint(in, 10, 31)
	if err != nil {
		return step{}, "", fmt.Errorf("[%s] is outside the subset of .name, ['name'], [n] and [*]", in)
	}
	return step{kind: stepIndex, index: int(n)}, after, nil
}

// isIdentifier reports whether s is a valid name of a variable.
func isIdentifier(s string) bool {
	if s == "" || len(s) > 80 {
		return false
	}
	for i, c := range s {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// isReference reports whether the path refers to a single place: it has no [*].
func (p *path) isReference() bool {
	for _, s := range p.steps {
		if s.kind == stepEach {
			return false
		}
	}
	return true
}

// evaluate returns the value at the path. It returns States.Runtime if there is none.
func (p *path) evaluate(sc scope) (any, error) {
	v, ok := p.findValue(sc)
	if !ok {
		return nil, newError(errRuntime, "the path %q could not be found", p.text)
	}
	return v, nil
}

// findValue returns the value at the path, and whether there is one.
func (p *path) findValue(sc scope) (any, bool) {
	cur := sc.data
	switch p.root {
	case rootData:
	case rootContext:
		cur = sc.context()
	case rootVariable:
		v, ok := sc.vars[p.variable]
		if !ok {
			return nil, false
		}
		cur = v
	}
	return walkSteps(cur, p.steps)
}

func walkSteps(cur any, steps []step) (any, bool) {
	for i, s := range steps {
		switch s.kind {
		case stepEach:
			return walkEach(cur, steps[i+1:])
		case stepIndex:
			a, ok := cur.([]any)
			if !ok || s.index >= len(a) {
				return nil, false
			}
			cur = a[s.index]
		case stepMember:
			m, ok := cur.(map[string]any)
			if !ok {
				return nil, false
			}
			if cur, ok = m[s.name]; !ok {
				return nil, false
			}
		}
	}
	return cur, true
}

// walkEach follows steps from every element of an array. It leaves out elements that do not have them.
func walkEach(cur any, steps []step) (any, bool) {
	a, ok := cur.([]any)
	if !ok {
		return nil, false
	}
	out := make([]any, 0, len(a))
	for _, e := range a {
		if v, ok := walkSteps(e, steps); ok {
			out = append(out, v)
		}
	}
	return out, true
}

// placeValue returns a copy of data with v at the path. It creates missing objects on the way. ResultPath uses it.
func (p *path) placeValue(data, v any) (any, error) {
	return p.placeAt(data, p.steps, v)
}

func (p *path) placeAt(data any, steps []step, v any) (any, error) {
	if len(steps) == 0 {
		return v, nil
	}
	m, ok := data.(map[string]any)
	if !ok && data != nil {
		return nil, newError(errResultPath, "unable to apply ResultPath %q: there is something else than an object "+
			"on the way", p.text)
	}
	inner, err := p.placeAt(m[steps[0].name], steps[1:], v)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(m)+1)
	maps.Copy(out, m)
	out[steps[0].name] = inner
	return out, nil
}

// parseResultPath parses a ResultPath, which may only have members of the data.
func parseResultPath(text string) (*path, error) {
	p, err := parsePath(text)
	if err != nil {
		return nil, err
	}
	for _, s := range p.steps {
		if s.kind != stepMember {
			return nil, fmt.Errorf("path %q: a result can be placed under .name and ['name'] only", text)
		}
	}
	if p.root != rootData {
		return nil, fmt.Errorf("path %q: a result can be placed in the input only", text)
	}
	return p, nil
}
