package reports

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// books are what reports ask of the store of costs.
type books interface {
	Ask(ctx context.Context, org string, q cost.Question) (cost.Answer, error)
	Summaries(ctx context.Context, org string, from, to cost.Month) ([]cost.Summary, error)
	Periods(ctx context.Context, org string) ([]cost.Period, error)
}

// ask answers a question, and refuses an answer whose parts are not its total. Accepted smart tags count as those of the cloud.
func (s *service) ask(ctx context.Context, q cost.Question) (cost.Answer, error) {
	if !tagged(&q) {
		return s.askBooks(ctx, q)
	}
	smart, err := s.smartTags(ctx)
	if err != nil {
		return cost.Answer{}, err
	}
	if len(smart) == 0 {
		return s.askBooks(ctx, q)
	}
	a, err := s.askBooks(ctx, byResource(q))
	if err != nil {
		return a, err
	}
	out := smart.retag(&q, &a)
	return out, s.balanced(ctx, checkAnswer(&out, q.Daily))
}

func (s *service) askBooks(ctx context.Context, q cost.Question) (cost.Answer, error) {
	a, err := s.books.Ask(ctx, callerOrg(ctx), q)
	if err != nil {
		return a, err
	}
	return a, s.balanced(ctx, checkAnswer(&a, q.Daily))
}

// months returns the summaries of the months in which the days lie.
func (s *service) months(ctx context.Context, from, to time.Time) ([]cost.Summary, error) {
	out, err := s.books.Summaries(ctx, callerOrg(ctx), cost.MonthOf(from), cost.MonthOf(to.Add(-day)))
	for i := range out {
		if err == nil {
			err = s.balanced(ctx, checkSummary(&out[i]))
		}
	}
	return out, err
}

// balanced returns err, which it tells the log: whoever asks gets a 500 rather than a wrong number, and an alarm has somebody look.
func (s *service) balanced(ctx context.Context, err error) error {
	if err != nil {
		s.p.Log.WarnContext(ctx, "a report does not add up", unbalanced, 1, "org", callerOrg(ctx), "error", err.Error())
	}
	return err
}

// unbalanced is the key of the log by which template.yaml counts reports that did not add up.
const unbalanced = "unbalancedReports"

func checkAnswer(a *cost.Answer, daily bool) error {
	var sum money.Amount
	days := make([]money.Amount, len(a.Days))
	for i := range a.Rows {
		r := &a.Rows[i]
		sum.Increase(&r.Amount)
		if daily && money.Sum(r.Days...) != r.Amount {
			return fmt.Errorf("the days of %q add up to %s, not to %s", r.Keys, money.Sum(r.Days...), r.Amount)
		}
		for d := range r.Days {
			days[d].Increase(&r.Days[d])
		}
	}
	if sum != a.Total || !slices.Equal(days, a.Days) {
		return fmt.Errorf("the rows add up to %s, not to %s, or do not on each day", sum, a.Total)
	}
	return nil
}

func checkSummary(m *cost.Summary) error {
	var days cost.Amounts
	for i := range m.Days {
		days.Add(&m.Days[i])
	}
	if days != m.Total {
		return fmt.Errorf("the days of %s add up to %s, not to %s", m.Month, days.Billed, m.Total.Billed)
	}
	for dim, values := range m.By {
		var sum cost.Amounts
		for i := range values {
			sum.Add(&values[i].Amounts)
		}
		if sum != m.Total {
			return fmt.Errorf("%s by %s adds up to %s, not to %s", m.Month, dim, sum.Billed, m.Total.Billed)
		}
	}
	return nil
}

// plain reports whether a question leaves nothing out, so that the summaries of months can answer it.
func plain(q *cost.Question) bool { return q.Within == nil && len(q.Filter) == 0 }

// series returns what costs by day: in one round trip when nothing is left out.
func (s *service) series(ctx context.Context, q cost.Question) (cost.Answer, error) {
	q.Dims, q.Daily = nil, true
	if !plain(&q) || daysBetween(q.From, q.To) > cost.MaxDays {
		return s.ask(ctx, q)
	}
	months, err := s.months(ctx, q.From, q.To)
	return joinDays(months, &q), err
}

// joinDays answers a question that leaves nothing out, of the months in which its days lie.
func joinDays(months []cost.Summary, q *cost.Question) cost.Answer {
	n := daysBetween(q.From, q.To)
	out := cost.Answer{Days: make([]money.Amount, n), Estimated: make([]bool, n)}
	for i := range months {
		m := &months[i]
		days, first := m.Days, daysBetween(q.From, m.Month.Start())
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

// split returns what the values of a dimension cost: in one round trip when nothing is left out of whole months.
func (s *service) split(ctx context.Context, q cost.Question, dim string) (cost.Answer, error) {
	q.Dims, q.Daily = []string{dim}, false
	now := midnight(s.p.Clock.Now()).Add(day)
	whole := q.From.Equal(cost.MonthOf(q.From).Start()) && (q.To.Equal(cost.MonthOf(q.To).Start()) || q.To.Equal(now))
	if !whole || !plain(&q) || !slices.Contains(cost.SummaryDims, dim) {
		return s.ask(ctx, q)
	}
	months, err := s.months(ctx, q.From, q.To)
	if err != nil {
		return cost.Answer{}, err
	}
	if out, ok := addSummaries(months, dim, &q); ok {
		return out, nil
	}
	return s.ask(ctx, q)
}

// addSummaries adds up the values of a dimension; false when a summary does not tell all of them, or has costs of days that are ahead.
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
	slices.SortFunc(out.Rows, func(a, b cost.Row) int {
		if c := b.Amount.Cmp(a.Amount); c != 0 {
			return c
		}
		return slices.Compare(a.Keys, b.Keys)
	})
	return out, true
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
