package condition

import (
	"maps"
	"math"
	"slices"
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// Params are the values of the parameters of a condition.
type Params struct {
	*layout
	values []ref.Val
}

func (p *Params) read(at int) ref.Val { return p.values[at] }
func (p *Params) has(int) ref.Val     { return types.True }

// newParams returns the parameters of a rule, in the order of their names.
func newParams(r Rule) (*Params, error) {
	out := &Params{layout: newLayout("p", nil)}
	for _, name := range slices.Sorted(maps.Keys(r.Params)) {
		v, err := paramOf(r, name, r.Params[name])
		if err != nil {
			return nil, err
		}
		out.values = append(out.values, v)
		out.add(Field{name, paramKind(v)})
	}
	return out, nil
}

func paramKind(v ref.Val) Kind {
	if v.Type() == types.DurationType {
		return duration
	}
	return Number
}

// paramOf returns the value of a parameter: a finite number, or a duration as "336h".
func paramOf(r Rule, name string, v any) (ref.Val, error) {
	switch v := v.(type) {
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return types.Double(v), nil
		}
	case int:
		return types.Double(v), nil
	case string:
		if d, err := time.ParseDuration(v); err == nil {
			return types.Duration{Duration: d}, nil
		}
	}
	return nil, invalid(r, "parameter %s is %q (%T); give a number or a duration as \"336h\"", name, show(v), v)
}

// with returns the parameters with other values.
func (p *Params) with(r Rule, override map[string]any) (*Params, error) {
	out := &Params{p.layout, slices.Clone(p.values)}
	for _, name := range slices.Sorted(maps.Keys(override)) {
		at, known := p.number[name]
		if !known {
			return nil, invalid(r, "it has no parameter %q%s", name, suggest(name, p.names()))
		}
		v, err := paramOf(r, name, override[name])
		if err != nil {
			return nil, err
		}
		if paramKind(v) != p.fields[at].Kind {
			return nil, invalid(r, "parameter %s is %q; give a %s", name, show(override[name]), p.fields[at].Kind)
		}
		out.values[at] = v
	}
	return out, nil
}
