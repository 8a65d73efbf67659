package gcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/api/monitoring/v3"

	"lamplighter.dev/shared/cloud"
)

// metricsNeed is the permission of metrics.
const metricsNeed = "monitoring.timeSeries.list"

// What Cloud Monitoring takes: names in a filter, and what a million time series cost that it returns.
const (
	maxOneOf     = 100
	usdPerSeries = 0.50 / 1e6
)

var _ cloud.Metered = (*conn)(nil)

// meter is how Cloud Monitoring knows the resources of a type.
type meter struct {
	place string // the filter for the region, with a place for its name
	name  string // the label that names a resource
	uid   func(p place, s *monitoring.TimeSeries) string
}

var meters = map[string]meter{
	cloud.GCPCompute: {
		place: `resource.type = "gce_instance" AND resource.labels.zone = starts_with("%s-")`, name: "metric.labels.instance_name",
		uid: func(p place, s *monitoring.TimeSeries) string {
			return "//compute.googleapis.com/projects/" + p.project + "/zones/" + s.Resource.Labels["zone"] + "/instances/" + s.Metric.Labels["instance_name"]
		},
	},
	cloud.GCPCloudSQL: {
		place: `resource.type = "cloudsql_database" AND resource.labels.region = "%s"`, name: "resource.labels.database_id",
		uid: func(p place, s *monitoring.TimeSeries) string {
			_, name, _ := strings.Cut(s.Resource.Labels["database_id"], ":")
			return databaseUID(p, name)
		},
	},
}

// Metrics reads measures by timeSeries.list: one call tells a measure of all resources of a region, some hundred thousand points a
// page.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	m, ok := meters[r.Type]
	if !ok {
		return cloud.MetricAnswer{}, errUnsupported("Google Cloud has no metrics of %s that are read", r.Type)
	}
	p, err := c.placeAt(r.Region)
	if err != nil || len(r.UIDs) == 0 {
		return cloud.MetricAnswer{}, err
	}
	answers, errs := make([]cloud.MetricAnswer, len(r.Measures)), make([]error, len(r.Measures))
	cloud.InParallel(len(r.Measures), width, func(i int) { answers[i], errs[i] = m.read(ctx, p, r, i) })
	var out cloud.MetricAnswer
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

// read reads all pages of one measure.
func (m meter) read(ctx context.Context, p place, r cloud.MetricRequest, n int) (cloud.MetricAnswer, error) {
	wanted := make(map[string]bool, len(r.UIDs))
	for _, uid := range r.UIDs {
		wanted[uid] = true
	}
	var out cloud.MetricAnswer
	list := p.metrics.Projects.TimeSeries.List("projects/" + p.project).Filter(m.filter(r, n)).
		IntervalStartTime(r.From.UTC().Format(time.RFC3339)).IntervalEndTime(r.To.UTC().Format(time.RFC3339)).
		AggregationAlignmentPeriod(fmt.Sprintf("%ds", int(r.Period.Seconds()))).AggregationPerSeriesAligner(r.Measures[n].Statistic).
		PageSize(100_000).Context(ctx)
	found := map[string]*cloud.Points{}
	for page := ""; out.Calls < maxPages; {
		got, err := call(metricsNeed, list.PageToken(page).Do)
		if err != nil {
			return out, err
		}
		out.Calls, out.Queries = out.Calls+1, out.Queries+len(got.TimeSeries)
		for _, s := range got.TimeSeries {
			if uid := m.uid(p, s); wanted[uid] && addSeries(found, uid, s, r.Period) {
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
	return out, errUnsupported("%s of %d resources has more than %d pages: ask for a shorter time", r.Measures[n].Metric, len(r.UIDs), maxPages)
}

// filter is for the measure, in the region, and of the resources where they are few enough to be named.
func (m meter) filter(r cloud.MetricRequest, n int) string {
	one := r.Measures[n]
	f := fmt.Sprintf(`metric.type = "%s/%s" AND `+m.place, one.Namespace, one.Metric, r.Region)
	var names []string
	for _, uid := range r.UIDs {
		ref, ok := parseName(uid)
		if !ok {
			continue
		}
		name := ref.name
		if m.name == "resource.labels.database_id" {
			name = ref.project + ":" + name
		}
		names = append(names, `"`+name+`"`)
	}
	if len(names) > maxOneOf {
		return f
	}
	return f + " AND " + m.name + " = one_of(" + strings.Join(names, ", ") + ")"
}

// addSeries puts the points of a series, which come newest first and bear the ends of their buckets, in front of those of the
// resource; false when it has none. The next page may hold more of a series, older points.
func addSeries(found map[string]*cloud.Points, uid string, s *monitoring.TimeSeries, period time.Duration) bool {
	if len(s.Points) == 0 {
		return false
	}
	old := found[uid]
	next := &cloud.Points{UID: uid}
	for _, point := range slices.Backward(s.Points) {
		if v, ok := number(point.Value); ok {
			next.Times, next.Values = append(next.Times, timeOf(point.Interval.EndTime).Add(-period)), append(next.Values, v)
		}
	}
	if old != nil {
		next.Times, next.Values = append(next.Times, old.Times...), append(next.Values, old.Values...)
	}
	found[uid] = next
	return true
}

func number(v *monitoring.TypedValue) (float64, bool) {
	switch {
	case v == nil:
		return 0, false
	case v.DoubleValue != nil:
		return *v.DoubleValue, true
	case v.Int64Value != nil:
		return float64(*v.Int64Value), true
	default:
		return 0, false
	}
}
