package azure

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"lamplighter.dev/shared/cloud"
)

// metricsNeed is the permission of metrics.
const metricsNeed = "Microsoft.Insights/metrics/read"

const (
	metricsVersion = "2024-02-01"
	metricsScope   = "https://metrics.monitor.azure.com/.default"
	perMetricCall  = 50 // resources, of one region and type
	usdPerQuery    = 0.01 / 1000
)

var _ cloud.Metered = (*conn)(nil)

// Metrics reads measures through the batch API of Azure Monitor, 50 resources a call, with all metrics and statistics
// of a type in one call. The returned price is an upper bound: it counts each resource as one query and ignores the
// free ones.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	switch {
	case !regionName.MatchString(r.Region):
		return cloud.MetricAnswer{}, cloud.ErrInvalid("%.64q is not the name of an Azure region", r.Region)
	case len(r.Measures) == 0 || len(r.UIDs) == 0:
		return cloud.MetricAnswer{}, nil
	case slices.ContainsFunc(r.Measures, func(m cloud.Measure) bool { return m.Namespace != r.Measures[0].Namespace }):
		return cloud.MetricAnswer{},
			cloud.ErrUnsupported("Azure has no metrics of %s in more than one namespace", r.Type)
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return cloud.MetricAnswer{}, err
	}
	here := slices.DeleteFunc(slices.Clone(r.UIDs), func(u string) bool {
		return !isOf(u, id, r.Measures[0].Namespace)
	})
	batches := slices.Collect(slices.Chunk(here, perMetricCall))
	answers, errs := make([]cloud.MetricAnswer, len(batches)), make([]error, len(batches))
	cloud.InParallel(len(batches), width, func(i int) { answers[i], errs[i] = c.measureAll(ctx, id, batches[i], r) })
	elsewhere := slices.DeleteFunc(slices.Clone(r.UIDs), func(u string) bool { return slices.Contains(here, u) })
	out := cloud.MetricAnswer{
		Unread: cloud.UnreadAll(elsewhere, r), Queries: len(here), USD: float64(len(here)) * usdPerQuery,
	}
	for i, a := range answers {
		if errs[i] != nil {
			return cloud.MetricAnswer{}, errs[i]
		}
		out.Points, out.Unread = append(out.Points, a.Points...), append(out.Unread, a.Unread...)
		out.Calls += a.Calls
	}
	return out, nil
}

// measureAll measures a batch. If one resource is gone, Azure refuses the whole batch; then each half is requested
// separately. The measures of a resource that Azure refuses are unread.
func (c *conn) measureAll(ctx context.Context, subscription string, uids []string,
	r cloud.MetricRequest,
) (cloud.MetricAnswer, error) {
	got, err := c.measure(ctx, subscription, uids, r)
	refused := cloud.ClassOf(err) == cloud.NotFound || cloud.ClassOf(err) == cloud.Invalid
	switch {
	case err == nil:
		return got, nil
	case refused && len(uids) == 1:
		return cloud.MetricAnswer{Unread: cloud.UnreadAll(uids, r), Calls: 1}, nil
	case !refused:
		return cloud.MetricAnswer{}, err
	}
	a, err := c.measureAll(ctx, subscription, uids[:len(uids)/2], r)
	if err != nil {
		return a, err
	}
	b, err := c.measureAll(ctx, subscription, uids[len(uids)/2:], r)
	return cloud.MetricAnswer{
		Points: slices.Concat(a.Points, b.Points), Unread: slices.Concat(a.Unread, b.Unread),
		Calls: 1 + a.Calls + b.Calls,
	}, err
}

// measuredResource is the batch API's answer for one resource.
type measuredResource struct {
	ID      string `json:"resourceid"`
	Metrics []struct {
		Name   struct{ Value string } `json:"name"`
		Error  string                 `json:"errorCode"` // "Success", or why this metric has no series
		Series []struct {
			Data []bucketOfMetric `json:"data"`
		} `json:"timeseries"`
	} `json:"value"`
}

