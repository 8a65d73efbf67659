package azure_test

import (
	"net/http"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

func TestSizes_AreThoseThatTheSubscriptionMayUse(t *testing.T) {
	tw, c := connect(t)
	tw.Page = 2
	capable := map[string]string{
		"vCPUs": "4", "MemoryGB": "16", "UncachedDiskIOPS": "6400", "UncachedDiskBytesPerSecond": "100663296",
		"MaxDataDiskCount": "8", "MaxNetworkInterfaces": "2", "CpuArchitectureType": "x64", "vCPUsAvailable": "4",
	}
	tw.AddOffer(region, "Standard_D4s_v3", capable, []string{"3", "1", "2"}, "2")
	tw.AddOffer(region, "Standard_D8s_v3", capable, nil, "Location")
	tw.AddOffer(region, "Standard_B2s", map[string]string{"vCPUs": "2", "MemoryGB": "4"}, nil, "")
	tw.AddOffer(region, "Standard_E4-2s_v5", map[string]string{
		"vCPUs": "4", "vCPUsAvailable": "2", "MemoryGB": "32", "CpuArchitectureType": "Arm64", "GPUs": "1",
	}, []string{"1"}, "")
	tw.AddOffer(region, "Standard_D2s_v3", capable, []string{"1"}, "1") // in no zone
	tw.AddOffer("elsewhere", "Standard_D2s_v3", capable, nil, "")
	got, err := c.(cloud.Sizer).Sizes(t.Context(), region)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v; want three sizes", got, err)
	}
	s := got[0]
	if s.Name != "Standard_D4s_v3" || s.VCPU != 4 || s.GiB != 16 || s.IOPS != 6400 || s.MiBps != 96 || s.Disks != 8 ||
		s.NICs != 2 || !slices.Equal(s.Zones, []string{"1", "3"}) || s.Mbps != 0 || s.Arm || s.GPU || s.Burstable {
		t.Errorf("%+v", s)
	}
	if s = got[1]; s.Name != "Standard_B2s" || !s.Burstable || s.IOPS != 0 {
		t.Errorf("%+v", s)
	}
	if s = got[2]; s.VCPU != 2 || !s.Arm || !s.GPU {
		t.Errorf("%+v", s)
	}
}

func TestSizes_AreRefusedWithTheNameOfThePermission(t *testing.T) {
	tw, c := connect(t)
	tw.AddFault(azuretwin.Fault{
		Op: "Microsoft.Compute/skus/read", Status: http.StatusForbidden, Code: "AuthorizationFailed", Times: -1,
	})
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), region); cloud.ClassOf(err) != cloud.Denied {
		t.Errorf("without the permission: %v", err)
	}
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), "west europe"); cloud.ClassOf(err) != cloud.Invalid {
		t.Errorf("of no region: %v", err)
	}
}
