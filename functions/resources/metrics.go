package resources

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

func (s *service) metricsOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getResourceMetrics", Method: http.MethodGet, Path: "/resources/{resourceID}/metrics", Policy: policy,
		Scoped:   true,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "Get the usage of a resource",
		Description: "Asks the provider now for the metrics of the resource's type (GET /resources/types says " +
			"which types are measured). A bucket without a point at the provider is left out: for a counter that " +
			"means 0, for other metrics unknown. The default for from is 24 hours before to, and for to now. At " +
			"most 1,440 points a metric.",
	}, s.getMetrics)
}

type metricsInput struct {
	ResourceID string `path:"resourceID" maxLength:"64"`
	rest.Window
	Period string   `query:"period" enum:"60,300,900,3600,86400" doc:"Seconds of a bucket; 3600 when it is left out"`
	Name   []string `query:"name" maxItems:"20" doc:"Only these metrics, by name" example:"cpu_max_14d"`
}

// Usage is the measured usage of a resource.
type Usage struct {
	ResourceID string    `json:"resourceID"`
	From       time.Time `json:"from"`
	To         time.Time `json:"to"`
	Period     int       `json:"period" doc:"Seconds of a bucket"`
	Metrics    []Used    `json:"metrics"`
}

// Used is one metric of a resource.
type Used struct {
	Name      string  `json:"name" example:"cpu_max_14d"`
	Unit      string  `json:"unit" example:"%"`
	Statistic string  `json:"statistic" doc:"The provider's, of each bucket" example:"Maximum"`
	Points    []Point `json:"points"`
}

// Point is the value of the bucket that begins at a time.
type Point struct {
	At    time.Time `json:"at"`
	Value float64   `json:"value"`
}

// These constants bound one answer.
const (
	maxPoints    = 1440
	maxWindow    = 455 * 24 * time.Hour // no provider keeps more
	defaultAsked = 24 * time.Hour
)

func (s *service) getMetrics(ctx context.Context, in *metricsInput) (Usage, error) {
	c := identity.CallerFrom(ctx)
	r, err := s.inventory.ByID(ctx, c.Org, in.ResourceID, s.records.SightOf(c, nil))
	if err != nil {
		return Usage{}, err
	}
	metrics, err := wantedMetrics(r.Type, in.Name)
	if err != nil {
		return Usage{}, err
	}
	q, err := in.toMetricRequest(r, metrics, s.p.Clock.Now())
	if err != nil {
		return Usage{}, err
	}
	account, err := s.inventory.ReadAccount(ctx, c.Org, r.CloudAccountID)
	if err != nil {
		return Usage{}, err
	}
	var got cloud.MetricAnswer
	if q.To.After(q.From) { // an empty window has no points to ask for
		ask := inventory.Question{Ask: inventory.AskMetrics, Org: c.Org, Account: account, Metrics: q}
		if err = inventory.AskConnector(ctx, s.p.Workers, ask, &got); err != nil {
			return Usage{}, fault.Wrap("read metrics of "+r.ID, err)
		}
	}
	out := Usage{
		ResourceID: r.ID, From: q.From, To: q.To, Period: int(q.Period.Seconds()),
		Metrics: make([]Used, len(metrics)),
	}
	for i, m := range metrics {
		out.Metrics[i] = Used{m.Name, m.Unit, m.Of[0].Statistic, pointsOf(m, q.Measures, got.Points)}
	}
	return out, nil
}

