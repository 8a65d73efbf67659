package reports

import (
	"context"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
)

// basis returns the basis of a report from a question and its answer.
func (s *service) basis(ctx context.Context, q *cost.Question, a *cost.Answer) (Basis, error) {
	out, err := s.importedBasis(ctx, q, a)
	if err != nil {
		return out, err
	}
	return out, s.attribute(ctx, &out, q, a.Attribution)
}

// importedBasis returns the basis of a report without AttributedFrom.
func (s *service) importedBasis(ctx context.Context, q *cost.Question, a *cost.Answer) (Basis, error) {
	out, now := newBasis(q, a), s.p.Clock.Now()
	out.cover(q, a.Attribution, now)
	var err error
	if out.Incomplete, err = s.IncompleteMonths(ctx, q); err != nil {
		return out, err
	}
	if out.CostSource = report.CostSource(q, a, now); len(out.Incomplete) > 0 {
		out.CostSource = report.EstimatedCost
	}
	return out, nil
}

// summaryBasis returns the basis of a summary. Its incomplete months are also those of the month before, and of the
// history of a forecast; its source is that of the month alone.
func (s *service) summaryBasis(ctx context.Context, q *cost.Question, h *history) (Basis, error) {
	out, err := s.basis(ctx, q, &h.month)
	if err != nil {
		return out, err
	}
	all, now := *q, s.p.Clock.Now()
	if all.From = cost.MonthOf(q.From).Add(-1).Start(); now.Before(q.To) {
		all.From = h.First
	}
	out.Incomplete, err = s.IncompleteMonths(ctx, &all)
	return out, err
}
