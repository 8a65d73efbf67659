package azure_test

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// others lists everything that no kind lists, by name.
func others(t *testing.T, tw *azuretwin.Cloud, in string) map[string]cloud.Resource {
	t.Helper()
	c, found := open(t, tw, principal(azuretwin.Secret)), map[string]cloud.Resource{}
	for page := ""; ; {
		got, err := c.List(t.Context(), cloud.AzureOthers, in, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Resources {
			found[r.Name] = r
		}
		if page = got.Next; page == "" {
			return found
		}
	}
}

func TestOthers_AreWhatNoKindListsAndNothingElse(t *testing.T) {
	tw := &azuretwin.Cloud{Page: 2}
	tw.Fill(region)
	tw.AddFunctionApp("jobs", region)
	for n := range 5 {
		tw.AddOther("Microsoft.Storage/storageAccounts", fmt.Sprint("store", n), region,
			map[string]any{"tags": map[string]any{"team": "web"}})
	}
	tw.AddOther("Microsoft.Network/dnsZones", "example.com", "global", map[string]any{})
	tw.AddOther("Contoso.New/things", "thing", region,
		map[string]any{"properties": map[string]any{"timeCreated": "not a time"}})
	here := others(t, tw, region)
	if len(here) != 7 { // five accounts, the thing, and the autoscale setting of the filled region
		t.Errorf("found %d: %v", len(here), here)
	}
	if r := here["store3"]; r.Type != "azure-storage" &&
		r.Type != cloud.TypeOf("azure", "microsoft.storage/storageaccounts") || r.Tags["team"] != "web" ||
		r.Region != region {
		t.Errorf("an account is %+v", r)
	}
	if r := here["thing"]; r.Type != "azure-other" || r.Facts[cloud.NativeType] != "contoso.new/things" {
		t.Errorf("what nobody has a name for is %+v", r)
	}
	if zones := others(t, tw, cloud.Global); len(zones) != 1 || zones["example.com"].Region != cloud.Global {
		t.Errorf("in no region: %v", zones)
	}
}

func TestOthers_TellTheFactsOfWaste(t *testing.T) {
	tw := &azuretwin.Cloud{}
	add := func(armType, name string, body, properties map[string]any) {
		body["properties"] = properties
		tw.AddOther(armType, name, region, body)
	}
	premium := map[string]any{"name": "Premium_LRS"}
	add("Microsoft.Compute/disks", "free", map[string]any{"sku": premium}, map[string]any{
		"diskState": "Unattached", "diskSizeGB": 128, "diskIOPSReadWrite": 500, "diskMBpsReadWrite": 100,
		"LastOwnershipUpdateTime": "2026-01-02T03:04:05Z",
	})
	add("Microsoft.Compute/disks", "older", map[string]any{},
		map[string]any{"diskState": "Unattached", "diskSizeGB": 1})
	add("Microsoft.Compute/disks", "used", map[string]any{"managedBy": "/subscriptions/S/VM"},
		map[string]any{"diskState": "Attached", "diskSizeGB": 64})
	add("Microsoft.Compute/snapshots", "snap", map[string]any{"sku": premium},
		map[string]any{"incremental": true, "diskSizeGB": 30})
	add("Microsoft.Network/publicIPAddresses", "idle", map[string]any{"sku": map[string]any{"name": "Standard"}},
		map[string]any{"publicIPAllocationMethod": "Static"})
	add("Microsoft.Network/publicIPAddresses", "busy", map[string]any{},
		map[string]any{"natGateway": map[string]any{"id": "/x"}})
	add("Microsoft.Network/loadBalancers", "lb", map[string]any{"sku": map[string]any{"name": "Standard"}},
		map[string]any{
			"backendAddressPools": []any{map[string]any{"properties": map[string]any{
				"backendIPConfigurations": []any{map[string]any{"id": "/a"}, map[string]any{"id": "/b"}},
			}}},
			"loadBalancingRules": []any{map[string]any{}}, "inboundNatRules": []any{},
		})
	add("Microsoft.Network/networkInterfaces", "nic", map[string]any{}, map[string]any{})
	add("Microsoft.Network/natGateways", "nat", map[string]any{},
		map[string]any{"subnets": []any{map[string]any{"id": "/s"}}})
	found := others(t, tw, region)
	for name, want := range map[string]cloud.Facts{
		"free": {
			"disk_state": "Unattached", "managed_by_vm": "", "sku": "Premium_LRS", "size_gb": 128.0, "tier_iops": 500.0,
			"tier_mbps": 100.0, "pvc": false,
			"asr": false, "public_access": false, "vm_state": "",
			"unattached_since": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		},
		"older": {
			"disk_state": "Unattached", "managed_by_vm": "", "sku": "", "size_gb": 1.0, "tier_iops": 0.0,
			"tier_mbps": 0.0, "pvc": false,
			"asr": false, "public_access": false, "vm_state": "", "unattached_since": cloud.Since{},
		},
		"used": {
			"disk_state": "Attached", "managed_by_vm": "/subscriptions/s/vm", "sku": "", "size_gb": 64.0,
			"tier_iops": 0.0, "tier_mbps": 0.0, "pvc": false,
			"asr": false, "public_access": false, "unattached_since": cloud.Never,
		},
		"snap": {"sku": "Premium_LRS", "incremental": true, "size_gb": 30.0, "vault_owned": false},
		"idle": {
			"sku": "Standard", "allocation": "Static", "attached": false, "ddos_mode": "",
			"unattached_since": cloud.Since{},
		},
		"busy": {"sku": "", "allocation": "", "attached": true, "ddos_mode": "", "unattached_since": cloud.Never},
		"lb":   {"sku": "Standard", "backend_count": 2.0, "rule_count": 1.0, "nat_rule_count": 0.0},
		"nic":  {"attached": false},
		"nat":  {"subnet_count": 1.0},
	} {
		if got := found[name]; fmt.Sprint(got.Facts) != fmt.Sprint(want) {
			t.Errorf("%s (%s): facts %v; want %v", name, got.Type, got.Facts, want)
		}
	}
	if r := found["used"]; r.ParentUID != "/subscriptions/s/vm" || r.Capacity["sizeGiB"] != 64 {
		t.Errorf("a disk that is used is %+v", r)
	}
}
