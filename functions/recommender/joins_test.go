package recommender

import (
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
)

func TestJoin_OfAGoogleInstanceWithItsDisksAndAddresses(t *testing.T) {
	stopped := savingsNow.AddDate(0, 0, -40)
	in := &inputs{parts: map[string]parts{}, machines: map[string]machine{}}
	in.join(inventory.IndexedResource{
		UID: "//vm", Type: "gcp-compute", Status: cloud.Stopped, StatusAt: stopped,
	})
	in.join(inventory.IndexedResource{UID: "//disk", Type: "gcp-disk", ParentUID: "//vm"})
	vm := newSubjectOf(t, "gcp-compute", "n2-standard-2", nil)
	vm.UID, vm.parts = "//vm", in.parts
	if v, why := vm.derived(t, "disk_cost_30d"); v != nil || why != unbilled {
		t.Errorf("the disks cost %v (%q) without bills", v, why)
	}
	vm.bill("//disk", cost.OnDemand, "0.2", 0)
	if v, why := vm.derived(t, "disk_cost_30d"); v != 6.0 || why != "" {
		t.Errorf("the disks cost %v (%q), want 6", v, why)
	}
	for parent, want := range map[string]struct {
		since     any
		scheduled bool
	}{
		"//vm": {stopped, true}, "": {cloud.Never, false}, "//unknown": {nil, false},
	} {
		address := newSubjectOf(t, "gcp-address", "", nil)
		address.ParentUID, address.machines = parent, in.machines
		address.scheduled = map[string]bool{"//vm": true}
		if v, _ := address.derived(t, "instance_stopped_at"); v != want.since {
			t.Errorf("the instance %q is stopped since %v, want %v", parent, v, want.since)
		}
		if v, _ := address.derived(t, "instance_has_schedule"); v != want.scheduled {
			t.Errorf("the instance %q has a schedule: %v", parent, v)
		}
	}
}
