// Package condition evaluates the conditions of the rules. A condition is an expression in CEL over the facts, the
// metrics and the parameters of a resource. Its result is true, false, or unknown with the names of the missing facts
// and metrics. Only workers link this package, because cel-go takes 11 MB of a program.
package condition

import (
	"fmt"
	"slices"

	"cel.dev/cel-go/cel"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// Condition is the compiled condition of a rule. Any number of goroutines may use it.
type Condition struct {
	*rule.Rule
	Facts   []string // names of the facts that it reads, in the order of their first use
	Metrics []string // names of the metrics that it reads, in the order of their first use
	Cost    uint64   // the greatest cost of an evaluation, in cel's units

	program cel.Program
	params  *Params
	schema  *schema
	// some missing value may have no influence on the result: "a || b"
	absorbs bool
}

// Limits of a condition.
const (
	MaxBytes = 16_000 // of its text
	MaxCost  = 10_000 // of an evaluation, in cel's units
)

// Compile compiles the condition of a rule. An error is of kind fault.Invalid. It names the rule, the line and the
// column, the wrong part and the way out.
func (c *Catalogue) Compile(r *rule.Rule) (*Condition, error) {
	if err := checkSize(r); err != nil {
		return nil, err
	}
	s, err := c.schema(r.Type)
	if err != nil {
		return nil, invalid(r, "%s", fault.Message(err))
	}
	env, err := c.language()
	if err != nil {
		return nil, err
	}
	out := &Condition{Rule: r, params: newParams(r.Params), schema: s}
	return out, out.compile(env)
}

// compile parses, checks and plans the condition.
func (c *Condition) compile(env *cel.Env) error {
	parsed, issues := env.Parse(c.Condition)
	if issues.Err() != nil {
		return c.explainIssue(issues)
	}
	w := newWalk(c, parsed.NativeRep())
	if err := w.check(); err != nil {
		return err
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil {
		return c.explainIssue(issues)
	}
	if !checked.OutputType().IsExactType(cel.BoolType) {
		return invalid(c.Rule, "its result is of type %s; a condition is true or false: compare the result with a "+
			"value", kindOf(checked.OutputType()))
	}
	if err := c.checkCost(env, checked); err != nil {
		return err
	}
	program, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return invalid(c.Rule, "a text in it cannot be read: %s; write patterns in the syntax of RE2, times in RFC "+
			"3339, and durations as '336h'", fault.CleanText(err.Error(), maxMessage))
	}
	c.program = program
	return nil
}

// Default returns the parameters of the rule.
func (c *Condition) Default() *Params { return c.params }

// Bind returns parameters with the values of an override, for all parameters of the rule (rule.Param.With). An error
// is of kind fault.Invalid: a parameter is missing or of another kind.
func (c *Condition) Bind(override []rule.Param) (*Params, error) {
	p := newParams(override)
	if !slices.Equal(p.fields, c.params.fields) {
		return nil, invalid(c.Rule, "its parameters are %v; the override has %v", c.params.fields, p.fields)
	}
	return p, nil
}

// invalid returns an error of kind fault.Invalid about a rule.
func invalid(r *rule.Rule, format string, args ...any) error {
	return fault.New(fault.Invalid, "rule %s: %s", fault.CleanText(r.ID, maxShown), fmt.Sprintf(format, args...))
}
