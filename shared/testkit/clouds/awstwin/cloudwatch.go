package awstwin

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Series is a metric of a resource in CloudWatch. Value returns the value of a bucket, or false if it has none.
// Dimension is the value of the metric's first dimension.
type Series struct {
	Metric, Dimension, Statistic string
	Value                        func(at time.Time) (float64, bool)
}

// AddSeries adds a series.
func (c *Cloud) AddSeries(s Series) { add(c, &c.series, s) }

// maxQueries is the limit of queries in one call of GetMetricData.
const maxQueries = 500

func (c *Cloud) getMetricData(q request) (any, *failure) {
	from, _ := time.Parse(time.RFC3339, q.getString("StartTime"))
	to, _ := time.Parse(time.RFC3339, q.getString("EndTime"))
	var nodes []node
	for i := 1; q.form.Has("MetricDataQueries.member." + strconv.Itoa(i) + ".Id"); i++ {
		if i > maxQueries {
			return nil, newFailure(http.StatusBadRequest, "ValidationError", "The parameter MetricDataQueries has "+
				"more than 500 members")
		}
		nodes = append(nodes, c.metricResult(q, "MetricDataQueries.member."+strconv.Itoa(i)+".", from, to))
	}
	return []node{newItems("MetricDataResults", "member", nodes)}, nil
}

func (c *Cloud) metricResult(q request, prefix string, from, to time.Time) node {
	stat := prefix + "MetricStat."
	seconds, _ := strconv.Atoi(q.form.Get(stat + "Period"))
	var times, values []node
	for _, s := range c.series {
		if s.Metric != q.form.Get(stat+"Metric.MetricName") || s.Statistic != q.form.Get(stat+"Stat") ||
			!strings.HasPrefix(q.form.Get(stat+"Metric.Dimensions.member.1.Value"), s.Dimension) {
			continue
		}
		for at := from; at.Before(to); at = at.Add(time.Duration(seconds) * time.Second) {
			if v, ok := s.Value(at); ok {
				times = append(times, newText("member", at.Format(time.RFC3339)))
				values = append(values, newText("member", strconv.FormatFloat(v, 'g', -1, 64)))
			}
		}
	}
	return newElement("member", newText("Id", q.form.Get(prefix+"Id")), newText("StatusCode", "Complete"),
		newItems("Timestamps", "member", times), newItems("Values", "member", values))
}
