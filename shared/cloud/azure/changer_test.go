package azure_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// changeOf returns a change of a resource of the twin.
func changeOf(kind string, verb cloud.ChangeVerb, r *azuretwin.Resource, want cloud.Values) cloud.Change {
	c := cloud.Change{Verb: verb, Kind: kind, Region: "westeurope", UID: r.UID(), Token: "rem_1-0", Want: want}
	if of, _ := cloud.ChangeOf(kind, verb); of.Copies {
		c.Steps = []string{cloud.StepCopy, cloud.StepSelf}
	}
	return c
}

// applied makes the calls of a change, each until its values are there.
func applied(t *testing.T, c cloud.Changer, want cloud.Change) cloud.ChangePlan {
	t.Helper()
	p, err := c.PlanChange(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range want.Calls(p.After) {
		call := cloud.ChangeCall{Change: want, Set: step.Set}
		if err = c.ApplyChange(t.Context(), call); err != nil {
			t.Fatalf("%s: %v", step.Name, err)
		}
		reached(t, c, call)
	}
	return p
}

func reached(t *testing.T, c cloud.Changer, call cloud.ChangeCall) {
	t.Helper()
	if ok, now, err := c.CheckChange(t.Context(), call); err != nil || !ok {
		t.Fatalf("not reached: %v, %v; want %v", now, err, call.Set)
	}
}

// settings are the changes of values that the test makes: the type in Azure, a body, and the wanted values.
var settings = map[string]struct {
	arm, name string
	verb      cloud.ChangeVerb
	body      string
	want      cloud.Values
}{
	"azure-disk": {
		"Microsoft.Compute/disks", "d1", cloud.ChangeStorage,
		`{"sku":{"name":"Premium_LRS","tier":"Premium"},"properties":{"diskSizeGB":64}}`,
		cloud.Values{"sku": "StandardSSD_LRS"},
	},
	"azure-storage": {
		"Microsoft.Storage/storageAccounts", "s1", cloud.ChangeStorage,
		`{"sku":{"name":"Standard_GRS","tier":"Standard"},"kind":"StorageV2","properties":{}}`,
		cloud.Values{"sku": "Standard_LRS"},
	},
	"azure-sql-database": {
		"Microsoft.Sql/servers/databases", "s/db", cloud.ChangeStorage,
		`{"properties":{"maxSizeBytes":268435456000,"currentBackupStorageRedundancy":"Geo"}}`,
		cloud.Values{"max_gb": "300"},
	},
	"azure-postgresql-flexible": {
		"Microsoft.DBforPostgreSQL/flexibleServers", "p", cloud.Resize,
		`{"properties":{"highAvailability":{"mode":"ZoneRedundant","state":"Healthy"}}}`,
		cloud.Values{"ha_mode": "Disabled"},
	},
	"azure-mysql-flexible": {
		"Microsoft.DBforMySQL/flexibleServers", "m", cloud.ChangeStorage,
		`{"properties":{"storage":{"autoIoScaling":"Disabled","iops":400}}}`,
		cloud.Values{"auto_io": "true"},
	},
	"azure-appservice": {
		"Microsoft.Web/sites", "w", cloud.Guard, `{"kind":"app","properties":{"httpsOnly":false}}`,
		cloud.Values{"https_only": "true"},
	},
	"azure-search": {
		"Microsoft.Search/searchServices", "q", cloud.Resize,
		`{"sku":{"name":"standard"},"properties":{"replicaCount":3}}`,
		cloud.Values{"replicas": "1"},
	},
	"azure-eventhub": {
		"Microsoft.EventHub/namespaces", "e", cloud.Resize,
		`{"sku":{"name":"Standard","tier":"Standard","capacity":8},"properties":{}}`,
		cloud.Values{"capacity": "2"},
	},
	"azure-loganalytics": {
		"Microsoft.OperationalInsights/workspaces", "l", cloud.Guard,
		`{"properties":{"workspaceCapping":{"dailyQuotaGb":-1}}}`,
		cloud.Values{"daily_cap_gb": "5"},
	},
	"azure-netapp-pool": {
		"Microsoft.NetApp/netAppAccounts/capacityPools", "n/p", cloud.ChangeStorage,
		`{"properties":{"size":8796093022208}}`,
		cloud.Values{"size_tib": "4"},
	},
}

func bodyOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func TestChanger_ValuesAreSetAndGivenBack(t *testing.T) {
	for kind, s := range settings {
		t.Run(kind, func(t *testing.T) {
			tw, conn := connect(t)
			r := tw.AddPlain(s.arm, s.name, "westeurope", bodyOf(t, s.body))
			c, before := conn.(cloud.Changer), tw.BodyOf(r.ID)
			want := changeOf(kind, s.verb, r, s.want)
			p := applied(t, c, want)
			if fmt.Sprint(p.After) != fmt.Sprint(s.want) {
				t.Errorf("after %v", p.After)
			}
			if fmt.Sprint(tw.BodyOf(r.ID)) == fmt.Sprint(before) {
				t.Error("nothing was changed")
			}
			call := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
			if err := c.ApplyChange(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			if after := tw.BodyOf(r.ID); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("after the undo %v\nbefore %v", after, before)
			}
		})
	}
}

// removals are the changes that remove a resource: the type in Azure, and a body that names a user.
var removals = map[string]struct {
	arm, name string
	verb      cloud.ChangeVerb
	used      string
}{
	"azure-disk": {
		"Microsoft.Compute/disks", "d", cloud.Delete, `{"managedBy":"/vm"}`,
	},
	"azure-snapshot": {"Microsoft.Compute/snapshots", "s", cloud.Delete, ""},
	"azure-publicip": {
		"Microsoft.Network/publicIPAddresses", "p", cloud.Release,
		`{"properties":{"ipConfiguration":{"id":"/nic/ip"}}}`,
	},
	"azure-loadbalancer": {
		"Microsoft.Network/loadBalancers", "l", cloud.Delete,
		`{"properties":{"backendAddressPools":[{"properties":{"backendIPConfigurations":[{"id":"/nic"}]}}]}}`,
	},
	"azure-nic": {
		"Microsoft.Network/networkInterfaces", "n", cloud.Delete,
		`{"properties":{"virtualMachine":{"id":"/vm"}}}`,
	},
	"azure-nsg": {
		"Microsoft.Network/networkSecurityGroups", "g", cloud.Delete,
		`{"properties":{"subnets":[{"id":"/net"}]}}`,
	},
	"azure-appserviceplan": {"Microsoft.Web/serverfarms", "f", cloud.Delete, `{"properties":{"numberOfSites":2}}`},
}

func TestChanger_AResourceIsRemovedAndMadeAgain(t *testing.T) {
	for kind, s := range removals {
		t.Run(kind, func(t *testing.T) {
			tw, conn := connect(t)
			c := conn.(cloud.Changer)
			r := tw.AddPlain(s.arm, s.name, "westeurope", map[string]any{
				"tags": map[string]any{"team": "a"}, "sku": map[string]any{"name": "Standard"},
				"properties": map[string]any{"provisioningState": "Succeeded", "priority": 7.0},
			})
			want := changeOf(kind, s.verb, r, nil)
			p := applied(t, c, want)
			if tw.Has(r.ID) {
				t.Fatal("it is still there")
			}
			call := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
			err := c.ApplyChange(t.Context(), call)
			if cloud.IsSnapshot(kind) {
				if cloud.ClassOf(err) != cloud.Unsupported {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			reached(t, c, call)
			body := tw.BodyOf(r.ID)
			if fmt.Sprint(body["tags"]) != "map[team:a]" || fmt.Sprint(body["sku"]) != "map[name:Standard]" {
				t.Errorf("%v", body)
			}
		})
	}
}

func TestChanger_WhatIsUsedOrLockedIsNotRemoved(t *testing.T) {
	for kind, s := range removals {
		if s.used == "" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			tw, conn := connect(t)
			used := tw.AddPlain(s.arm, s.name+"used", "westeurope", bodyOf(t, s.used))
			locked := tw.AddPlain(s.arm, s.name+"locked", "westeurope", nil)
			tw.LockDeletion(locked, "keep")
			for says, r := range map[string]*azuretwin.Resource{"in use by": used, "lock keep": locked} {
				if says == "lock keep" && s.verb == cloud.Release {
					continue
				}
				want := changeOf(kind, s.verb, r, nil)
				_, err := conn.(cloud.Changer).PlanChange(t.Context(), want)
				made := conn.(cloud.Changer).ApplyChange(t.Context(),
					cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}})
				if err == nil || made == nil || !strings.Contains(err.Error(), says) || !tw.Has(r.ID) {
					t.Errorf("%s: %v, %v", says, err, made)
				}
			}
		})
	}
}

