package recommender

import (
	"fmt"
	"sync"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
)

// compiledRule is a rule with its compiled condition.
type compiledRule struct {
	*rule.Rule
	condition *condition.Condition // nil of an own rule that no longer compiles
	window    int                  // the longest window of its metrics, in days; 0 without metrics
	standard  *setting             // without overrides
}

func newCompiledRule(kind string, r *rule.Rule, c *condition.Condition) compiledRule {
	return compiledRule{r, c, windowOf(kind, c.Metrics), &setting{
		enabled: true, severity: r.Severity, params: c.Default(), thresholds: thresholds(r.Params),
	}}
}

// compiler compiles the rules of types, each type when it is first evaluated. Any number of goroutines may use it.
type compiler struct {
	catalogue *condition.Catalogue
	types     sync.Map // of func() ([]compiledRule, error), by type
	kept      kept
}

func newCompiler() *compiler { return &compiler{catalogue: condition.NewCatalogue()} }

// rulesOf returns the compiled built-in rules for resources of a type.
func (c *compiler) rulesOf(kind string) ([]compiledRule, error) {
	compile, _ := c.types.LoadOrStore(kind, sync.OnceValues(func() ([]compiledRule, error) {
		return c.compileRules(kind)
	}))
	return compile.(func() ([]compiledRule, error))()
}

// compileRules compiles the rules of a type; none for a type that the catalogue of clouds does not have.
func (c *compiler) compileRules(kind string) ([]compiledRule, error) {
	if !isKnownType(kind) {
		return nil, nil
	}
	var out []compiledRule
	for _, r := range rule.ForType(kind) {
		if isAccountType(kind) && r.Type != kind {
			continue // tags and regions are those of resources
		}
		one, err := c.catalogue.Compile(r)
		if err != nil {
			return nil, fmt.Errorf("compile the rules of %s: %w", kind, err)
		}
		out = append(out, newCompiledRule(kind, r, one))
	}
	return out, nil
}

// windowOf returns the longest window of metrics, in days.
func windowOf(kind string, metrics []string) (days int) {
	for _, name := range metrics {
		if m, ok := rule.MetricOf(kind, name); ok {
			days = max(days, m.Days)
		}
	}
	return days
}

// thresholds returns parameters by name, as evidence shows them.
func thresholds(params []rule.Param) map[string]any {
	out := make(map[string]any, len(params))
	for _, p := range params {
		out[p.Name] = p.Value()
	}
	return out
}
