package recommendation

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/lambdacall"
)

// CheckWorker is the name of the function that checks rules: API functions link no CEL. It is asked with a RuleCheck,
// and answers CheckedRules.
const CheckWorker = "rulechecker"

// RuleCheck asks whether own rules and overrides can be saved: those of Document, and those that Text has in YAML or
// JSON.
type RuleCheck struct {
	Org      string        `json:"org"` // for the log
	Document rule.Document `json:"document"`
	Text     string        `json:"text,omitempty"`
}

// CheckedRules is the document of a RuleCheck, with the rules of its text.
type CheckedRules struct {
	Document rule.Document `json:"document"`
}

// CheckRules has the worker check own rules and overrides. It returns the document, or fault.Invalid for the first
// mistake with its rule, the place and the way out.
func CheckRules(ctx context.Context, by lambdacall.Invoker, c RuleCheck) (rule.Document, error) {
	var out CheckedRules
	if err := by.Invoke(ctx, CheckWorker, c, &out); err != nil {
		return rule.Document{}, fmt.Errorf("check rules of %s: %w", c.Org, err)
	}
	return out.Document, nil
}
