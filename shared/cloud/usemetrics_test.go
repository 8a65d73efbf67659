package cloud

import (
	"slices"
	"testing"
)

func TestUseMetrics_AreWellFormedForEveryTypeWithSizes(t *testing.T) {
	names := []string{UseCPU, UseAverage, UseIOPS, UseMiBps, UseMbps}
	for _, kind := range append([]string{GCPCloudSQL}, sizedTypes...) {
		all := UseMetricsOf(kind)
		if _, known := KindOf(kind); !known || len(all) < 3 || all[0].Name != UseCPU || all[1].Name != UseAverage {
			t.Errorf("%s: %+v", kind, all)
		}
		for _, m := range all {
			rolls := []string{"avg", "p99", "p99.5"}
			if !slices.Contains(names, m.Name) || m.Days != 14 || m.Factor <= 0 || m.Daily || m.When != "" ||
				!slices.Contains(rolls, m.RollUp) {
				t.Errorf("%+v", m)
			}
		}
	}
	if n := len(readUseMetrics()); n != len(sizedTypes)+1 {
		t.Errorf("%d types have metrics of use", n)
	}
	if all := FineMetricsOf(AWSEC2); len(all) != len(MetricsOf(AWSEC2))+len(UseMetricsOf(AWSEC2)) {
		t.Errorf("a confirmation may ask for %d metrics", len(all))
	}
}
