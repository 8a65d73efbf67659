package cloud

import (
	"context"
	_ "embed"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// metricTable is the metrics that this service collects, a line each, in the words and units of the rules'
// metrics.csv, which names more: those that need an agent, bills or finer points than hours are not in it. The factor
// turns the provider's unit into ours.
//
//go:embed metrics.csv.gz
var metricTable []byte

// Metric is a number that describes how a resource was used over a window: a rolled-up statistic of the provider. Of
// holds its measures; several are added up. A metric with the roll-up "ratio" is the sum of Of divided by the sum of
// Over.
type Metric struct {
	Type, Name, Unit string
	Of, Over         []Measure
	RollUp           string // avg, min, max, sum, ratio, p95, p99, p99.5: of hours, or of days; last: the newest value
	Daily            bool   // days are rolled up, not hours
	Days             int    // of the window
	Factor           float64
	When             string // the condition on facts under which the metric is collected: "storage_type=io1|io2"
}

// IsShare reports whether a metric is a share of a whole, in percent or from 0 to 1. The CPU of objects in clusters is
// in cores, so it says nothing of the load without their size.
func (m *Metric) IsShare() bool { return m.Unit == "%" || strings.HasPrefix(m.Unit, "0..1") }

// Measure is a time series of a resource at its provider: "AWS/EC2", "CPUUtilization", "Maximum". Metric may end in a
// note in parentheses, as in metrics.csv, which selects one of several series.
type Measure struct{ Namespace, Metric, Statistic string }

// IsCount reports whether no points mean that nothing happened, and not that nothing is known (recommendations,
// section 3.2).
func (m Measure) IsCount() bool {
	return slices.Contains([]string{"Sum", "Total", "Count", "ALIGN_DELTA", "increase"}, m.Statistic)
}

// MetricRequest asks for measures of resources of one type in one region, in buckets of Period, from From until before
// To.
type MetricRequest struct {
	Type, Region string
	UIDs         []string
	Measures     []Measure
	Period       time.Duration
	From, To     time.Time
}

// Points are the values of one measure of a resource, in the provider's unit and in the order of their times. A time
// is the beginning of its bucket. A bucket without data is left out. Measure is the index of the measure in the
// request.
type Points struct {
	UID     string
	Measure int
	Times   []time.Time
	Values  []float64
}

// MetricAnswer holds the points that the provider has; resources without data are left out. Unread names the measures
// that the provider was not asked for or refused to give, of which nothing is known: without points, they are not 0.
// UnreadReason says for one of them why, and what to do; "" if the provider needs no words for it. Calls and Queries
// count the requests, USD is their list price.
type MetricAnswer struct {
	Points         []Points
	Unread         []Unmeasured `json:",omitempty"`
	UnreadReason   string       `json:",omitempty"`
	Calls, Queries int
	USD            float64
}

// Unmeasured names a measure of a resource, by its index in the request.
type Unmeasured struct {
	UID     string
	Measure int
}

// EachRead calls do with the points of each measure of each resource of the request that was read: with none if the
// provider has none. Measure is the index of the measure in the request. What was not read is left out.
func (a *MetricAnswer) EachRead(r MetricRequest, do func(uid string, measure int, p Points)) {
	by := make(map[Unmeasured]Points, len(a.Points))
	for _, p := range a.Points {
		by[Unmeasured{UID: p.UID, Measure: p.Measure}] = p
	}
	unread := make(map[Unmeasured]bool, len(a.Unread))
	for _, u := range a.Unread {
		unread[u] = true
	}
	for _, uid := range r.UIDs {
		for i := range r.Measures {
			if which := (Unmeasured{UID: uid, Measure: i}); !unread[which] {
				do(uid, i, by[which])
			}
		}
	}
}

// NewMetricRequest asks for the measures of metrics of resources, over the longest of their windows before until.
func NewMetricRequest(metrics []Metric, uids []string, until time.Time) MetricRequest {
	r := MetricRequest{UIDs: uids, From: until, To: until}
	for _, m := range metrics {
		if from := until.AddDate(0, 0, -m.Days); from.Before(r.From) {
			r.From = from
		}
		for _, of := range slices.Concat(m.Of, m.Over) {
			if !slices.Contains(r.Measures, of) {
				r.Measures = append(r.Measures, of)
			}
		}
	}
	return r
}

// UnreadAll returns all measures of a request of some resources, as unread.
func UnreadAll(uids []string, r MetricRequest) []Unmeasured {
	var out []Unmeasured
	for _, uid := range uids {
		for i := range r.Measures {
			out = append(out, Unmeasured{uid, i})
		}
	}
	return out
}

// Metered is a Conn that measures how resources were used. A type without metrics is class Unsupported. A failed
// request loses the answers before the failure, though they are charged for; so requests should be small enough to
// repeat.
type Metered interface {
	Conn
	Metrics(ctx context.Context, r MetricRequest) (MetricAnswer, error)
}

// azureDays is the number of days that one collection requests for an Azure resource. One call covers at most 50
// resources, so each resource has its turn every second night, which halves the calls of a night.
const azureDays = 2

// MeasuredDays returns how many days up to and including this one a collection requests for a resource. since is the
// number of days since the last collection of the account, so 1 in most nights: then it is 1 for a type that is
// measured daily, and for a type that is measured less often several days when it is the resource's turn, else 0.
// Missed days are made up for, with the days whose turn was missed.
func MeasuredDays(kind, uid string, day time.Time, since int) int {
	switch {
	case !strings.HasPrefix(kind, "azure-"):
		return since
	case since > 1:
		return since + azureDays - 1
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(uid))
	if (day.Unix()/86400+int64(h.Sum32()))%azureDays != 0 {
		return 0
	}
	return azureDays
}

// readMetrics reads the table when it is first needed.
var readMetrics = sync.OnceValue(func() map[string][]Metric { return parseMetrics(metricTable) })

// parseMetric reads a line; that each is well-formed is for a test.
func parseMetric(f []string) Metric {
	statistic, roll, _ := strings.Cut(f[4], ":")
	m := Metric{Type: f[0], Name: f[1], Unit: f[7], RollUp: roll, Daily: f[5] == "86400"}
	m.Days, _ = strconv.Atoi(f[6])
	m.Factor, _ = strconv.ParseFloat(f[8], 64)
	of, over, _ := strings.Cut(f[3], " / ")
	if roll == ratio {
		m.Over = parseMeasures(f[2], over, statistic)
	}
	m.Of = parseMeasures(f[2], of, statistic)
	if len(f) > 9 {
		m.When = f[9]
	}
	return m
}

// ratio is the roll-up of a sum divided by another.
const ratio = "ratio"

// parseMeasures reads the measures of a sum: "ReadOps+WriteOps".
func parseMeasures(namespace, sum, statistic string) (out []Measure) {
	for one := range strings.SplitSeq(sum, "+") {
		out = append(out, Measure{namespace, one, statistic})
	}
	return out
}

// MetricsOf lists the metrics of a type; none for a type without metrics. Callers must not change the list.
func MetricsOf(kind string) []Metric { return readMetrics()[kind] }

// MeasuresOf lists the measures that are collected of every resource of a type, each once, in a fixed order. Callers
// must not change the list.
func MeasuresOf(kind string) []Measure { return listMeasures()[measuredAs{kind, ""}] }

// MeasuresWhen lists the measures that are collected of the resources of a type that meet a condition, which
// ConditionMet has returned. Callers must not change the list.
func MeasuresWhen(kind, condition string) []Measure {
	return listMeasures()[measuredAs{kind, condition}]
}

// ConditionMet returns the condition of the type's metrics that a resource meets, or "". inputs are facts of the
// resource in the form of the inventory's index: "engine=redis;multi_az=1".
func ConditionMet(kind, inputs string) string {
	for as := range listMeasures() {
		if as.kind == kind && as.when != "" && isMet(as.when, inputs) {
			return as.when
		}
	}
	return ""
}

// isMet reports whether the facts meet a condition: a fact has one of some values.
func isMet(condition, inputs string) bool {
	name, values, _ := strings.Cut(condition, "=")
	for one := range strings.SplitSeq(inputs, ";") {
		if v, is := strings.CutPrefix(one, name+"="); is {
			return slices.Contains(strings.Split(values, "|"), v)
		}
	}
	return false
}

// measuredAs are the resources of a type that meet a condition, or all of them.
type measuredAs struct{ kind, when string }

// listMeasures lists the measures of all types when they are first needed.
var listMeasures = sync.OnceValue(func() map[measuredAs][]Measure {
	out := map[measuredAs][]Measure{}
	for kind, metrics := range readMetrics() {
		always := slices.DeleteFunc(slices.Clone(metrics), func(m Metric) bool { return m.When != "" })
		out[measuredAs{kind, ""}] = measuresOf(always)
		for _, m := range metrics {
			if as := (measuredAs{kind, m.When}); m.When != "" && out[as] == nil {
				out[as] = measuresOf(slices.DeleteFunc(slices.Clone(metrics), func(one Metric) bool {
					return one.When != "" && one.When != m.When
				}))
			}
		}
	}
	return out
})

func measuresOf(metrics []Metric) (out []Measure) {
	for _, m := range metrics {
		for _, one := range m.Measures() {
			if !slices.Contains(out, one) {
				out = append(out, one)
			}
		}
	}
	return slices.Clip(out)
}

// Measures lists the measures that a metric is made of.
func (m Metric) Measures() []Measure { return slices.Concat(m.Of, m.Over) }