// bucketOfMetric is a bucket of time; a statistic that is nil was not measured in it.
type bucketOfMetric struct {
	Time    time.Time `json:"timeStamp"`
	Average *float64  `json:"average"`
	Minimum *float64  `json:"minimum"`
	Maximum *float64  `json:"maximum"`
	Total   *float64  `json:"total"`
	Count   *float64  `json:"count"`
}

func (b bucketOfMetric) statistic(name string) *float64 {
	return map[string]*float64{
		"Average": b.Average, "Minimum": b.Minimum, "Maximum": b.Maximum, "Total": b.Total,
		"Count": b.Count,
	}[name]
}

func (c *conn) measure(ctx context.Context, subscription string, uids []string, r cloud.MetricRequest) (
	cloud.MetricAnswer, error,
) {
	out := cloud.MetricAnswer{Calls: 1}
	k := call{
		method: http.MethodPost, path: subscriptionsPath + "/" + subscription + "/metrics:getBatch",
		version: metricsVersion,
		query:   metricQuery(r), body: map[string]any{"resourceids": uids},
	}
	var got struct {
		Values []measuredResource `json:"values"`
	}
	if err := c.metrics.in(r.Region).callARM(ctx, k, &got); err != nil {
		return out, err
	}
	for _, one := range got.Values {
		for i, m := range r.Measures {
			if p := one.pointsOf(i, m); len(p.Times) > 0 {
				out.Points = append(out.Points, p)
			} else if one.failed(m) {
				out.Unread = append(out.Unread, cloud.Unmeasured{UID: p.UID, Measure: i})
			}
		}
	}
	return out, nil
}

// failed reports whether Azure answered with an error in the place of a measure.
func (m measuredResource) failed(of cloud.Measure) bool {
	for _, metric := range m.Metrics {
		if strings.EqualFold(metric.Name.Value, metricName(of)) {
			return metric.Error != "" && !strings.EqualFold(metric.Error, "Success")
		}
	}
	return false
}

// metricQuery names metrics, statistics and times. Azure has no note behind a metric's name, as metrics.csv may.
func metricQuery(r cloud.MetricRequest) url.Values {
	var names, statistics []string
	for _, m := range r.Measures {
		names, statistics = append(names, metricName(m)), append(statistics, m.Statistic)
	}
	slices.Sort(names)
	slices.Sort(statistics)
	return url.Values{
		"metricnamespace": {r.Measures[0].Namespace}, "metricnames": {strings.Join(slices.Compact(names), ",")},
		"aggregation": {strings.Join(slices.Compact(statistics), ",")}, "interval": {isoPeriod(r.Period)},
		"starttime": {r.From.UTC().Format(time.RFC3339)}, "endtime": {r.To.UTC().Format(time.RFC3339)},
	}
}

func metricName(m cloud.Measure) string {
	name, _, _ := strings.Cut(m.Metric, " (")
	return name
}

// isoPeriod writes a period as ISO 8601 does, in the forms that Azure takes: PT5M, PT1H, P1D.
func isoPeriod(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return "P1D"
	case d >= time.Hour:
		return "PT1H"
	default:
		return "PT5M"
	}
}

// pointsOf returns the buckets of a measure that have data.
func (m measuredResource) pointsOf(i int, of cloud.Measure) cloud.Points {
	p := cloud.Points{UID: uidOf(m.ID), Measure: i}
	for _, metric := range m.Metrics {
		if !strings.EqualFold(metric.Name.Value, metricName(of)) {
			continue
		}
		for _, s := range metric.Series {
			for _, b := range s.Data {
				if v := b.statistic(of.Statistic); v != nil {
					p.Times, p.Values = append(p.Times, b.Time.UTC()), append(p.Values, *v)
				}
			}
		}
	}
	return p
}

// metricClient calls Azure Monitor, which has a host in each region and tokens of its own.
type metricClient struct {
	pipeline runtime.Pipeline
	endpoint string // of a custom endpoint; "" is Azure's
}

func (m metricClient) in(region string) *armClient {
	if m.endpoint != "" {
		return &armClient{m.pipeline, m.endpoint}
	}
	return &armClient{m.pipeline, "https://" + region + ".metrics.monitor.azure.com"}
}
