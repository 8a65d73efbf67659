package rule

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// FactOrigin tells who declared a fact.
type FactOrigin string

// The origins of facts.
const (
	OfRules  FactOrigin = "rules"  // the shared table of the rules
	Ours     FactOrigin = "ours"   // added here, for a corrected condition
	OfChange FactOrigin = "change" // a target sets it, and no condition reads it
	OfInput  FactOrigin = "input"  // a derivation of another fact, or a saving, reads it
)

// Fact declares a property of the resources of a type, which conditions read as res.<name>.
type Fact struct {
	Type   string // "*" for every type
	Name   string
	Kind   string // bool, number, string, timestamp, list(string) or map(string,string)
	Unit   string
	Origin FactOrigin
	Source string // the provider's call and field, or our own derivation
}

// Metric declares a rolled-up measure of the resources of a type, which conditions read as m.<name>.
type Metric struct {
	Type      string // "*" for every type
	Name      string
	Namespace string
	Measure   string // the provider's name, with a note in parentheses where types differ
	Statistic string // of the provider, over a period
	RollUp    string // of the periods, over the window
	Period    time.Duration
	Days      int // of the window
	Unit      string
}

// everyType is the type of facts and metrics that all resources have.
const everyType = "*"

var readFacts = sync.OnceValue(func() map[string][]Fact {
	out := map[string][]Fact{}
	for _, f := range unpack(factTable) {
		out[f[0]] = append(out[f[0]], Fact{f[0], f[1], f[2], f[3], FactOrigin(f[4]), f[5]})
	}
	return out
})

var readMetrics = sync.OnceValue(func() map[string][]Metric {
	out := map[string][]Metric{}
	for _, f := range unpack(metricTable) {
		statistic, rollUp, _ := strings.Cut(f[4], ":")
		seconds, _ := strconv.Atoi(f[5])
		days, _ := strconv.Atoi(f[6])
		out[f[0]] = append(out[f[0]], Metric{
			f[0], f[1], f[2], f[3], statistic, rollUp,
			time.Duration(seconds) * time.Second, days, f[7],
		})
	}
	return out
})

// FactsOf lists the facts of a type and those of every type. A type of its own declares a fact again where its
// meaning differs; its own stands first. "aws-*" has the facts of every type only.
func FactsOf(kind string) []Fact { return slices.Concat(readFacts()[kind], readFacts()[everyType]) }

// MetricsOf lists the metrics of a type and those of every type.
func MetricsOf(kind string) []Metric {
	return slices.Concat(readMetrics()[kind], readMetrics()[everyType])
}

// FactOf returns the declaration of a fact, and whether the type has it.
func FactOf(kind, name string) (Fact, bool) {
	for _, of := range []string{kind, everyType} {
		if i := slices.IndexFunc(readFacts()[of], func(f Fact) bool { return f.Name == name }); i >= 0 {
			return readFacts()[of][i], true
		}
	}
	return Fact{}, false
}

// MetricOf returns the declaration of a metric, and whether the type has it.
func MetricOf(kind, name string) (Metric, bool) {
	for _, of := range []string{kind, everyType} {
		if i := slices.IndexFunc(readMetrics()[of], func(m Metric) bool { return m.Name == name }); i >= 0 {
			return readMetrics()[of][i], true
		}
	}
	return Metric{}, false
}

// orgSettings are the settings of an organization that conditions may read as org.<name>.
var orgSettings = []string{"required_tags", "allowed_regions", "min_log_days"}
