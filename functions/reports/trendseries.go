package reports

import (
	"context"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

// TrendSeries is one combination of values of a trend's dimensions, or the sum of all that are not shown one by one.
type TrendSeries struct {
	Values  []*string `json:"values" doc:"A value of each dimension, in their order; null where a charge has none, and of others"`
	Labels  []string  `json:"labels" doc:"The names of the values, in their order" example:"[\"aws\"]"`
	CostUSD string    `json:"costUSD" doc:"In all days together" example:"12.34"`
	Other   bool      `json:"other" doc:"All smaller ones together"`
}

// trendSeries is the series of a trend with their days, the most expensive first.
type trendSeries struct {
	shown []TrendSeries
	days  [][]money.Amount
}

// splitTrend splits an answer by its dimensions into at most limit series and one with all others. It is empty without
// dimensions. The shown costs add up to the shown total.
func (s *service) splitTrend(ctx context.Context, q *cost.Question, a *cost.Answer, limit int) (trendSeries, error) {
	out := trendSeries{shown: []TrendSeries{}}
	if len(q.Dims) == 0 {
		return out, nil
	}
	labels, err := s.labels.Read(ctx, q.Dims...)
	if err != nil {
		return out, err
	}
	var others []money.Amount
	for i := range a.Rows {
		row := &a.Rows[i]
		if i >= limit {
			others = report.AddDays(others, row.Days.Amounts())
			continue
		}
		out.shown = append(out.shown, newTrendSeries(q.Dims, row.Keys, labels))
		out.days = append(out.days, row.Days.Amounts())
	}
	if others != nil {
		other := newTrendSeries(q.Dims, make([]string, len(q.Dims)), nil)
		other.Labels, other.Other = []string{"Other"}, true
		out.shown, out.days = append(out.shown, other), append(out.days, others)
	}
	out.setCosts(a.Total)
	return out, nil
}

func newTrendSeries(dims, keys []string, labels report.Labels) TrendSeries {
	out := TrendSeries{Values: make([]*string, len(keys)), Labels: make([]string, len(keys))}
	for i, key := range keys {
		out.Values[i], out.Labels[i] = rest.Optional(key), labels.Of(dims[i], key)
	}
	return out
}

// setCosts sets the costs of the series, in cents that add up to those of the total.
func (t *trendSeries) setCosts(total money.Amount) {
	sums := make([]money.Amount, len(t.days))
	for i := range t.days {
		sums[i] = money.Sum(t.days[i]...)
	}
	for i, c := range money.RoundPartsTo(sums, total, 2) {
		t.shown[i].CostUSD = c.Fixed(2)
	}
}

// seriesOf returns the costs of the series in a bucket, in cents that add up to the displayed cost of the bucket.
func (t *trendSeries) seriesOf(b *buckets, n int, shown string) []string {
	out := make([]string, len(t.days))
	for i, c := range b.parts(t.days, n, shown) {
		out[i] = c.Fixed(2)
	}
	return out
}
