package rule

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// What is collected under a name is what the rules mean by it. Measures are named in other words: the collected ones by
// their series, the declared ones for people.
func TestMetrics_AreCollectedAsDeclared(t *testing.T) {
	compared := 0
	for _, k := range cloud.Catalogue() {
		for _, m := range cloud.MetricsOf(k.Type) {
			d, ok := MetricOf(k.Type, m.Name)
			if !ok {
				continue // for people alone (ownMetrics in shared/cloud)
			}
			compared++
			if d.Namespace != m.Of[0].Namespace || d.Statistic != m.Of[0].Statistic ||
				d.RollUp != m.RollUp || d.Days != m.Days || d.Unit != m.Unit {
				t.Errorf("%s.%s is collected as %+v; the rules declare %+v", k.Type, m.Name, m, d)
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d metrics were compared; want 100 at least", compared)
	}
}

// The sum of a gauge counts nothing.
func TestMetrics_CountTheNewFlowsOfNetworkBalancers(t *testing.T) {
	const name = "requests_sum_7d"
	d, _ := MetricOf("aws-elb", name)
	for _, m := range cloud.MetricsOf("aws-elb") {
		if m.Name == name && (m.Of[0].Metric != d.Measure || !strings.Contains(d.Measure, "NewFlowCount for network")) {
			t.Errorf("collected: %s, declared: %s; want NewFlowCount for network balancers", m.Of[0].Metric, d.Measure)
		}
	}
}
