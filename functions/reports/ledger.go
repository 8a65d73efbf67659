package reports

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

// months returns the summaries of all months from the day from to the day before to.
func (s *service) months(ctx context.Context, from, to time.Time) ([]cost.Summary, error) {
	out, err := s.Books.Summaries(ctx, identity.CallerOrg(ctx), cost.MonthOf(from), cost.MonthOf(to.Add(-report.Day)))
	for i := range out {
		if err == nil {
			err = s.Balanced(ctx, out[i].Check())
		}
	}
	return out, err
}

// plain reports whether a question has no filter and no scope, so that monthly summaries can answer it.
func plain(q *cost.Question) bool { return q.Within == nil && len(q.Filter) == 0 }

// series returns the costs by day. It takes one round trip if the question is plain and has no dimensions.
func (s *service) series(ctx context.Context, q cost.Question) (cost.Answer, error) {
	q.Daily = true
	if len(q.Dims) > 0 || !plain(&q) || report.DaysBetween(q.From, q.To) > cost.MaxDays {
		return s.Ask(ctx, q)
	}
	months, err := s.months(ctx, q.From, q.To)
	out := joinDays(months, &q)
	if len(out.Unconverted) > 0 && !wholeMonths(&q) && err == nil {
		return s.Ask(ctx, q) // summaries tell these amounts of whole months alone
	}
	return out, err
}

// wholeMonths reports whether a question covers each of its months completely.
func wholeMonths(q *cost.Question) bool {
	return q.From.Equal(cost.MonthOf(q.From).Start()) && q.To.Equal(cost.MonthOf(q.To).Start())
}

// joinDays answers a plain question from the summaries of its months.
func joinDays(months []cost.Summary, q *cost.Question) cost.Answer {
	n := report.DaysBetween(q.From, q.To)
	out := cost.Answer{
		Days: make([]money.Amount, n), Estimated: make([]bool, n), Attribution: attributionOf(months),
	}
	for i := range months {
		m := &months[i]
		days, first := m.Days, report.DaysBetween(q.From, m.Month.Start())
		if q.UsageOnly {
			days = m.Usage
		}
		for d := range days {
			if at := first + d; at >= 0 && at < n {
				out.Days[at], out.Estimated[at] = days[d].Of(q.Metric), d < len(m.Estimated) && m.Estimated[d]
			}
		}
		out.Unconverted = addUnconverted(out.Unconverted, m.Unconverted)
	}
	out.Total = money.Sum(out.Days...)
	return out
}

// split returns the costs by the values of a dimension. It takes one round trip if the question is plain and covers
// whole months.
func (s *service) split(ctx context.Context, q cost.Question, dim string) (cost.Answer, error) {
	q.Dims, q.Daily = []string{dim}, false
	now := report.Midnight(s.p.Clock.Now()).Add(report.Day)
	whole := q.From.Equal(cost.MonthOf(q.From).Start()) && (q.To.Equal(cost.MonthOf(q.To).Start()) || q.To.Equal(now))
	if !whole || !plain(&q) || !slices.Contains(cost.SummaryDims, dim) {
		return s.Ask(ctx, q)
	}
	months, err := s.months(ctx, q.From, q.To)
	if err != nil {
		return cost.Answer{}, err
	}
	if out, ok := addSummaries(months, dim, &q); ok {
		return out, nil
	}
	return s.Ask(ctx, q)
}

// addSummaries adds up the values of a dimension. It returns false if a summary lacks some values or contains costs of
// future days.
func addSummaries(months []cost.Summary, dim string, q *cost.Question) (out cost.Answer, ok bool) {
	at := map[string]int{}
	for i := range months {
		m := &months[i]
		for d := range m.Days {
			if !m.Month.Start().AddDate(0, 0, d).Before(q.To) && m.Days[d] != (cost.Amounts{}) {
				return out, false
			}
		}
		for _, v := range m.By[dim] {
			if v.Rest {
				return out, false
			}
			n, had := at[v.Value]
			if !had {
				n = len(out.Rows)
				at[v.Value], out.Rows = n, append(out.Rows, cost.Row{Keys: []string{v.Value}})
			}
			out.Rows[n].Amount = out.Rows[n].Amount.Add(v.Of(q.Metric))
		}
		out.Total = out.Total.Add(m.Total.Of(q.Metric))
		out.Estimated = append(out.Estimated, m.Estimated...)
		out.Unconverted = addUnconverted(out.Unconverted, m.Unconverted)
	}
	out.Attribution = attributionOf(months)
	slices.SortFunc(out.Rows, func(a, b cost.Row) int {
		if c := b.Amount.Cmp(a.Amount); c != 0 {
			return c
		}
		return slices.Compare(a.Keys, b.Keys)
	})
	return out, true
}

func attributionOf(months []cost.Summary) cost.Attribution {
	out := make(cost.Attribution, len(months))
	for i := range months {
		out[months[i].Month] = months[i].AttributedAt
	}
	return out
}

func addUnconverted(to, more []cost.CurrencyTotal) []cost.CurrencyTotal {
	for _, u := range more {
		i := slices.IndexFunc(to, func(t cost.CurrencyTotal) bool { return t.Currency == u.Currency })
		if i < 0 {
			to = append(to, u)
			continue
		}
		to[i].Amount = to[i].Amount.Add(u.Amount)
	}
	return to
}
