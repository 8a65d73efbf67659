package gcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// metricsNeed is the permission of metrics.
const metricsNeed = "monitoring.timeSeries.list"

// The limits of Cloud Monitoring: names in a filter, and the price of a returned time series.
const (
	maxOneOf     = 100
	usdPerSeries = 0.50 / 1e6
)

var _ cloud.Metered = (*conn)(nil)

// groupLabel names the managed instance group of an instance.
const groupLabel = "metadata.system_labels.instance_group"

// reducers combine the series of a resource's parts into one series, by aligner. reducerOf has the exceptions.
var reducers = map[string]string{
	"ALIGN_MAX": "REDUCE_MAX", "ALIGN_PERCENTILE_99": "REDUCE_MAX", "ALIGN_MEAN": "REDUCE_MEAN",
	"ALIGN_DELTA": "REDUCE_SUM", "ALIGN_RATE": "REDUCE_SUM",
}

// summedGauges are the beginnings of the names of gauges whose parts make up the whole: the bytes of a bucket have a
// series for each class of storage.
var summedGauges = []string{
	"container/instance_count", "clients/connected", "storage/v2/", "instance/cpu/utilization_by_priority",
}

func reducerOf(m cloud.Measure) string {
	if slices.ContainsFunc(summedGauges, func(begin string) bool { return strings.HasPrefix(m.Metric, begin) }) {
		return "REDUCE_SUM"
	}
	return reducers[m.Statistic]
}

// keysOf returns the uids by the keys of their series. A key that two resources share maps to "": its series cannot be
// assigned.
func (m meter) keysOf(uids []string) map[string]string {
	keys := make(map[string]string, len(uids))
	for _, uid := range uids {
		if r, ok := m.parse(uid); ok {
			_, key := m.asked(r)
			if other, taken := keys[key]; taken && other != uid {
				uid = ""
			}
			keys[key] = uid
		}
	}
	return keys
}

// unnamed returns the uids whose series cannot be assigned to them.
func (m meter) unnamed(uids []string) []string {
	named := map[string]bool{}
	for _, uid := range m.keysOf(uids) {
		named[uid] = true
	}
	return slices.DeleteFunc(slices.Clone(uids), func(uid string) bool { return named[uid] })
}

// Metrics reads measures with timeSeries.list: one call returns a measure of all resources of a region, about 100,000
// points a page.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	m, ok := meters[r.Type]
	if !ok {
		return cloud.MetricAnswer{}, cloud.ErrUnsupported("Google Cloud has no metrics of %s that are read", r.Type)
	}
	p := place{c.session, r.Region}
	switch _, err := c.placeAt(r.Region); {
	case r.Region != cloud.Global && err != nil:
		return cloud.MetricAnswer{}, err
	case r.Region == cloud.Global && m.isPlaced() || len(m.keysOf(r.UIDs)) == 0:
		return cloud.MetricAnswer{Unread: cloud.UnreadAll(r.UIDs, r)}, nil
	}
	answers, errs := make([]cloud.MetricAnswer, len(r.Measures)), make([]error, len(r.Measures))
	cloud.InParallel(len(r.Measures), parallelCalls, func(i int) { answers[i], errs[i] = m.readMeasure(ctx, p, r, i) })
	out := cloud.MetricAnswer{Unread: cloud.UnreadAll(m.unnamed(r.UIDs), r)}
	for i, a := range answers {
		if errs[i] != nil {
			return cloud.MetricAnswer{}, classifyError(metricsNeed, errs[i])
		}
		out.Points = append(out.Points, a.Points...)
		out.Calls, out.Queries = out.Calls+a.Calls, out.Queries+a.Queries
	}
	out.USD = float64(out.Queries) * usdPerSeries
	return out, nil
}

// readMeasure reads all pages of one measure.
func (m meter) readMeasure(ctx context.Context, p place, r cloud.MetricRequest, n int) (cloud.MetricAnswer, error) {
	keys := m.keysOf(r.UIDs)
	var out cloud.MetricAnswer
	list := googlerest.NewGet(metricsNeed, googlerest.Monitoring+"{+name}/timeSeries", "projects/"+p.project).
		Set("filter", m.metricFilter(r, n)).
		Set("interval.startTime", r.From.UTC().Format(time.RFC3339)).
		Set("interval.endTime", r.To.UTC().Format(time.RFC3339)).
		Set("aggregation.alignmentPeriod", fmt.Sprintf("%ds", int(r.Period.Seconds()))).
		Set("aggregation.perSeriesAligner", r.Measures[n].Statistic).SetInt("pageSize", 100_000)
	if len(m.groups) > 0 {
		list.Set("aggregation.groupByFields", m.groups...).
			Set("aggregation.crossSeriesReducer", reducerOf(r.Measures[n]))
	}
	found := map[string]*cloud.Points{}
	for page := ""; out.Calls < maxPages; {
		got, err := call[googlerest.TimeSeriesList](ctx, p.session, list.Set("pageToken", page))
		if err != nil {
			return out, err
		}
		out.Calls, out.Queries = out.Calls+1, out.Queries+len(got.TimeSeries)
		for _, s := range got.TimeSeries {
			if uid := keys[m.told(s)]; uid != "" && addSeries(found, uid, s, r.Period) {
				found[uid].Measure = n
			}
		}
		if page = got.NextPageToken; page == "" {
			for _, uid := range sortedKeys(found) {
				out.Points = append(out.Points, *found[uid])
			}
			return out, nil
		}
	}
	return out, cloud.ErrUnsupported(
		"%s of %d resources has more than %d pages: ask for a shorter time", r.Measures[n].Metric, len(r.UIDs),
		maxPages)
}

// metricFilter returns the filter for the measure in the region. It names the resources if they are few enough.
func (m meter) metricFilter(r cloud.MetricRequest, n int) string {
	one := r.Measures[n]
	metric, note, _ := strings.Cut(one.Metric, " ")
	f := fmt.Sprintf(`metric.type = "%s/%s"`, one.Namespace, metric)
	if m.place != "" {
		f += " AND " + strings.ReplaceAll(m.place, "%s", r.Region)
	}
	if label, value, is := strings.Cut(note, "="); is {
		f += ` AND metric.labels.` + label + ` = "` + value + `"`
	}
	var names []string
	for _, uid := range r.UIDs {
		if ref, ok := m.parse(uid); ok {
			name, _ := m.asked(ref)
			names = append(names, `"`+name+`"`)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxOneOf {
		return f
	}
	return f + " AND " + m.name + " = one_of(" + strings.Join(names, ", ") + ")"
}

// addSeries adds the points of a series before those of the resource; false if it has none. They come newest first and
// carry the ends of their buckets. The next page may hold more of a series, with older points.
func addSeries(found map[string]*cloud.Points, uid string, s *googlerest.TimeSeries, period time.Duration) bool {
	if len(s.Points) == 0 {
		return false
	}
	old := found[uid]
	next := &cloud.Points{UID: uid}
	for _, point := range slices.Backward(s.Points) {
		if v, ok := numberOf(point.Value); ok {
			next.Times, next.Values = append(next.Times, timeOf(point.Interval.EndTime).Add(-period)),
				append(next.Values, v)
		}
	}
	if old != nil {
		next.Times, next.Values = append(next.Times, old.Times...), append(next.Values, old.Values...)
	}
	found[uid] = next
	return true
}

func numberOf(v googlerest.TypedValue) (float64, bool) {
	switch {
	case v.DoubleValue != nil:
		return float64(*v.DoubleValue), true
	case v.Int64Value != nil:
		return float64(*v.Int64Value), true
	default:
		return 0, false
	}
}
