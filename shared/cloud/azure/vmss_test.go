package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const vmss = "azure-vmss"

// writes are the changes that were made, in order: "PATCH web {…}".
func writes(tw *azuretwin.Cloud) []string {
	var out []string
	for _, k := range tw.Calls("") {
		if k.Method == http.MethodPut || k.Method == http.MethodPatch {
			out = append(out, k.Op)
		}
	}
	return out
}

const (
	setWrite     = "Microsoft.Compute/virtualMachineScaleSets/write"
	settingWrite = "Microsoft.Insights/autoscaleSettings/write"
)

func capacityOf(r *azuretwin.Resource) any { return r.Body["sku"].(map[string]any)["capacity"] }

func TestVMSS_AutoscaleIsDisabledFirstAndRestored(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	setting := tw.AddSetting(set, region, 2, 9)
	before := fmt.Sprint(setting.Body)
	s := state(t, c, vmss, set.UID())
	if string(s.Snapshot) != `{"capacity":3,"autoscale":true}` {
		t.Fatalf("snapshot %s", s.Snapshot)
	}
	if err := act(t, c, cloud.Stop, vmss, cloud.Target{UID: set.UID()}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(writes(tw), " "); got != settingWrite+" "+setWrite {
		t.Errorf("changed in the order %s; want the setting first", got)
	}
	tw.SettleAll()
	tw.SettleAll() // the autoscaler has had its turn
	if s := state(t, c, vmss, set.UID()); s.Status != cloud.Stopped || s.Snapshot != nil {
		t.Errorf("after the stop: %+v; want it to stay stopped, with nothing to remember", s)
	}
	if err := act(t, c, cloud.Start, vmss, cloud.Target{UID: set.UID(), Snapshot: s.Snapshot}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if capacityOf(set) != 3.0 || fmt.Sprint(setting.Body) != before {
		t.Errorf("after the start: capacity %v, setting %v; want 3, and the setting as it was: %s", capacityOf(set),
			setting.Body, before)
	}
}

func TestVMSS_ASettingThatTheCustomerDisabledStaysSo(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	setting := tw.AddSetting(set, region, 2, 9)
	setting.Properties()["enabled"] = false
	s := state(t, c, vmss, set.UID())
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if err := act(t, c, v, vmss, cloud.Target{UID: set.UID(), Snapshot: s.Snapshot}); err != nil {
			t.Fatal(err)
		}
		tw.SettleAll()
	}
	if got := strings.Join(writes(tw), " "); got != setWrite+" "+setWrite {
		t.Errorf("changed %s; want the set alone", got)
	}
}

// The process, or Azure, may end between the two calls of a stop. The next stop must not remember that there is no
// autoscaling.
func TestVMSS_AStopThatEndsHalfwayIsRememberedWhole(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	setting := tw.AddSetting(set, region, 2, 9)
	tw.AddFault(azuretwin.Fault{Op: setWrite, Code: "AuthorizationFailed", Message: "no", Status: 403, Times: 1})
	wantClass(t, "the first stop", act(t, c, cloud.Stop, vmss, cloud.Target{UID: set.UID()}), cloud.Denied)
	if setting.Properties()["enabled"] != false {
		t.Fatal("the setting was not disabled first")
	}
	s := state(t, c, vmss, set.UID())
	if s.Status != cloud.Running || string(s.Snapshot) != `{"capacity":3,"autoscale":true}` {
		t.Fatalf("after half a stop: %+v with %s; want it running, autoscaled before", s, s.Snapshot)
	}
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if err := act(t, c, v, vmss, cloud.Target{UID: set.UID(), Snapshot: s.Snapshot}); err != nil {
			t.Fatal(err)
		}
		tw.SettleAll()
	}
	if setting.Properties()["enabled"] != true || fmt.Sprint(setting.Body["tags"]) != "map[team:web]" {
		t.Errorf("the setting came back as %v, tags %v", setting.Properties()["enabled"], setting.Body["tags"])
	}
}

