package recommender

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/rule/condition"
)

func TestJoin_OfAGoogleInstanceWithItsDisksAndAddresses(t *testing.T) {
	stopped := savingsNow.AddDate(0, 0, -40)
	in := &inputs{parts: map[string]parts{}, machines: map[string]machine{}, disks: map[string]bool{}}
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

func TestSourceExists_IsFalseOnlyWhereTheInventoryIsComplete(t *testing.T) {
	const disk = "//compute.googleapis.com/projects/acme/zones/europe-west1-b/disks/data"
	seen := inventory.Account{CloudAccountID: "acme", SeenFrom: savingsNow.Add(-day)}
	for name, tt := range map[string]struct {
		parent string
		in     map[string]bool
		change func(*inventory.Account)
		want   any
	}{
		"the disk is there":                {disk, map[string]bool{disk: true}, nil, true},
		"the disk is gone":                 {disk, nil, nil, false},
		"it names no disk":                 {"", nil, nil, nil},
		"the account was never seen whole": {disk, nil, func(a *inventory.Account) { a.SeenFrom = time.Time{} }, nil},
		"it is newer than what was seen": {disk, nil, func(a *inventory.Account) {
			a.SeenFrom = savingsNow.AddDate(0, 0, -200)
		}, nil},
		"the disk is of another project": {disk, nil, func(a *inventory.Account) { a.CloudAccountID = "other" }, nil},
		"its region is not discovered": {disk, nil, func(a *inventory.Account) {
			a.Regions = []string{"us-central1"}
		}, nil},
		"its region is discovered": {disk, nil, func(a *inventory.Account) {
			a.Regions = []string{"europe-west1"}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := seen
			if tt.change != nil {
				tt.change(&a)
			}
			s := newSubjectOf(t, "gcp-snapshot", "", nil)
			s.ParentUID, s.disks, s.accounts = tt.parent, tt.in, map[string]inventory.Account{"ca_1": a}
			if v, _ := s.derived(t, "source_exists"); v != tt.want {
				t.Errorf("%v, want %v", v, tt.want)
			}
		})
	}
}

func TestJoin_CountsTheClustersOfABigtableInstance(t *testing.T) {
	in := &inputs{parts: map[string]parts{}, machines: map[string]machine{}, disks: map[string]bool{}}
	for _, kind := range []string{"gcp-bigtable-cluster", "gcp-bigtable-cluster", "gcp-bigtable-backup"} {
		in.join(inventory.IndexedResource{Type: kind, ParentUID: "//instance"})
	}
	for uid, want := range map[string]any{"//instance": 2.0, "//unlisted": nil} {
		s := newSubjectOf(t, "gcp-bigtable", "", nil)
		s.UID, s.parts = uid, in.parts
		if v, _ := s.derived(t, "cluster_count"); v != want {
			t.Errorf("%s has %v clusters, want %v", uid, v, want)
		}
	}
}

func TestJoin_OfAVolumeOfAClusterWithItsDisk(t *testing.T) {
	in := &inputs{parts: map[string]parts{}, disks: map[string]bool{}, unattached: map[string]disk{}}
	const arn = "arn:aws:ec2:eu-west-1:123456789012:volume/"
	in.join(inventory.IndexedResource{UID: arn + "vol-1", Type: "aws-ebs", CloudAccountID: "ca_1"})
	in.join(inventory.IndexedResource{UID: arn + "vol-2", Type: "aws-ebs", ParentUID: "i-1", CloudAccountID: "ca_1"})
	in.join(inventory.IndexedResource{UID: "//disk", Type: "gcp-disk", CloudAccountID: "ca_1"})
	for name, tt := range map[string]struct {
		disk string
		usd  float64
		why  condition.Reason
	}{
		"the disk has no machine":              {"vol-1", 6, ""},
		"a disk of Google Cloud":               {"//disk", 9, ""},
		"a machine has the disk":               {"vol-2", 0, unpriced},
		"the disk is not in the inventory":     {"vol-3", 0, unpriced},
		"the volume is no disk of a cloud":     {"", 0, unpriced},
		"the cluster says nothing of the disk": {"-", 0, unpriced},
	} {
		t.Run(name, func(t *testing.T) {
			facts := cloud.Facts{"disk": tt.disk}
			if tt.disk == "-" {
				facts = nil
			}
			s := newSubjectOf(t, "kubernetes-persistentvolume", "", facts)
			s.unattached = in.unattached
			s.bill(arn+"vol-1", cost.OnDemand, "0.2", 0)
			s.bill(arn+"vol-2", cost.OnDemand, "0.2", 0)
			s.bill("//disk", cost.OnDemand, "0.3", 0)
			s.CloudAccountID = "ca_of_the_cluster"
			got, why := s.diskCost()
			if why != tt.why || got.gross.Float64() != tt.usd {
				t.Errorf("%s USD (%q), want %g (%q)", got.gross, why, tt.usd, tt.why)
			}
			if why == "" && (len(got.claims) != 1 || got.claims[0].ResourceID == "") {
				t.Errorf("claims %+v, want one at the disk", got.claims)
			}
		})
	}
}

func TestResourceCount_OfAResourceGroup(t *testing.T) {
	const group = "/subscriptions/s-1/resourceGroups/Web"
	seen := savingsNow.Add(-time.Hour)
	for name, tt := range map[string]struct {
		account inventory.Account
		uids    []string
		want    any
		why     condition.Reason
	}{
		"two resources": {
			inventory.Account{}, []string{
				"/subscriptions/s-1/resourcegroups/web/providers/Microsoft.Compute/disks/a",
				group + "/providers/Microsoft.Sql/servers/db/databases/b",
				"/subscriptions/s-1/resourceGroups/other/providers/Microsoft.Compute/disks/c", group, "i-1",
			}, 2.0, "",
		},
		"none in an account that was seen completely": {inventory.Account{SeenFrom: seen}, nil, 0.0, ""},
		"none in an account of some regions": {
			inventory.Account{SeenFrom: seen, Regions: []string{"westeurope"}}, nil, nil, unknownValue,
		},
		"none in an account that was not seen completely": {inventory.Account{}, nil, nil, unknownValue},
		"none since the group was made": {
			inventory.Account{SeenFrom: savingsNow.AddDate(0, 0, -200)}, nil, nil, unknownValue,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, "azure-resource-group", "", nil)
			s.UID, s.inGroups = group, map[string]int{}
			s.accounts = map[string]inventory.Account{"ca_1": tt.account}
			for _, uid := range tt.uids {
				if in := resourceGroupOf(uid); in != "" {
					s.inGroups[in]++
				}
			}
			if got, why := s.derived(t, "resource_count"); got != tt.want || why != tt.why {
				t.Errorf("%v (%q); want %v (%q)", got, why, tt.want, tt.why)
			}
		})
	}
}
