// Package rulechecker is the worker that checks own rules and overrides of recommendations before they are saved. It is
// a function of its own, because cel-go is too large for a function of the API, and because the caller waits, so no
// nightly evaluation may take its executions. It reads and stores nothing.
package rulechecker

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Handler checks the rules of a recommendation.RuleCheck, and returns the document that they make. A mistake is of kind
// fault.Invalid.
func Handler(p *platform.Platform) workflow.Handler {
	c := &checker{condition.NewCatalogue(), p.Clock}
	return c.handle
}

type checker struct {
	catalogue *condition.Catalogue
	clock     clock.Clock
}

func (c *checker) handle(_ context.Context, input json.RawMessage) (any, error) {
	var in recommendation.RuleCheck
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fault.NewWithCause(fault.Internal, err, "the checker was sent no rules")
	}
	d := in.Document
	if in.Text != "" {
		written, err := condition.ReadDocument([]byte(in.Text))
		if err != nil {
			return nil, fault.New(fault.KindOf(err), "document: %s", fault.Message(err))
		}
		d.Add(written)
	}
	return recommendation.CheckedRules{Document: d}, c.catalogue.CheckDocument(&d, c.clock.Now())
}
