package gcp

import (
	"context"
	"encoding/json"
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

// meter is how Cloud Monitoring knows the resources of a type.
type meter struct {
	place  string   // the filter for the region, with a place for its name
	name   string   // the label that selects single resources in a filter
	groups []string // the labels that identify a resource with several series; none when each resource has one series
	asked  func(r ref) (name, key string)
	told   func(s *googlerest.TimeSeries) (key string) // the key of the resource that a series is of
}

// poolLabel names the node pool of a node.
const poolLabel = "cloud.google.com/gke-nodepool"

var meters = map[string]meter{
	cloud.GCPCompute: {
		place: `resource.type = "gce_instance" AND resource.labels.zone = starts_with("%s-")`,
		name:  "metric.labels.instance_name",
		asked: func(r ref) (string, string) { return r.name, r.location + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			return s.Resource.Labels["zone"] + "/" + s.Metric.Labels["instance_name"]
		},
	},
	cloud.GCPCloudSQL: {
		place: `resource.type = "cloudsql_database" AND resource.labels.region = "%s"`,
		name:  "resource.labels.database_id",
		asked: func(r ref) (string, string) { return r.project + ":" + r.name, r.project + ":" + r.name },
		told:  func(s *googlerest.TimeSeries) string { return s.Resource.Labels["database_id"] },
	},
	cloud.GCPMIG: {
		place: `resource.type = "gce_instance" AND resource.labels.zone = starts_with("%s-")`, name: groupLabel,
		groups: []string{groupLabel},
		asked:  func(r ref) (string, string) { return r.name, r.name },
		told: func(s *googlerest.TimeSeries) string {
			var labels struct {
				Group string `json:"instance_group"`
			}
			if s.Metadata == nil || json.Unmarshal(s.Metadata.SystemLabels, &labels) != nil {
				return ""
			}
			return labels.Group
		},
	},
	cloud.GCPGKENodepool: {
		place: `resource.type = "k8s_node" AND resource.labels.location = starts_with("%s")`,
		name:  "resource.labels.cluster_name",
		groups: []string{
			"resource.labels.location", "resource.labels.cluster_name",
			`metadata.user_labels."` + poolLabel + `"`,
		},
		asked: func(r ref) (string, string) { return r.cluster, r.location + "/" + r.cluster + "/" + r.name },
		told: func(s *googlerest.TimeSeries) string {
			if s.Metadata == nil {
				return ""
			}
			return s.Resource.Labels["location"] + "/" + s.Resource.Labels["cluster_name"] + "/" +
				s.Metadata.UserLabels[poolLabel]
		},
	},
	cloud.GCPCloudRun: {
		place:  `resource.type = "cloud_run_revision" AND resource.labels.location = "%s"`,
		name:   "resource.labels.service_name",
		groups: []string{"resource.labels.service_name"},
		asked:  func(r ref) (string, string) { return r.name, r.name },
		told:   func(s *googlerest.TimeSeries) string { return s.Resource.Labels["service_name"] },
	},
	"gcp-memorystore": {
		place:  `resource.type = "redis_instance" AND resource.labels.region = "%s"`,
		name:   "resource.labels.instance_id",
		groups: []string{"resource.labels.instance_id"},
		asked: func(r ref) (string, string) {
			id := strings.TrimPrefix(r.uid, "//redis.googleapis.com/")
			return id, id
		},
		told: func(s *googlerest.TimeSeries) string { return s.Resource.Labels["instance_id"] },
	},
}

// groupLabel names the managed instance group of an instance.
const groupLabel = "metadata.system_labels.instance_group"

// reducers combine the series of a resource's parts into one series, by aligner. reducerOf has the exceptions.
var reducers = map[string]string{
	"ALIGN_MAX": "REDUCE_MAX", "ALIGN_PERCENTILE_99": "REDUCE_MAX", "ALIGN_MEAN": "REDUCE_MEAN",
	"ALIGN_DELTA": "REDUCE_SUM", "ALIGN_RATE": "REDUCE_SUM",
}

func reducerOf(m cloud.Measure) string {
	if strings.HasPrefix(m.Metric, "container/instance_count") || strings.HasPrefix(m.Metric, "clients/connected") {
		return "REDUCE_SUM"
	}
	return reducers[m.Statistic]
}

// keysOf returns the uids by the keys of their series. A key that two resources share maps to "": its series cannot be
// assigned.
func (m meter) keysOf(uids []string) map[string]string {
	keys := make(map[string]string, len(uids))
	for _, uid := range uids {
		if r, ok := parseName(uid); ok {
			_, key := m.asked(r)
			if other, taken := keys[key]; taken && other != uid {
				uid = ""
			}
			keys[key] = uid
		}
	}
	return keys
}

// Metrics reads measures with timeSeries.list: one call returns a measure of all resources of a region, about 100,000
// points a page.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	m, ok := meters[r.Type]
	if !ok {
		return cloud.MetricAnswer{}, cloud.ErrUnsupported("Google Cloud has no metrics of %s that are read", r.Type)
	}
	p, err := c.placeAt(r.Region)
	if err != nil || len(m.keysOf(r.UIDs)) == 0 {
		return cloud.MetricAnswer{}, err
	}
	answers, errs := make([]cloud.MetricAnswer, len(r.Measures)), make([]error, len(r.Measures))
	cloud.InParallel(len(r.Measures), parallelCalls, func(i int) { answers[i], errs[i] = m.readMeasure(ctx, p, r, i) })
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
	metric, state, _ := strings.Cut(one.Metric, " state=")
	f := fmt.Sprintf(`metric.type = "%s/%s" AND `+m.place, one.Namespace, metric, r.Region)
	if state != "" {
		f += ` AND metric.labels.state = "` + state + `"`
	}
	var names []string
	for _, uid := range r.UIDs {
		if ref, ok := parseName(uid); ok {
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
