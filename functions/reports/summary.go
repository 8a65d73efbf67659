package reports

import (
	"context"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Forecast is the expected cost of a whole month.
type Forecast struct {
	Low  string `json:"low"`
	Mean string `json:"mean"`
	High string `json:"high"`
}

// MonthSummary is the cost of a month, with its savings and its forecast.
type MonthSummary struct {
	Basis
	Period          string    `json:"period" example:"2026-03"`
	TotalCostUSD    string    `json:"totalCostUSD" example:"1234.56"`
	TotalSavingsUSD string    `json:"totalSavingsUSD" doc:"The savings of the month from stopped resources: GET /reports/savings"`
	PreviousUSD     string    `json:"previousUSD" doc:"The cost of the whole month before"`
	ResourceCount   int       `json:"resourceCount" doc:"Resources in the inventory now"`
	ForecastUSD     *Forecast `json:"forecastUSD" doc:"Null of a month that is over"`
}

type summaryInput struct {
	Cost   string `query:"cost" enum:"billed,effective,list" doc:"Which cost counts"`
	Period string `query:"period" maxLength:"7" doc:"The month" example:"2026-03"`
	rest.Selection
}

func (s *service) summary(ctx context.Context, in *summaryInput) (MonthSummary, error) {
	asked := report.Asked{Cost: in.Cost, Period: in.Period, Selection: in.Selection}
	q, err := s.Question(ctx, &asked, report.ThisMonth, cost.Billed)
	if err != nil {
		return MonthSummary{}, err
	}
	m := cost.MonthOf(q.From)
	q.To = m.End()
	h, err := s.history(ctx, q, m)
	if err != nil {
		return MonthSummary{}, err
	}
	count, err := s.count(ctx)
	if err != nil {
		return MonthSummary{}, err
	}
	savings, err := s.savedByDay(ctx, &q)
	if err != nil {
		return MonthSummary{}, err
	}
	b, err := s.summaryBasis(ctx, &q, &h)
	if err != nil {
		return MonthSummary{}, err
	}
	out := MonthSummary{
		TotalSavingsUSD: money.Sum(savings...).Fixed(2), Basis: b, Period: m.String(),
		TotalCostUSD: h.month.Total.Fixed(2),
		PreviousUSD:  h.previous.Fixed(2), ResourceCount: count,
	}
	if now := s.p.Clock.Now(); now.Before(m.End()) {
		out.ForecastUSD = h.forecast(now)
	}
	return out, nil
}

// history holds the daily costs of a month and of the month before.
type history struct {
	budgeting.History
	month    cost.Answer
	previous money.Amount
}

// history reads the costs of a month and of the month before. It takes one round trip if the question is plain.
func (s *service) history(ctx context.Context, q cost.Question, m cost.Month) (history, error) {
	q.From, q.To = budgeting.HistoryFrom(m.Start()), m.End()
	c, err := s.chargesOf(ctx, q)
	if err != nil {
		return history{}, err
	}
	all := c.all
	h := history{History: budgeting.History{
		First: q.From, Billed: all.Days, Usage: c.usage.Days, Settled: s.lastSettled(&c, &q),
	}}
	first, before := report.DaysBetween(q.From, m.Start()), report.DaysBetween(q.From, m.Add(-1).Start())
	h.previous = money.Sum(all.Days[before:first]...)
	h.month = cost.Answer{
		Total: money.Sum(all.Days[first:]...), Days: all.Days[first:],
		Estimated: all.Estimated[first:], Attribution: all.Attribution,
	}
	if len(all.Unconverted) > 0 {
		h.month.Unconverted, err = s.unconverted(ctx, q, m)
	}
	return h, err
}

// unconverted returns the amounts of a month that have no exchange rate.
func (s *service) unconverted(ctx context.Context, q cost.Question, m cost.Month) ([]cost.CurrencyTotal, error) {
	q.From, q.To, q.Dims, q.Daily = m.Start(), m.End(), nil, false
	a, err := s.Ask(ctx, q)
	return a.Unconverted, err
}

// charges is the daily costs of a question.
type charges struct {
	all, usage cost.Answer          // of all charges, and of usage charges alone
	settled    map[string]time.Time // cost.SettledByAccount; nil if the summaries were made by an earlier version
}

// chargesOf returns the daily costs of a question. It takes one round trip if the question is plain.
func (s *service) chargesOf(ctx context.Context, q cost.Question) (charges, error) {
	only := q
	only.UsageOnly = true
	if plain(&q) {
		months, err := s.months(ctx, q.From, q.To)
		return charges{joinDays(months, &q), joinDays(months, &only), joinSettled(months)}, err
	}
	periods, err := s.Books.Periods(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return charges{}, err
	}
	c := charges{settled: cost.SettledByAccount(periods)}
	if c.all, err = s.series(ctx, q); err == nil {
		c.usage, err = s.series(ctx, only)
	}
	return c, err
}

// joinSettled returns the last day with complete bills of each account in some months.
func joinSettled(months []cost.Summary) map[string]time.Time {
	var out map[string]time.Time
	for i := range months {
		for account, through := range months[i].Settled {
			if out == nil {
				out = map[string]time.Time{}
			}
			out[account] = clock.Latest(out[account], through)
		}
	}
	return out
}

// lastSettled returns the last day with complete bills of the accounts of a question, as for a budget.
func (s *service) lastSettled(c *charges, q *cost.Question) time.Time {
	if c.settled == nil {
		return s.lastBilled(&c.all, q.From)
	}
	settled := c.settled
	if accounts := q.Filter[cost.AccountDim]; len(accounts) > 0 {
		settled = maps.Clone(settled)
		maps.DeleteFunc(settled, func(account string, _ time.Time) bool { return !slices.Contains(accounts, account) })
	}
	return budgeting.LastSettled(settled, s.p.Clock.Now())
}

// lastBilled returns the day two days ago, or the last day with costs if that is earlier.
func (s *service) lastBilled(a *cost.Answer, from time.Time) time.Time {
	last := budgeting.LatestSettled(s.p.Clock.Now())
	for n := report.DaysBetween(from, last); n > 0 && n < len(a.Days) && a.Days[n].IsZero(); n-- {
		last = last.Add(-report.Day)
	}
	return last
}

// forecast returns the expected cost of the present month.
func (h *history) forecast(now time.Time) *Forecast {
	b := budgeting.Budget{Period: budgeting.Month}
	st := b.Stand(&h.History, now)
	return &Forecast{st.Forecast.Low.Fixed(2), st.Forecast.Mean.Fixed(2), st.Forecast.High.Fixed(2)}
}

// count counts the resources that the caller may see.
func (s *service) count(ctx context.Context) (int, error) {
	c := identity.CallerFrom(ctx)
	sum, err := s.Inventory.SummarizeResources(ctx, c.Org, inventory.Filter{Sight: inventory.SightOf(c, reading)})
	return sum.Total, fault.Wrap("count resources", err)
}
