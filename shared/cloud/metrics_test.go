package cloud

import (
	"slices"
	"testing"
)

func TestMetrics_AreThoseOfTheRules(t *testing.T) {
	rules := map[string]map[string]string{}
	for _, row := range ruleData(t, "metrics.csv") {
		rules[row["resource_type"]+"."+row["name"]] = row
	}
	for kind, all := range readMetrics() {
		for _, m := range all {
			row := rules[kind+"."+m.Name]
			if row == nil || row["unit"] != m.Unit || row["namespace"] != m.Of[0].Namespace {
				t.Errorf("%+v: metrics.csv says %v", m, row)
			}
		}
	}
}

func TestMetrics_AreWellFormedAndFew(t *testing.T) {
	for kind, all := range readMetrics() {
		if _, ok := KindOf(kind); !ok {
			t.Errorf("the catalogue has no type %s", kind)
		}
		if n := len(MeasuresOf(kind)); n == 0 || n > 6 {
			t.Errorf("%s has %d measures; with more than 6, of 10,000 resources take more than 120 calls of 500", kind, n)
		}
		for _, m := range all {
			if m.Days < 1 || m.Days > 30 || m.Factor <= 0 || !slices.Contains([]string{"avg", "min", "max", "sum", "p95", "p99", "p99.5"}, m.RollUp) {
				t.Errorf("%+v: days, factor or roll-up are not ones that are collected", m)
			}
		}
	}
}

func TestMetrics_AreMadeOfMeasures(t *testing.T) {
	all := MetricsOf("aws-ec2")
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == "net_bytes_day_max_14d" })
	if m := all[i]; !slices.Equal(m.Of, []Measure{{"AWS/EC2", "NetworkIn", "Sum"}, {"AWS/EC2", "NetworkOut", "Sum"}}) || !m.Daily || m.RollUp != "max" || m.Days != 14 {
		t.Errorf("%+v", m)
	}
	if k, _ := KindOf("aws-ec2"); !k.Measured {
		t.Error("aws-ec2 is not marked as measured")
	}
	if k, _ := KindOf("aws-vpc"); k.Measured {
		t.Error("aws-vpc is marked as measured")
	}
}
