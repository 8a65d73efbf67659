package recommendation

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// Worker is the name of the function that evaluates and checks rules. API functions link no CEL.
const Worker = "recommender"

// CheckRulesTask is the task of Worker that checks own rules and overrides: its input is a RuleCheck, its answer a
// RuleCheckAnswer.
const CheckRulesTask = "check"

// RuleCheck asks whether own rules and overrides can be saved: those of Document, and those that Text has in YAML or
// JSON.
type RuleCheck struct {
	Org      string        `json:"org"`
	Document rule.Document `json:"document"`
	Text     string        `json:"text,omitempty"`
}

// Organisation returns the organization that asks.
func (c RuleCheck) Organisation() string { return c.Org }

// RuleCheckAnswer is the first mistake, and the whole document if there is none.
type RuleCheckAnswer struct {
	Problem  string         `json:"problem,omitempty"`
	Document *rule.Document `json:"document,omitempty"`
}

// CheckRules has the worker check own rules and overrides. It returns the document, or fault.Invalid for the first
// mistake with its rule, the place and the way out.
func CheckRules(ctx context.Context, by lambdacall.Invoker, c RuleCheck) (rule.Document, error) {
	var out RuleCheckAnswer
	err := by.RunTask(ctx, Worker, map[string]any{"task": CheckRulesTask, "input": c}, &out)
	switch {
	case err != nil:
		return rule.Document{}, fmt.Errorf("check rules of %s: %w", c.Org, err)
	case out.Problem != "":
		return rule.Document{}, fault.New(fault.Invalid, "%s", out.Problem)
	case out.Document == nil:
		return rule.Document{}, fault.New(fault.Internal, "the worker %s answered no document", Worker)
	}
	return *out.Document, nil
}
