package gcptwin

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Series is a time series of a resource in Cloud Monitoring: a value for each hour. System and User are labels of its
// metadata.
type Series struct {
	Metric               string // "compute.googleapis.com/instance/cpu/utilization"
	Resource             string // "gce_instance"
	Labels, MetricLabels map[string]string
	System, User         map[string]string
	At                   map[time.Time]float64 // by the end of the hour
}

// AddSeries adds a time series.
func (c *Cloud) AddSeries(s Series) { c.ChangeLocked(func() { c.series = append(c.series, s) }) }

var (
	isOne     = regexp.MustCompile(`^(\S+) = "([^"]*)"$`)
	beginsAs  = regexp.MustCompile(`^(\S+) = starts_with\("([^"]*)"\)$`)
	isOneOf   = regexp.MustCompile(`^(\S+) = one_of\((.*)\)$`)
	fieldName = regexp.MustCompile(`^(resource|metric|metadata)\.(labels|system_labels|user_labels)\."?([^"]+)"?$`)
)

// fieldOf returns a function that reads a field of a filter or a grouping.
func fieldOf(name string) func(Series) string {
	switch m := fieldName.FindStringSubmatch(name); {
	case name == "metric.type":
		return func(s Series) string { return s.Metric }
	case name == "resource.type":
		return func(s Series) string { return s.Resource }
	case m == nil:
		return func(Series) string { return "" }
	case m[1] == "resource":
		return func(s Series) string { return s.Labels[m[3]] }
	case m[1] == "metric":
		return func(s Series) string { return s.MetricLabels[m[3]] }
	case m[2] == "system_labels":
		return func(s Series) string { return s.System[m[3]] }
	default:
		return func(s Series) string { return s.User[m[3]] }
	}
}

// clauseOf returns the condition of a clause of a filter. An unknown clause is never true.
func clauseOf(clause string) func(Series) bool {
	if m := isOne.FindStringSubmatch(clause); m != nil {
		field := fieldOf(m[1])
		return func(s Series) bool { return field(s) == m[2] }
	}
	if m := beginsAs.FindStringSubmatch(clause); m != nil {
		field := fieldOf(m[1])
		return func(s Series) bool { return strings.HasPrefix(field(s), m[2]) }
	}
	if m := isOneOf.FindStringSubmatch(clause); m != nil {
		field, names := fieldOf(m[1]), strings.Split(m[2], ", ")
		return func(s Series) bool { return slices.Contains(names, `"`+field(s)+`"`) }
	}
	return func(Series) bool { return false }
}

// matching returns the series that a filter means.
func (c *Cloud) matching(filter string) []Series {
	out := slices.Clone(c.series)
	for clause := range strings.SplitSeq(filter, " AND ") {
		isMet := clauseOf(clause)
		out = slices.DeleteFunc(out, func(s Series) bool { return !isMet(s) })
	}
	return out
}

// listSeries answers the points of an interval, the newest first, as Cloud Monitoring does. It knows hours alone.
func (c *Cloud) listSeries(q request) (any, *failure) {
	query := q.URL.Query()
	if query.Get("aggregation.alignmentPeriod") != "3600s" ||
		!strings.HasPrefix(query.Get("aggregation.perSeriesAligner"), "ALIGN_") {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "aggregation")
	}
	from, err := time.Parse(time.RFC3339, query.Get("interval.startTime"))
	to, err2 := time.Parse(time.RFC3339, query.Get("interval.endTime"))
	if err != nil || err2 != nil {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "interval")
	}
	matching := c.matching(query.Get("filter"))
	if fields := query["aggregation.groupByFields"]; len(fields) > 0 {
		matching = reduced(matching, fields, query.Get("aggregation.crossSeriesReducer"))
	}
	a, b, next := c.cutPage(q, len(matching), "pageSize")
	found := []any{}
	for _, s := range matching[a:b] {
		found = append(found, s.render(from, to))
	}
	return map[string]any{"timeSeries": found, "nextPageToken": next}, nil
}

// reduced makes one series of those that agree in the fields, with no other labels.
func reduced(all []Series, fields []string, how string) []Series {
	groups, order := map[string][]Series{}, []string{}
	for _, s := range all {
		values := make([]string, len(fields))
		for i, f := range fields {
			values[i] = fieldOf(f)(s)
		}
		key := fmt.Sprintf("%q", values)
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], s)
	}
	var out []Series
	for _, key := range order {
		out = append(out, joined(groups[key], fields, how))
	}
	return out
}

func joined(group []Series, fields []string, how string) Series {
	first := group[0]
	s := Series{
		Metric: first.Metric, Resource: first.Resource, Labels: map[string]string{}, MetricLabels: map[string]string{},
		System: map[string]string{}, User: map[string]string{}, At: map[time.Time]float64{},
	}
	for _, f := range fields {
		m := fieldName.FindStringSubmatch(f)
		map[string]map[string]string{
			"resource labels": s.Labels, "metric labels": s.MetricLabels, "metadata system_labels": s.System,
			"metadata user_labels": s.User,
		}[m[1]+" "+m[2]][m[3]] = fieldOf(f)(first)
	}
	values := map[time.Time][]float64{}
	for _, one := range group {
		for at, v := range one.At {
			values[at] = append(values[at], v)
		}
	}
	for at, all := range values {
		sum := 0.0
		for _, v := range all {
			sum += v
		}
		switch how {
		case "REDUCE_MAX":
			s.At[at] = slices.Max(all)
		case "REDUCE_MEAN":
			s.At[at] = sum / float64(len(all))
		case "REDUCE_SUM":
			s.At[at] = sum
		}
	}
	return s
}

func (s Series) render(from, to time.Time) any {
	points := []any{}
	for at := to; at.After(from); at = at.Add(-time.Hour) {
		if v, ok := s.At[at]; ok {
			end := at.Format(time.RFC3339)
			points = append(points,
				map[string]any{
					"interval": map[string]string{"startTime": end, "endTime": end},
					"value":    map[string]any{"doubleValue": v},
				})
		}
	}
	return map[string]any{
		"metric":   map[string]any{"type": s.Metric, "labels": s.MetricLabels},
		"resource": map[string]any{"type": s.Resource, "labels": s.Labels}, "points": points,
		"metadata": map[string]any{"systemLabels": maps.Clone(s.System), "userLabels": maps.Clone(s.User)},
	}
}
