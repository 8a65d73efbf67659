package azuretwin

import (
	"net/http"
	"strings"
	"time"
)

// periods are the intervals that the twin takes.
var periods = map[string]time.Duration{"PT5M": 5 * time.Minute, "PT1H": time.Hour, "P1D": 24 * time.Hour}

// answerMetrics answers the batch API of Azure Monitor: at most 50 resources, all of the namespace.
func (c *Cloud) answerMetrics(q request) (answer, *failure) {
	v := q.URL.Query()
	ids, _ := q.body["resourceids"].([]any)
	from, err := time.Parse(time.RFC3339, v.Get("starttime"))
	to, err2 := time.Parse(time.RFC3339, v.Get("endtime"))
	period := periods[v.Get("interval")]
	if err != nil || err2 != nil || period == 0 || len(ids) == 0 || len(ids) > 50 || v.Get("metricnames") == "" {
		return answer{}, newFailure(http.StatusBadRequest, "BadRequest", "The batch of %d resources from %s is "+
			"not valid.", len(ids), v.Get("starttime"))
	}
	values := []any{}
	for _, id := range ids {
		text, _ := id.(string)
		r := c.findResource(text)
		if r == nil || !strings.EqualFold(r.Type, v.Get("metricnamespace")) {
			return answer{},
				newFailure(http.StatusBadRequest, "BadRequest", "Resource %s is not of namespace %s.", text,
					v.Get("metricnamespace"))
		}
		series := []any{}
		for name := range strings.SplitSeq(v.Get("metricnames"), ",") {
			if code := r.MetricErrors[name]; code != "" {
				series = append(series, map[string]any{"name": map[string]any{"value": name}, "errorCode": code})
				continue
			}
			series = append(series, map[string]any{
				"name": map[string]any{"value": name}, "errorCode": "Success",
				"timeseries": []any{map[string]any{"data": r.buckets(name, v.Get("aggregation"),
					interval{from, to, period})}},
			})
		}
		values = append(values, map[string]any{"resourceid": r.ID, "namespace": r.Type, "value": series})
	}
	return okAnswer(map[string]any{"values": values})
}

// interval is a time in buckets.
type interval struct {
	from, to time.Time
	period   time.Duration
}

// buckets are the values of a metric; an average is the value, a maximum one more, so that a test tells them apart.
func (r *Resource) buckets(name, aggregation string, in interval) []any {
	all := []any{}
	for i, v := range r.Metrics[name] {
		at := in.from.Add(time.Duration(i) * in.period)
		if !at.Before(in.to) {
			break
		}
		b := map[string]any{"timeStamp": at.Format(time.RFC3339)}
		for a := range strings.SplitSeq(aggregation, ",") {
			switch {
			case v < 0:
			case a == "Maximum":
				b["maximum"] = v + 1
			default:
				b[strings.ToLower(a)] = v
			}
		}
		all = append(all, b)
	}
	return all
}
