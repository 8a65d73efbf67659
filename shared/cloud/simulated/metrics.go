package simulated

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The price of a query and the number of queries in one call, as in CloudWatch.
const (
	perMetricCall = 500
	usdPerQuery   = 0.01 / 1000
)

// pattern is how a resource is used over a week.
type pattern uint8

// The patterns: of ten resources two are idle, three are busy by day alone, and five always are.
const (
	idle pattern = iota
	nightly
	busy
)

func (s *settings) patternOf(n node) pattern {
	if p, is := s.plantedAs(n); is {
		return p.pattern
	}
	switch s.drawProperty(n, asPattern) % 10 {
	case 0, 1:
		return idle
	case 2, 3, 4:
		return nightly
	}
	return busy
}

var _ cloud.Metered = (*conn)(nil)

// Metrics makes up measures: the same for the same seed. A resource that is stopped has no points since its stop, as
// far as this cloud remembers the stop; one that was stopped from the beginning has none.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	k, call, err := c.findKind(r.Type, r.Region, "Metrics")
	if err != nil {
		return cloud.MetricAnswer{}, err
	}
	call.op, call.capability = "cloudwatch:GetMetricData", discover
	queries := len(r.UIDs) * len(r.Measures)
	out := cloud.MetricAnswer{
		Queries: queries, Calls: (queries + perMetricCall - 1) / perMetricCall,
		USD: float64(queries) * usdPerQuery,
	}
	for range out.Calls {
		if err = c.simulateCall(ctx, call, func(context.Context) error { return nil }); err != nil {
			return cloud.MetricAnswer{}, err
		}
	}
	err = c.world.readHistory(ctx, func(h history) {
		for _, uid := range r.UIDs {
			if n, ok := c.findNode(k, r.Region, uid); ok {
				out.Points = append(out.Points, c.measureNode(n, h, uid, r)...)
			}
		}
	})
	return out, err
}

// measureNode returns the points of a node. It has none for the times when the node is off.
func (c *conn) measureNode(n node, h history, uid string, r cloud.MetricRequest) []cloud.Points {
	var out []cloud.Points
	for i, m := range r.Measures {
		p := cloud.Points{UID: uid, Measure: i}
		for at := r.From; at.Before(r.To) && at.Before(c.clk.Now()); at = at.Add(r.Period) {
			if !c.stateAt(n, h, at).on {
				continue
			}
			if v, ok := c.measureValue(n, m, at, r.Period); ok {
				p.Times, p.Values = append(p.Times, at), append(p.Values, v)
			}
		}
		if len(p.Times) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// loadAt returns how much of itself the node uses at a time, from 0 to 1.
func (s *settings) loadAt(n node, at time.Time) float64 {
	hour := uint64(at.Unix() / 3600) //nolint:gosec // any bits are as good
	noise := float64(mixBits(s.drawProperty(n, asPattern)^hour)>>11) / (1 << 53)
	level := 0.3 + 0.4*float64(s.drawProperty(n, asSpeed)>>11)/(1<<53)
	byDay := at.Weekday() != time.Saturday && at.Weekday() != time.Sunday && at.Hour() >= 8 && at.Hour() < 18
	if p := s.patternOf(n); p == idle || p == nightly && !byDay {
		return 0.01 + 0.01*noise
	}
	return level * (0.8 + 0.4*noise)
}

// measureValue returns a measure at a time, in the provider's own unit. It returns false for a count of 0, because
// providers keep no point for it.
func (s *settings) measureValue(n node, m cloud.Measure, at time.Time, period time.Duration) (float64, bool) {
	load, metric := s.loadAt(n, at), strings.ToLower(m.Metric)
	switch m.Statistic {
	case "Maximum", "ALIGN_MAX", "ALIGN_PERCENTILE_99", "p99", "max":
		load = math.Min(load*1.2, 1)
	case "Minimum", "ALIGN_MIN", "min":
		load *= 0.8
	}
	if m.Namespace == "Prometheus" {
		return s.clusterValue(n, m, load, period)
	}
	share := load
	if containsAny(metric, "balance", "available", "availability", "free", "remaining") {
		share = 1 - load
	}
	if m.IsCount() && load <= 0.03 {
		return 0, false
	}
	unit, factor := unitOf(kinds[n.kind].Type, m)
	if v, ok := shareIn(unit, share); ok {
		return v / factor, true
	}
	return amountOf(metric, unit, load, period), true
}

// shareIn converts a share to a unit of shares.
func shareIn(unit string, share float64) (float64, bool) {
	whole, ok := map[string]float64{"%": 100, "0..1": 1, "0/1": 0, "GiB": 16, "GB": 16, "credits": 576}[unit]
	return whole * share, ok
}

// amountOf returns the amount for a load, by the name of the measure.
func amountOf(metric, unit string, load float64, period time.Duration) float64 {
	switch perSecond := unit == "bytes/s" || strings.HasSuffix(metric, "/sec"); {
	case containsAny(metric, "connection", "connected", "num_backends", "sessions", "queries", "replicas",
		"instance_count", "capacity"):
		return math.Floor(100 * max(load-0.03, 0))
	case containsAny(metric, "groupinservice", "groupdesired"):
		return 1 + math.Floor(8*load)
	case perSecond && containsAny(metric, "bytes"):
		return load * 1e6
	case perSecond:
		return math.Floor(1000 * max(load-0.03, 0))
	case containsAny(metric, "bytes", "network"):
		return load * 1e6 * period.Seconds()
	}
	return math.Floor(load * 10 * period.Seconds())
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// unitOf returns the unit that people see for a measure of a type, and the factor to it: those of the first metric
// that uses the measure.
func unitOf(kind string, m cloud.Measure) (unit string, factor float64) {
	for _, one := range cloud.FineMetricsOf(kind) {
		if len(one.Over) == 0 && slices.Contains(one.Of, m) {
			return one.Unit, one.Factor
		}
	}
	if strings.Contains(strings.ToLower(m.Metric), "util") {
		return "%", 1
	}
	return "", 1
}