// A start enables the setting first. If the process dies after that, the next act finds the set empty and starts it
// again.
func TestVMSS_AStartThatEndsHalfwayIsDoneAgain(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 0, nil)
	setting := tw.AddSetting(set, region, 0, 9)
	setting.Properties()["enabled"] = false
	remembered := cloud.Target{UID: set.UID(), Snapshot: json.RawMessage(`{"capacity":4,"autoscale":true}`)}
	tw.AddFault(azuretwin.Fault{Op: setWrite, Code: "AuthorizationFailed", Message: "no", Status: 403, Times: 1})
	wantClass(t, "the first start", act(t, c, cloud.Start, vmss, remembered), cloud.Denied)
	if s := state(t, c, vmss, set.UID()); s.Status != cloud.Stopped || setting.Properties()["enabled"] != true {
		t.Fatalf("after half a start: %+v, setting enabled: %v", s, setting.Properties()["enabled"])
	}
	if err := act(t, c, cloud.Start, vmss, remembered); err != nil {
		t.Fatal(err)
	}
	if capacityOf(set) != 4.0 {
		t.Errorf("capacity %v", capacityOf(set))
	}
}

// The mark on the setting replaces a lost snapshot.
func TestVMSS_AStartWithoutMemoryEnablesWhatAStopDisabled(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	setting := tw.AddSetting(set, region, 2, 9)
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if err := act(t, c, v, vmss, cloud.Target{UID: set.UID()}); err != nil {
			t.Fatal(err)
		}
		tw.SettleAll()
	}
	if setting.Properties()["enabled"] != true || capacityOf(set) != 2.0 {
		t.Errorf("enabled %v, capacity %v; want it enabled, at its minimum", setting.Properties()["enabled"],
			capacityOf(set))
	}
}

// A set without scaling, and one that was made again under the name of an earlier one.
func TestVMSS_AStartInventsNoSize(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 0, func(r *azuretwin.Resource) {
		r.Properties()["timeCreated"] = "2026-01-02T03:04:05Z"
	})
	for _, memory := range []string{"", `{"capacity":4,"autoscale":false,"made":1700000000}`} {
		err := act(t, c, cloud.Start, vmss, cloud.Target{UID: set.UID(), Snapshot: []byte(memory)})
		wantClass(t, "start with "+memory, err, cloud.Unsupported)
		if tw.SettleAll(); capacityOf(set) != 0.0 && capacityOf(set) != 0 {
			t.Errorf("with the memory %q it has %v instances; want none", memory, capacityOf(set))
		}
	}
}

func TestVMSS_AChangeThatFailedIsNotTakenForDone(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 0, nil)
	tw.FailNext(set, "AllocationFailed", "There is no room.")
	if err := act(t, c, cloud.Start, vmss,
		cloud.Target{UID: set.UID(), Snapshot: json.RawMessage(`{"capacity":4}`)}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	if s := state(t, c, vmss, set.UID()); s.Status == cloud.Running || s.Status.IsTransitional() {
		t.Errorf("after a start that failed: %+v", s)
	}
}

func TestVMSS_AScaleSetsEveryProfile(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	setting := tw.AddSetting(set, region, 2, 9)
	five, ten, twenty := int64(5), int64(10), int64(20)
	wantClass(t, "a desired size above the maximum",
		c.Scale(t.Context(), vmss, region, set.UID(), cloud.Capacity{Desired: &twenty}), cloud.Invalid)
	if err := c.Scale(t.Context(), vmss, region, set.UID(),
		cloud.Capacity{Min: &five, Max: &twenty, Desired: &ten}); err != nil {
		t.Fatal(err)
	}
	for _, p := range setting.Properties()["profiles"].([]any) {
		if got := fmt.Sprint(p.(map[string]any)["capacity"]); got != "map[default:5 maximum:20 minimum:5]" {
			t.Errorf("profile %v has %s; want texts, the minimum raised and the default with it",
				p.(map[string]any)["name"], got)
		}
	}
	if capacityOf(set) != 10.0 {
		t.Errorf("capacity %v", capacityOf(set))
	}
}

func TestVMSS_WithoutAutoscalerThereAreNoBounds(t *testing.T) {
	tw, c := connect(t)
	set := tw.AddScaleSet("web", region, 3, nil)
	one := int64(1)
	err := c.Scale(t.Context(), vmss, region, set.UID(), cloud.Capacity{Min: &one})
	wantClass(t, "a minimum", err, cloud.Invalid)
	if err != nil && !strings.Contains(err.Error(), "not autoscaled") {
		t.Errorf("the error %q does not say why", err)
	}
}
