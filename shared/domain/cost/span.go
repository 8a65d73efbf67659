package cost

import (
	"cmp"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// span is the days of a period that a question covers.
type span struct {
	pointer  *pointer
	left     map[string]string // sub-accounts to exclude, because they count on another bill
	from, to int               // days of the month, from 0; to is exclusive
	offset   int               // of the first day among the days of the question
}

// whole reports whether the span is all days of the month, so that the sums of the month answer it.
func (s *span) whole() bool { return s.from == 0 && s.to == s.pointer.Month.Days() }

// spansOf returns the days of each period that a question covers. A sub-account counts on one bill of a month, and
// estimates count on the days after the bill of their account.
func spansOf(pointers []pointer, q *Question) ([]span, error) {
	of, err := newSources(pointers)
	if err != nil {
		return nil, err
	}
	own := map[chargedOn]*pointer{} // by account, for accounts that no other bill contains
	for i := range pointers {
		if p := &pointers[i]; !p.Estimated {
			own[chargedOn{month: p.Month, account: p.AccountID}] = p
		}
	}
	var out []span
	for i := range pointers {
		p := &pointers[i]
		left, whole := of.superseded(p)
		from, to := clock.Latest(q.From, p.Month.Start()), clock.Earliest(q.To, p.Month.End())
		if bill := cmp.Or(of.billOf(p), own[chargedOn{month: p.Month, account: p.AccountID}]); p.Estimated &&
			bill != nil {
			from = clock.Latest(from, bill.estimatedFrom())
		}
		if whole || !from.Before(to) || !q.mayConcern(p) || q.BillsOnly && p.Estimated {
			continue
		}
		start := p.Month.Start()
		out = append(out, span{p, left, daysBetween(start, from), daysBetween(start, to), daysBetween(q.From, from)})
	}
	return out, nil
}

// estimatedFrom returns the first day on which an estimate counts in addition to the bill.
func (p *pointer) estimatedFrom() time.Time {
	switch {
	case p.Final:
		return p.Month.End()
	case p.BilledThrough.IsZero():
		return p.Month.Start()
	}
	return p.BilledThrough.Add(day)
}

// mayConcern reports whether a period can match the filter, as far as the pointer shows.
func (q *Question) mayConcern(p *pointer) bool {
	if !q.passes(ProviderDim, p.Provider) {
		return false
	}
	listed, ok := q.Filter[AccountDim]
	return !ok || slices.ContainsFunc(listed, p.Bills)
}
