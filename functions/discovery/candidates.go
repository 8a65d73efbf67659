package discovery

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
)

// perConfirming is how many resources one request for points of 5 minutes names: each has 4,000 points of a measure in
// two weeks.
const perConfirming = 25

// confirmCandidates computes metrics of the candidates from points of 5 minutes, and notes the collection. If the cloud
// does not answer, the next discovery tries again.
func (w *worker) confirmCandidates(ctx context.Context, sh Share, conn cloud.Metered) error {
	sum := sh.Measuring.Sum
	if !sh.Measuring.Confirm {
		return w.measurements.NoteCollection(ctx, sh.Org, sh.AccountID, sum)
	}
	all, err := w.measurements.Candidates(ctx, sh.Org, sh.AccountID)
	if err != nil {
		return err
	}
	c := &confirmer{conn: conn, until: sh.Measuring.Day.AddDate(0, 0, 1), sum: sum}
	for _, some := range alike(all) {
		if err = c.confirm(ctx, some); err != nil {
			w.p.Log.WarnContext(ctx, "candidates are confirmed by a later discovery", "org", sh.Org, "account",
				sh.AccountID, "error", err.Error())
			c.sum.Candidates = true
			return w.measurements.NoteCollection(ctx, sh.Org, sh.AccountID, c.sum)
		}
	}
	return w.measurements.Confirm(ctx, sh.Org, sh.AccountID, c.sum, c.confirmed)
}

// alike groups candidates whose metrics one request can read: of a type in a region, with the same metrics.
func alike(all []measurement.Candidate) (groups [][]measurement.Candidate) {
	order := func(a, b measurement.Candidate) int {
		return slices.Compare(append([]string{a.Region, a.Type}, a.Metrics...),
			append([]string{b.Region, b.Type}, b.Metrics...))
	}
	for rest := slices.SortedStableFunc(slices.Values(all), order); len(rest) > 0; {
		n := 1
		for n < len(rest) && n < perConfirming && order(rest[0], rest[n]) == 0 {
			n++
		}
		groups, rest = append(groups, rest[:n]), rest[n:]
	}
	return groups
}

// confirmer computes metrics of the days before until from points of 5 minutes.
type confirmer struct {
	conn      cloud.Metered
	until     time.Time
	sum       measurement.Collection
	confirmed []measurement.Confirmed
}

// confirm confirms candidates that are alike. A metric that the cloud refuses is not confirmed. An error may pass.
func (c *confirmer) confirm(ctx context.Context, some []measurement.Candidate) error {
	metrics := fineMetrics(some[0])
	if len(metrics) == 0 {
		return nil
	}
	r := requestOf(some, metrics, c.until)
	got, err := c.conn.Metrics(ctx, r)
	c.sum.Calls, c.sum.Queries, c.sum.USD = c.sum.Calls+got.Calls, c.sum.Queries+got.Queries, c.sum.USD+got.USD
	switch {
	case err != nil && mayPass(err):
		return err
	case err != nil:
		got = cloud.MetricAnswer{Unread: cloud.UnreadAll(r.UIDs, r)}
	}
	c.take(metrics, r, got)
	return nil
}

// take computes the metrics of candidates from the answer to a request.
func (c *confirmer) take(metrics []cloud.Metric, r cloud.MetricRequest, got cloud.MetricAnswer) {
	fine := make(map[string]*measurement.Fine, len(r.UIDs))
	for _, uid := range r.UIDs {
		fine[uid] = &measurement.Fine{From: r.From, To: r.To}
	}
	got.EachRead(r, func(uid string, measure int, p cloud.Points) { fine[uid].Add(r.Measures[measure], p) })
	for _, uid := range r.UIDs {
		values := map[string]float64{}
		for _, m := range metrics {
			if v, known := fine[uid].Answer(m); known {
				values[m.Name] = v
			}
		}
		c.confirmed = append(c.confirmed, measurement.Confirmed{
			UID: uid, Values: values, Day: measurement.DayOf(c.until.AddDate(0, 0, -1)),
		})
	}
}

// fineMetrics returns the metrics of a candidate that points of 5 minutes give.
func fineMetrics(of measurement.Candidate) (out []cloud.Metric) {
	for _, m := range cloud.FineMetricsOf(of.Type) {
		if slices.Contains(of.Metrics, m.Name) && measurement.CanConfirm(m) {
			out = append(out, m)
		}
	}
	return out
}

// requestOf asks for the measures of metrics of candidates that are alike, in points of 5 minutes.
func requestOf(some []measurement.Candidate, metrics []cloud.Metric, until time.Time) cloud.MetricRequest {
	uids := make([]string, len(some))
	for i, one := range some {
		uids[i] = one.UID
	}
	r := cloud.NewMetricRequest(metrics, uids, until)
	r.Type, r.Region, r.Period = some[0].Type, some[0].Region, measurement.FinePeriod
	return r
}
