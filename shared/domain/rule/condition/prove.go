package condition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/foundation/fault"
)

// Evidence is what a recommendation was decided on: values of facts and metrics and parameters, by their names in the
// condition.
type Evidence struct {
	Values     map[string]any
	Thresholds map[string]any
	At         time.Time
}

// Proof is the result of a condition on stored evidence. Evidence does not say why a metric is missing. If the
// condition is unknown without it, it counts as measured without points, and NoPoints names it.
type Proof struct {
	Truth    Truth
	Missing  []string
	NoPoints []string
}

// Prove evaluates a rule on stored evidence. An error is of kind fault.Invalid: the rule does not compile, or the
// evidence is of another rule.
func (c *Catalogue) Prove(r *rule.Rule, e Evidence) (Proof, error) {
	of, err := c.Compile(r)
	if err != nil {
		return Proof{}, err
	}
	params, err := of.bindThresholds(e.Thresholds)
	if err != nil {
		return Proof{}, err
	}
	s, err := c.NewSubject(r.Type)
	if err != nil {
		return Proof{}, err
	}
	s.Now = e.At
	example, err := of.exampleOf(e.Values)
	if err != nil {
		return Proof{}, err
	}
	for _, name := range of.Metrics {
		if _, measured := example.M[name]; !measured {
			example.NoPoints = append(example.NoPoints, name)
		}
	}
	without := example
	without.NoPoints = nil
	for _, try := range []Example{without, example} {
		if err = s.Give(try); err != nil {
			return Proof{}, err
		}
		result := s.Evaluate(of, params)
		if result.Truth != Unknown || len(try.NoPoints) == len(example.NoPoints) {
			return Proof{result.Truth, missingNames(result), try.NoPoints}, nil
		}
	}
	return Proof{}, nil
}

// bindThresholds returns the parameters with the values of evidence.
func (c *Condition) bindThresholds(values map[string]any) (*Params, error) {
	all := slices.Clone(c.Params)
	for i, p := range all {
		text := fmt.Sprint(values[p.Name])
		switch v := values[p.Name].(type) {
		case nil:
			return nil, invalid(c.Rule, "the evidence has no parameter %s: it is of another version of the rule",
				p.Name)
		case float64:
			text = strconv.FormatFloat(v, 'f', -1, 64)
		}
		var err error
		if all[i], err = p.With(text); err != nil {
			return nil, invalid(c.Rule, "%s", fault.Message(err))
		}
	}
	return c.Bind(all)
}

// isAdded reports whether an evaluation adds a value to the evidence beside those that the condition reads: the
// environment, which decides whether a change may run without approval, the values that formulas have found, and the
// needs and limits of sizes.
func isAdded(name string) bool {
	return name == "env" || slices.ContainsFunc([]string{rule.TargetValue(""), "need_", "limit_"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// exampleOf sorts values by facts and metrics. It leaves out those that an evaluation adds.
func (c *Condition) exampleOf(values map[string]any) (Example, error) {
	out := Example{Res: map[string]any{}, M: map[string]float64{}}
	for name, v := range values {
		if slices.Contains(c.Facts, name) {
			out.Res[name] = v
			continue
		}
		if isAdded(name) {
			continue
		}
		number, is := v.(float64)
		if !is || !slices.Contains(c.Metrics, name) {
			return out, invalid(c.Rule, "its condition does not read %s, which the evidence has: it is of another "+
				"version of the rule", show(name))
		}
		out.M[name] = number
	}
	return out, nil
}
