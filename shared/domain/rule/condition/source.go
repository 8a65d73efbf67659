package condition

import (
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/rule"
)

// Rollups is a Source of the metrics that the product measures. One goroutine uses it. For each resource, its caller
// fills Recent and sets Since and Off.
type Rollups struct {
	Recent measurement.Recent
	Kind   string                 // type of the resources; it does not change
	Since  time.Time              // when it was created, or else first seen
	Off    []measurement.Interval // when it was stopped
	Others Source                 // the metrics of other sources, such as bills; nil for none

	metrics map[string]rollup // by name; filled as conditions read them
}

// rollup is how a metric of a type is computed.
type rollup struct {
	*cloud.Metric          // nil for one that is not measured here
	absent        Measured // why it is missing if no other source has it
}

// Statistic returns a metric of the last days before the end of Recent.
func (r *Rollups) Statistic(name string) Measured {
	m := r.rollupOf(name)
	if m.Metric == nil {
		return r.other(name, m.absent)
	}
	v, known := r.Recent.Answer(*m.Metric, measurement.Window{Since: r.Since, Off: r.Off})
	if known == measurement.Known {
		return Measured{Value: v}
	}
	return Measured{Reason: reasonOf[known]}
}

// rollupOf returns how a metric is computed. It looks each name up once.
func (r *Rollups) rollupOf(name string) rollup {
	m, known := r.metrics[name]
	if !known {
		m = newRollup(r.Kind, name)
		if r.metrics == nil {
			r.metrics = map[string]rollup{}
		}
		r.metrics[name] = m
	}
	return m
}

func newRollup(kind, name string) rollup {
	all := cloud.MetricsOf(kind)
	for i := range all {
		if all[i].Name == name {
			return rollup{Metric: &all[i]}
		}
	}
	m, _ := rule.MetricOf(kind, name)
	out := rollup{absent: Measured{Reason: NotCollected, Detail: m.Namespace + " " + m.Measure}}
	if strings.Contains(strings.ToLower(m.Namespace), "agent") {
		out.absent.Reason = NeedsAgent
	}
	return out
}

var reasonOf = map[measurement.Knowledge]Reason{
	measurement.NotCollected: NotCollected, measurement.NoPoints: NoPoints,
	measurement.TooFewPoints: TooFewPoints, measurement.TooYoung: TooYoung,
}

// other returns a metric that is not measured here.
func (r *Rollups) other(name string, absent Measured) Measured {
	if r.Others != nil {
		if m := r.Others.Statistic(name); m.Reason != NotCollected {
			return m
		}
	}
	return absent
}