func TestChanger_AMachineIsResizedOnlyWhileItIsDeallocated(t *testing.T) {
	tw, conn := connect(t)
	vm := tw.AddVM("m", "westeurope", nil)
	want := changeOf("azure-vm", cloud.Resize, vm, cloud.Values{"class": "Standard_B2s"})
	_, err := conn.(cloud.Changer).PlanChange(t.Context(), want)
	if cloud.ClassOf(err) != cloud.Unsupported || !strings.Contains(err.Error(), "must be deallocated") {
		t.Error(err)
	}
	tw.ChangeLocked(func() { vm.Power, vm.Plain = "deallocated", true })
	p := applied(t, conn.(cloud.Changer), want)
	if err = conn.(cloud.Changer).ApplyChange(t.Context(),
		cloud.ChangeCall{Change: want, Set: p.Before}); err != nil {
		t.Error(err)
	}
}

func TestChanger_TheDiskOfAMachineThatRunsKeepsItsType(t *testing.T) {
	tw, conn := connect(t)
	vm := tw.AddVM("m", "westeurope", nil)
	d := tw.AddPlain("Microsoft.Compute/disks", "d", "westeurope", map[string]any{
		"managedBy": vm.ID, "sku": map[string]any{"name": "Premium_LRS"},
	})
	want := changeOf("azure-disk", cloud.ChangeStorage, d, cloud.Values{"sku": "StandardSSD_LRS"})
	if _, err := conn.(cloud.Changer).PlanChange(t.Context(), want); cloud.ClassOf(err) != cloud.Unsupported {
		t.Error(err)
	}
	tw.ChangeLocked(func() { vm.Power = "deallocated" })
	applied(t, conn.(cloud.Changer), want)
}

