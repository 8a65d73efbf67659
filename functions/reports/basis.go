package reports

import (
	"slices"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// Basis describes the days, the kind of cost and the source of the figures in a report.
type Basis struct {
	Cost        string                   `json:"cost" enum:"billed,effective,list" doc:"Which cost counts"`
	From        string                   `json:"from" doc:"The first day" example:"2026-03-01"`
	To          string                   `json:"to" doc:"The day behind the last" example:"2026-04-01"`
	TotalUSD    string                   `json:"totalUSD" doc:"The total: the parts of each level of the report add up to it" example:"1234.56"`
	Estimated   bool                     `json:"estimated" doc:"Some of it is estimated from public prices, as the bill has not come"`
	CostSource  string                   `json:"costSource" enum:"estimated,actual" doc:"actual if every day up to the day before yesterday is billed and no month is incomplete, else estimated"`
	Incomplete  []report.IncompleteMonth `json:"incomplete" doc:"The months whose bills are not all imported, because the first import of an account is under way or has failed; their costs grow until then"`
	Unconverted []report.Unconverted     `json:"unconverted" doc:"The charges in currencies without a known exchange rate; they are in no figure"`
	// CoveredFrom and CoveredTo are set by cover.
	CoveredFrom *string `json:"coveredFrom" doc:"The first day of the report in a month with bills or estimates; null if no month has any. Days before it have no costs here, whatever they cost" example:"2026-03-01"`
	CoveredTo   *string `json:"coveredTo" doc:"The day behind the last day in a month with bills or estimates that has begun; null if no month has any" example:"2026-03-12"`
	// AttributedFrom is set by attribute.
	AttributedFrom *string `json:"attributedFrom" doc:"If the report splits or filters costs by team or resource group: the first day from which on they follow the present resources of these teams and groups; earlier days follow those of an earlier time. It lies behind the last day with costs if no day follows them yet, and is null if all days do. Open months follow a change within some minutes, closed months some minutes later, as far back as the setting attributionMonths says" example:"2026-03-01"`
}

// newBasis returns the basis of a report without CostSource and Incomplete, which service.basis adds.
func newBasis(q *cost.Question, a *cost.Answer) Basis {
	out := Basis{
		Cost: string(q.Metric), From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly),
		TotalUSD:  a.Total.Fixed(2),
		Estimated: slices.Contains(a.Estimated, true), Unconverted: report.NewUnconverted(a.Unconverted),
	}
	return out
}

// cover sets CoveredFrom and CoveredTo for the months of an answer.
func (b *Basis) cover(q *cost.Question, months cost.Attribution, now time.Time) {
	from, to := months.Covered()
	from = clock.Latest(from, q.From)
	to = clock.Earliest(clock.Earliest(to, q.To), report.Midnight(now).AddDate(0, 0, 1))
	if to.After(from) {
		b.CoveredFrom, b.CoveredTo = new(from.Format(time.DateOnly)), new(to.Format(time.DateOnly))
	}
}

// cents rounds parts to cents. The rounded parts add up to the rounded sum.
func cents(parts []money.Amount) []money.Amount { return money.RoundParts(parts, 2) }

// amountsOf returns the amounts of rows, rounded to cents that add up.
func amountsOf(rows []cost.Row) []money.Amount {
	out := make([]money.Amount, len(rows))
	for i := range rows {
		out[i] = rows[i].Amount
	}
	return cents(out)
}
