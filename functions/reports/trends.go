package reports

import (
	"context"
	"time"

	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

// TrendPoint is the cost of a day, week or month.
type TrendPoint struct {
	Date      string `json:"date" doc:"Its first day" example:"2026-03-01"`
	CostUSD   string `json:"costUSD" example:"12.34"`
	Estimated bool   `json:"estimated" doc:"Some of it is estimated"`
}

// CostPoint is the cost and the savings of a day, week or month.
type CostPoint struct {
	TrendPoint
	SavingsUSD string   `json:"savingsUSD" example:"1.15"`
	SeriesUSD  []string `json:"seriesUSD" doc:"The cost of each of the series, in their order; they add up to costUSD" example:"[\"12.34\"]"`
}

// Trends is the costs over time.
type Trends struct {
	Basis
	TotalSavingsUSD string        `json:"totalSavingsUSD"`
	Granularity     string        `json:"granularity" enum:"day,week,month"`
	Dims            []string      `json:"dims"`
	Series          []TrendSeries `json:"series" doc:"The values of dims, the most expensive first; empty without dims"`
	Items           []CostPoint   `json:"items"`
}

// TrendInput holds the parameters of a trend. It is exported so that the framework sees its fields where it is
// embedded.
type TrendInput struct {
	report.Asked
	Granularity string `query:"granularity" enum:"day,week,month" default:"day"`
}

// SeriesInput selects the series of a trend. It is exported so that the framework sees its fields where it is embedded.
type SeriesInput struct {
	Dims  []string `query:"dims" maxItems:"2" doc:"The dimensions by which each point is split; none when left out" example:"provider"`
	Limit int      `query:"limit" minimum:"1" maximum:"25" default:"8" doc:"How many values are series of their own; all others are one with other true"`
}

func (s *service) trends(ctx context.Context, in *TrendInput, by SeriesInput) (Trends, error) {
	q, err := s.Question(ctx, &in.Asked, report.Recent(in.Granularity), cost.Billed)
	if err != nil {
		return Trends{}, err
	}
	q.Dims = by.Dims
	a, err := s.series(ctx, q)
	if err != nil {
		return Trends{}, err
	}
	savings, err := s.savedByDay(ctx, &q)
	if err != nil {
		return Trends{}, err
	}
	parts, err := s.splitTrend(ctx, &q, &a, by.Limit)
	if err != nil {
		return Trends{}, err
	}
	out := newTrends(&q, &a, savings, in.Granularity)
	out.addSeries(&q, &a, &parts)
	out.Basis, err = s.basis(ctx, &q, &a)
	return out, err
}

// addSeries adds the series of an answer to each point.
func (t *Trends) addSeries(q *cost.Question, a *cost.Answer, parts *trendSeries) {
	b := bucket(t.Granularity, q.From, a)
	t.Dims, t.Series = append([]string{}, q.Dims...), parts.shown
	for i := range t.Items {
		t.Items[i].SeriesUSD = parts.seriesOf(&b, i, t.Items[i].CostUSD)
	}
}

// newTrends returns trends without their Basis and series.
func newTrends(q *cost.Question, a *cost.Answer, savings []money.Amount, granularity string) Trends {
	b := bucket(granularity, q.From, a)
	total := money.Sum(savings...)
	out := Trends{
		TotalSavingsUSD: total.Fixed(2), Granularity: granularity, Items: make([]CostPoint, len(b.first)),
	}
	sums := make([]money.Amount, len(b.first))
	for d := range savings {
		sums[b.of[d]].Increase(&savings[d])
	}
	shown := cents(sums)
	for i, p := range b.points(a.Total) {
		out.Items[i] = CostPoint{TrendPoint: p, SavingsUSD: shown[i].Fixed(2)}
	}
	return out
}

// buckets are the days of an answer, grouped into days, weeks or months.
type buckets struct {
	first     []time.Time // the first day of each
	amounts   []money.Amount
	estimated []bool
	of        []int // the bucket of each day
}

// bucket groups the days of an answer by granularity.
func bucket(granularity string, from time.Time, a *cost.Answer) buckets {
	var b buckets
	for d := range a.Days {
		at := from.AddDate(0, 0, d)
		if n := len(b.first); n == 0 || begins(granularity, at) {
			b.first, b.amounts, b.estimated = append(b.first, at), append(b.amounts, money.Amount{}),
				append(b.estimated, false)
		}
		n := len(b.first) - 1
		b.of = append(b.of, n)
		b.amounts[n].Increase(&a.Days[d])
		b.estimated[n] = b.estimated[n] || a.Estimated[d]
	}
	return b
}

// begins reports whether a bucket begins on the day at.
func begins(granularity string, at time.Time) bool {
	switch granularity {
	case "week":
		return at.Weekday() == time.Monday
	case "month":
		return at.Day() == 1
	}
	return true
}

// points returns the buckets in cents that add up to total.
func (b *buckets) points(total money.Amount) []TrendPoint {
	out := make([]TrendPoint, len(b.first))
	for i, amount := range money.RoundPartsTo(b.amounts, total, 2) {
		out[i] = TrendPoint{b.first[i].Format(time.DateOnly), amount.Fixed(2), b.estimated[i]}
	}
	return out
}

// parts returns the sum of each series in the n-th bucket, in cents that add up to shown, the displayed amount of the
// bucket.
func (b *buckets) parts(series [][]money.Amount, n int, shown string) []money.Amount {
	sums := make([]money.Amount, len(series))
	for i := range series {
		for d := range series[i] {
			if b.of[d] == n {
				sums[i].Increase(&series[i][d])
			}
		}
	}
	return money.RoundPartsTo(sums, money.MustParse(shown), 2)
}