// A call whose answer is lost is made once: its effect is read.
func TestChanger_ALostReplyIsNotRepeated(t *testing.T) {
	tw, conn := connect(t)
	d := tw.AddPlain("Microsoft.Compute/disks", "d", "westeurope", map[string]any{
		"sku": map[string]any{"name": "Premium_LRS"},
	})
	want := changeOf("azure-disk", cloud.ChangeStorage, d, cloud.Values{"sku": "StandardSSD_LRS"})
	tw.AddFault(azuretwin.Fault{Op: "Microsoft.Compute/disks/write", Times: 1, Lost: true})
	call := cloud.ChangeCall{Change: want, Set: want.Want}
	if err := conn.(cloud.Changer).ApplyChange(t.Context(), call); err == nil || !cloud.ClassOf(err).Retryable() {
		t.Error(err)
	}
	writes := slices.DeleteFunc(tw.Calls(""), func(c azuretwin.Call) bool { return c.Method != http.MethodPatch })
	if len(writes) != 1 {
		t.Errorf("%d calls", len(writes))
	}
	reached(t, conn.(cloud.Changer), call)
}

// Each call of a change is among the permissions that the catalogue declares.
func TestChanger_TheCatalogueDeclaresEachCall(t *testing.T) {
	for kind, s := range removals {
		tw, conn := connect(t)
		r := tw.AddPlain(s.arm, s.name, "westeurope", nil)
		want := changeOf(kind, s.verb, r, nil)
		p := applied(t, conn.(cloud.Changer), want)
		_ = conn.(cloud.Changer).ApplyChange(t.Context(),
			cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
		of, _ := cloud.ChangeOf(kind, s.verb)
		for _, call := range tw.Calls("") {
			op := call.Op
			if strings.HasSuffix(op, "/providers/locks/read") {
				op = "Microsoft.Authorization/locks/read"
			}
			declared := slices.ContainsFunc(of.Needs, func(n string) bool { return strings.EqualFold(n, op) })
			if !declared && !strings.HasPrefix(call.Op, "entra:") {
				t.Errorf("%s of %s calls %s, which is not declared", want.Verb, kind, op)
			}
		}
	}
}

// Each kind of the catalogue has its line here, with the values that the catalogue names and the type of Azure.
func TestChanger_TheCatalogueAndTheKindsAgree(t *testing.T) {
	tw, conn := connect(t)
	for _, of := range cloud.ChangesOf("azure") {
		arm := strings.TrimPrefix(strings.TrimPrefix(of.Call, "PATCH "), "DELETE ")
		r := tw.AddPlain(arm, strings.Repeat("x/", strings.Count(arm, "/")-1)+"x", "westeurope", nil)
		d, err := conn.(cloud.Changer).DescribeForChange(t.Context(), changeOf(of.Type, of.Verb, r, nil))
		if err != nil {
			t.Errorf("%s of %s: %v", of.Verb, of.Type, err)
			continue
		}
		for _, name := range of.Sets {
			if _, has := d.Values[name]; !has {
				t.Errorf("%s of %s: it has no value %s", of.Verb, of.Type, name)
			}
		}
	}
}

// The snapshot that a deletion took is found by its native id, carries the mark, and is deleted as any snapshot.
func TestChanger_TheSnapshotOfADeletionIsDeleted(t *testing.T) {
	tw, conn := connect(t)
	c := conn.(cloud.Changer)
	r := tw.AddPlain("Microsoft.Compute/disks", "d", "westeurope", map[string]any{
		"tags": map[string]any{"team": "a"}, "properties": map[string]any{"provisioningState": "Succeeded"},
	})
	want := changeOf("azure-disk", cloud.Delete, r, nil)
	call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.CopyValue: cloud.CopyComplete}}
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	reached(t, c, call)
	d, err := c.DescribeForChange(t.Context(), want)
	if err != nil || d.CopyUID == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	snapshot := cloud.Change{Verb: cloud.Delete, Kind: "azure-snapshot", Region: want.Region, UID: d.CopyUID}
	if d, err = c.DescribeForChange(t.Context(), snapshot); err != nil || d.Values[cloud.MarkValue] != want.Token {
		t.Fatalf("%+v, %v", d, err)
	}
	gone := cloud.ChangeCall{Change: snapshot, Set: cloud.Values{cloud.ExistsValue: "false"}}
	if err = c.ApplyChange(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	reached(t, c, gone)
}
