package cost

import "time"

// span is the days of a period that a question asks for.
type span struct {
	pointer  *pointer
	from, to int // days of the month, from 0; to is exclusive
	offset   int // of the first one among the days of the question
}

// whole reports whether it is all days of the month, so that the sums of the month tell it.
func (s *span) whole() bool { return s.from == 0 && s.to == s.pointer.Month.Days() }

// spansOf returns which days of which periods a question is about. Estimates count only on days behind what is billed in their account.
func spansOf(pointers []pointer, q *Question) []span {
	type period struct {
		month   Month
		account string
	}
	billed := map[period]*pointer{}
	for i := range pointers {
		if p := &pointers[i]; !p.Estimated {
			billed[period{p.Month, p.AccountID}] = p
		}
	}
	var out []span
	for i := range pointers {
		p := &pointers[i]
		from, to := later(q.From, p.Month.Start()), earlier(q.To, p.Month.End())
		if bill := billed[period{p.Month, p.AccountID}]; p.Estimated && bill != nil {
			from = later(from, bill.estimatedFrom())
		}
		if !from.Before(to) || !q.mayConcern(p) {
			continue
		}
		start := p.Month.Start()
		out = append(out, span{p, daysBetween(start, from), daysBetween(start, to), daysBetween(q.From, from)})
	}
	return out
}

// estimatedFrom returns the first day on which an estimate counts beside the bill.
func (p *pointer) estimatedFrom() time.Time {
	switch {
	case p.Final:
		return p.Month.End()
	case p.BilledThrough.IsZero():
		return p.Month.Start()
	}
	return p.BilledThrough.Add(day)
}

// mayConcern reports whether the filter leaves anything of a period, as far as the pointer tells.
func (q *Question) mayConcern(p *pointer) bool {
	return q.passes(ProviderDim, p.Provider) && q.passes(AccountDim, p.AccountID)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
