package condition

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule"
)

// Rollups is a Source of the metrics that the product measures. One goroutine uses it. For each resource, its caller
// fills Recent and sets the other fields.
type Rollups struct {
	Recent measurement.Recent
	Kind   string                 // type of the resource
	Since  time.Time              // when it was created, or else first seen
	Off    []measurement.Interval // when it was stopped
	Others Source                 // the metrics of other sources, such as bills; nil for none
}

// Statistic returns a metric of the last days before the end of Recent.
func (r *Rollups) Statistic(name string) Measured {
	all := cloud.MetricsOf(r.Kind)
	i := slices.IndexFunc(all, func(m cloud.Metric) bool { return m.Name == name })
	if i < 0 {
		return r.other(name)
	}
	v, known := r.Recent.Answer(all[i], measurement.Window{Since: r.Since, Off: r.Off})
	if known == measurement.Known {
		return Measured{Value: v}
	}
	return Measured{Reason: reasonOf[known]}
}

var reasonOf = map[measurement.Knowledge]Reason{
	measurement.NotCollected: NotCollected, measurement.NoPoints: NoPoints,
	measurement.TooFewPoints: TooFewPoints, measurement.TooYoung: TooYoung,
}

// other returns a metric that is not measured here.
func (r *Rollups) other(name string) Measured {
	if r.Others != nil {
		if m := r.Others.Statistic(name); m.Reason != NotCollected {
			return m
		}
	}
	m, _ := rule.MetricOf(r.Kind, name)
	if strings.Contains(strings.ToLower(m.Namespace), "agent") {
		return Measured{Reason: NeedsAgent, Detail: m.Namespace + " " + m.Measure}
	}
	return Measured{Reason: NotCollected, Detail: m.Namespace + " " + m.Measure}
}