// wantedMetrics returns the named metrics of a type, or all of them without names.
func wantedMetrics(kind string, names []string) ([]cloud.Metric, error) {
	all := cloud.MetricsOf(kind)
	if len(all) == 0 {
		return nil, fault.New(fault.Invalid, "resources of type %s are not measured; GET /resources/types says "+
			"which are", kind)
	}
	if len(names) == 0 {
		return all, nil
	}
	var out []cloud.Metric
	for _, name := range names {
		i := slices.IndexFunc(all, func(m cloud.Metric) bool { return m.Name == name })
		if i < 0 {
			return nil, fault.New(
				fault.Invalid, "name: %s has no metric %.64q; it has %s", kind, name, strings.Join(namesOf(all), ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

func namesOf(all []cloud.Metric) []string {
	out := make([]string, len(all))
	for i, m := range all {
		out[i] = m.Name
	}
	return out
}

// toMetricRequest returns the request for the provider, at the time now. Its window begins and ends at a bucket
// boundary.
func (in *metricsInput) toMetricRequest(r inventory.Listed, metrics []cloud.Metric, now time.Time) (cloud.MetricRequest,
	error,
) {
	q := cloud.MetricRequest{Type: r.Type, Region: r.Region, UIDs: []string{r.UID}, Period: time.Hour}
	if n, err := strconv.Atoi(in.Period); err == nil {
		q.Period = time.Duration(n) * time.Second
	}
	q.To = timeOr(in.To, now).Truncate(q.Period)
	q.From = timeOr(in.From, q.To.Add(-defaultAsked)).Truncate(q.Period)
	switch points := q.To.Sub(q.From) / q.Period; {
	case points < 1 && !in.isEmpty():
		return q, fault.New(fault.Invalid, "from: %s is less than a period of %d s before to, %s",
			q.From.Format(time.RFC3339), int(q.Period.Seconds()), q.To.Format(time.RFC3339))
	case points > maxPoints:
		return q, fault.New(fault.Invalid, "from: %s to %s are %d points of %d s; at most %d: ask for a longer "+
			"period or a shorter time",
			q.From.Format(time.RFC3339), q.To.Format(time.RFC3339), points, int(q.Period.Seconds()), maxPoints)
	case now.Sub(q.From) > maxWindow:
		return q, fault.New(
			fault.Invalid, "from: %s is more than %d days ago, which no provider keeps", q.From.Format(time.RFC3339),
			int(maxWindow.Hours()/24))
	case q.To.After(now.Add(q.Period)):
		return q, fault.New(fault.Invalid, "to: %s has not come yet", q.To.Format(time.RFC3339))
	}
	for _, m := range metrics {
		for _, of := range m.Measures() {
			if !slices.Contains(q.Measures, of) {
				q.Measures = append(q.Measures, of)
			}
		}
	}
	return q, nil
}

// isEmpty reports whether the window ends when it begins. Such a window is allowed and has no points.
func (in *metricsInput) isEmpty() bool { return !in.From.IsZero() && in.From.Equal(in.To.Time) }

// timeOr returns a time of a request in UTC, or other if it is absent.
func timeOr(t rest.Time, other time.Time) time.Time {
	if t.IsZero() {
		return other.UTC()
	}
	return t.UTC()
}

// pointsOf adds up the measures of a metric, in its unit. A bucket without a point of one measure has the sum of the
// others, because only counts are added up. A ratio has no point where the sum below is 0.
func pointsOf(m cloud.Metric, asked []cloud.Measure, got []cloud.Points) []Point {
	sum := sumPoints(m.Of, asked, got)
	if len(m.Over) > 0 {
		above := sum
		sum = sumPoints(m.Over, asked, got)
		maps.DeleteFunc(sum, func(_ time.Time, below float64) bool { return below == 0 })
		for at, below := range sum {
			sum[at] = above[at] / below
		}
	}
	out := make([]Point, 0, len(sum))
	for _, at := range slices.SortedFunc(maps.Keys(sum), time.Time.Compare) {
		out = append(out, Point{at, sum[at] * m.Factor})
	}
	return out
}

// sumPoints adds up the points of some measures, by the time of their bucket.
func sumPoints(of, asked []cloud.Measure, got []cloud.Points) map[time.Time]float64 {
	sum := map[time.Time]float64{}
	for _, p := range got {
		if p.Measure < 0 || p.Measure >= len(asked) || !slices.Contains(of, asked[p.Measure]) {
			continue
		}
		for i, at := range p.Times {
			sum[at.UTC()] += p.Values[i]
		}
	}
	return sum
}
