package recommender

import (
	"context"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/fault"
)

// checkRules checks own rules and overrides before they are saved. A mistake is an answer and no error: errors of tasks
// raise alarms.
func (w *worker) checkRules(_ context.Context, in recommendation.RuleCheck) (recommendation.RuleCheckAnswer, error) {
	d := in.Document
	if in.Text != "" {
		written, err := condition.ReadDocument([]byte(in.Text))
		if err != nil {
			return recommendation.RuleCheckAnswer{Problem: "document: " + fault.Message(err)}, nil
		}
		d.Add(written)
	}
	if err := w.compiler.catalogue.CheckDocument(&d, w.Clock.Now()); err != nil {
		if fault.Is(err, fault.Invalid) {
			return recommendation.RuleCheckAnswer{Problem: fault.Message(err)}, nil
		}
		return recommendation.RuleCheckAnswer{}, err
	}
	return recommendation.RuleCheckAnswer{Document: &d}, nil
}
