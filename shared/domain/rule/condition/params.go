package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"lamplighter.dev/shared/domain/rule"
)

// Params are the values of the parameters of a condition. Any number of goroutines may use them.
type Params struct {
	*layout
	values []ref.Val
}

func (p *Params) read(at int) ref.Val { return p.values[at] }
func (p *Params) has(int) ref.Val     { return types.True }

// newParams returns parameters for cel. Whole numbers are numbers as all others, and a duration is a duration and not
// its text; duration(p.min_age) leaves it as it is.
func newParams(all []rule.Param) *Params {
	out := &Params{layout: newLayout("p", nil)}
	for _, p := range all {
		v, kind := paramValue(p)
		out.values = append(out.values, v)
		out.add(field{p.Name, kind})
	}
	return out
}

func paramValue(p rule.Param) (ref.Val, Kind) {
	switch v := p.Value().(type) {
	case int64:
		return types.Double(v), Number
	case float64:
		return types.Double(v), Number
	}
	d, _ := time.ParseDuration(p.Text) // of a checked parameter
	return types.Duration{Duration: d}, duration
}
