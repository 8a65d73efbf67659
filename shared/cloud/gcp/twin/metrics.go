package twin

import (
	"net/http"
	"regexp"
	"strings"
	"time"
)

// Series is what Cloud Monitoring has of a resource: a value for each hour.
type Series struct {
	Metric               string // "compute.googleapis.com/instance/cpu/utilization"
	Resource             string // "gce_instance"
	Labels, MetricLabels map[string]string
	At                   map[time.Time]float64 // by the end of the hour
}

// AddSeries adds a time series.
func (c *Cloud) AddSeries(s Series) { c.ChangeLocked(func() { c.series = append(c.series, s) }) }

var clauses = map[string]*regexp.Regexp{
	"metric": regexp.MustCompile(`metric\.type = "([^"]+)"`),
	"type":   regexp.MustCompile(`resource\.type = "([^"]+)"`),
	"zone":   regexp.MustCompile(`resource\.labels\.zone = starts_with\("([^"]+)"\)`),
	"region": regexp.MustCompile(`resource\.labels\.region = "([^"]+)"`),
	"names":  regexp.MustCompile(`(?:instance_name|database_id) = one_of\(([^)]*)\)`),
}

func clause(filter, name string) string {
	if m := clauses[name].FindStringSubmatch(filter); m != nil {
		return m[1]
	}
	return ""
}

func (s Series) isMatch(filter string) bool {
	name := s.MetricLabels["instance_name"] + s.Labels["database_id"]
	names := clause(filter, "names")
	return s.Metric == clause(filter, "metric") && s.Resource == clause(filter, "type") &&
		strings.HasPrefix(s.Labels["zone"], clause(filter, "zone")) && s.Labels["region"] == clause(filter, "region") &&
		(names == "" || strings.Contains(names, `"`+name+`"`))
}

// listSeries answers the points of an interval, the newest first, as Cloud Monitoring does. It knows hours alone.
func (c *Cloud) listSeries(q request) (any, *failure) {
	query := q.URL.Query()
	if query.Get("aggregation.alignmentPeriod") != "3600s" || !strings.HasPrefix(query.Get("aggregation.perSeriesAligner"), "ALIGN_") {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "aggregation")
	}
	from, err := time.Parse(time.RFC3339, query.Get("interval.startTime"))
	to, err2 := time.Parse(time.RFC3339, query.Get("interval.endTime"))
	if err != nil || err2 != nil {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "interval")
	}
	var found []any
	for _, s := range c.series {
		if s.isMatch(query.Get("filter")) {
			found = append(found, s.render(from, to))
		}
	}
	a, b, next := c.cut(q, len(found), "pageSize")
	return map[string]any{"timeSeries": found[a:b], "nextPageToken": next}, nil
}

func (s Series) render(from, to time.Time) any {
	points := []any{}
	for at := to; at.After(from); at = at.Add(-time.Hour) {
		if v, ok := s.At[at]; ok {
			end := at.Format(time.RFC3339)
			points = append(points, map[string]any{"interval": map[string]string{"startTime": end, "endTime": end}, "value": map[string]any{"doubleValue": v}})
		}
	}
	return map[string]any{
		"metric": map[string]any{"type": s.Metric, "labels": s.MetricLabels}, "resource": map[string]any{"type": s.Resource, "labels": s.Labels}, "points": points,
	}
}
