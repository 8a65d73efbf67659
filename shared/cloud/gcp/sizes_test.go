package gcp_test

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func TestSizesAreThoseOfTheZonesOfARegion(t *testing.T) {
	tw, c := connect(t)
	for _, at := range []string{zone, region + "-c"} {
		tw.AddMachineType(gcptwin.MachineType{Name: "n2-standard-4", Zone: at, CPUs: 4, MB: 16384, Disks: 128})
	}
	for _, m := range []gcptwin.MachineType{
		{Name: "e2-micro", CPUs: 2, MB: 1024, Disks: 16, Shared: true},
		{Name: "a2-highgpu-1g", CPUs: 12, MB: 87040, Accelerators: 1},
		{Name: "n1-gone-4", CPUs: 4, MB: 100, Deprecated: "DEPRECATED"},
	} {
		m.Zone = zone
		tw.AddMachineType(m)
	}
	tw.AddMachineType(gcptwin.MachineType{Name: "n2-standard-8", Zone: "us-central1-a", CPUs: 8, MB: 32768})
	got, err := c.(cloud.Sizer).Sizes(t.Context(), region)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v; want three types", got, err)
	}
	if s := got[2]; s.Name != "n2-standard-4" || s.VCPU != 4 || s.GiB != 16 || s.Disks != 128 ||
		!slices.Equal(s.Zones, []string{region + "-b", region + "-c"}) || s.GPU || s.Burstable {
		t.Errorf("%+v", s)
	}
	if !got[0].GPU || !got[1].Burstable || len(got[1].Zones) != 1 {
		t.Errorf("%+v", got[:2])
	}
}

func TestSizesAreNotReadInPart(t *testing.T) {
	tw, c := connect(t)
	tw.AddMachineType(gcptwin.MachineType{Name: "n2-standard-4", Zone: region + "-b", CPUs: 4, MB: 16384})
	tw.Unreachable = []string{"zones/" + region + "-c"}
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), region); cloud.ClassOf(err) != cloud.Transient {
		t.Errorf("with a zone that does not answer: %v", err)
	}
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), "europe west"); cloud.ClassOf(err) != cloud.Invalid {
		t.Errorf("of no region: %v", err)
	}
}
