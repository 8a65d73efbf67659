package gcp_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func asset(kind, location, path string) gcptwin.Asset {
	return gcptwin.Asset{Name: "//" + path, AssetType: kind, Location: location, Created: "2026-03-01T16:00:00Z"}
}

// others lists all that has no kind in a region, by uid.
func others(t *testing.T, c cloud.Conn, region string) map[string]cloud.Resource {
	t.Helper()
	found := map[string]cloud.Resource{}
	for page := ""; ; {
		got, err := c.List(t.Context(), cloud.GCPOthers, region, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Resources {
			found[r.UID] = r
		}
		if page = got.Next; page == "" {
			return found
		}
	}
}

func TestEverythingElseIsFoundInItsRegion(t *testing.T) {
	tw, c := connect(t)
	tw.Page = 2
	disk := asset("compute.googleapis.com/Disk", region+"-b",
		"compute.googleapis.com/projects/acme-prod/zones/europe-west1-b/disks/data")
	disk.Labels, disk.Parent = map[string]string{"team": "shop"},
		"//cloudresourcemanager.googleapis.com/projects/acme-prod"
	for _, a := range []gcptwin.Asset{
		disk,
		asset("pubsub.googleapis.com/Topic", "global", "pubsub.googleapis.com/projects/acme-prod/topics/orders"),
		asset("storage.googleapis.com/Bucket", "us", "storage.googleapis.com/acme-media"),
		asset("quantum.googleapis.com/Qubit", region,
			"quantum.googleapis.com/projects/acme-prod/locations/europe-west1/qubits/q"),
		asset("compute.googleapis.com/Disk", region+"0-b",
			"compute.googleapis.com/projects/acme-prod/zones/europe-west10-b/disks/near"),
		asset("compute.googleapis.com/Instance", region+"-b",
			"compute.googleapis.com/projects/acme-prod/zones/europe-west1-b/instances/web"),
		asset("sqladmin.googleapis.com/Instance", region,
			"cloudsql.googleapis.com/projects/acme-prod/instances/orders"),
		asset("cloudresourcemanager.googleapis.com/Project", "global",
			"cloudresourcemanager.googleapis.com/projects/acme-prod"),
	} {
		tw.AddAsset(a)
	}
	here := others(t, c, region)
	if want := 2; len(here) != want {
		t.Fatalf("found %v; want the disk and the unknown, without what kinds list and what is in another region",
			slices.Sorted(maps.Keys(here)))
	}
	d := here[disk.Name]
	if d.Type != "gcp-disk" || d.Region != region || d.Zone != region+"-b" || d.Name != "data" ||
		d.Tags["team"] != "shop" || d.ParentUID != "" || d.CreatedAt.IsZero() {
		t.Errorf("the disk is %+v", d)
	}
	q := here["//quantum.googleapis.com/projects/acme-prod/locations/europe-west1/qubits/q"]
	if q.Type != "gcp-other" || q.Facts[cloud.NativeType] != "quantum.googleapis.com/Qubit" {
		t.Errorf("what has no name here is %+v", q)
	}
	global := others(t, c, cloud.Global)
	if len(global) != 2 || global["//storage.googleapis.com/acme-media"].Type != "gcp-gcs" ||
		global["//pubsub.googleapis.com/projects/acme-prod/topics/orders"].Region != cloud.Global {
		t.Errorf("in no region: %v; want the topic and the bucket of several regions", global)
	}
}

func TestFactsAreThoseOfTheThingsThemselves(t *testing.T) {
	created := time.Date(2026, 3, 1, 16, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		kind, json string
		want       cloud.Facts
	}{
		"a disk that was detached": {
			"Disk",
			`{"sizeGb":"100","type":"https://x/diskTypes/pd-ssd","lastDetachTimestamp":"2026-04-01T00:00:00Z",
				"lastAttachTimestamp":"2026-03-02T00:00:00Z"}`,
			cloud.Facts{
				"users": []string{}, "disk_type": "pd-ssd", "size_gb": 100.0, "provisioned_iops": 0.0,
				"regional":            false,
				"instance_state":      "",
				"instance_stopped_at": cloud.Never, "last_snapshot_at": cloud.Epoch, "pvc": false,
				"snapshot_policy":  false,
				"last_detached_at": time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC),
			},
		},
		"a disk that never was attached": {"Disk", `{"sizeGb":"10","type":"pd-standard"}`, cloud.Facts{
			"users": []string{}, "disk_type": "pd-standard", "size_gb": 10.0, "provisioned_iops": 0.0,
			"regional": false, "instance_state": "",
			"instance_stopped_at": cloud.Never, "last_snapshot_at": cloud.Epoch, "pvc": false, "snapshot_policy": false,
			"last_detached_at": created,
		}},
		"a disk in use": {
			"Disk",
			`{"sizeGb":"10","type":"pd-standard","users":["i"],"lastAttachTimestamp":"2026-03-02T00:00:00Z",
				"region":"r","provisionedIops":"3000"}`,
			cloud.Facts{
				"users": []string{"i"}, "disk_type": "pd-standard", "size_gb": 10.0, "provisioned_iops": 3000.0,
				"regional":         true,
				"last_snapshot_at": cloud.Epoch, "pvc": false, "snapshot_policy": false,
			},
		},
		"an address of nobody": {
			"Address", `{"status":"RESERVED","addressType":"EXTERNAL"}`,
			cloud.Facts{
				"state": "RESERVED", "address_type": "EXTERNAL", "unused_since": cloud.Since{},
				"instance_state": "",
			},
		},
		"an address in use": {
			"Address", `{"status":"IN_USE","addressType":"INTERNAL"}`,
			cloud.Facts{
				"state": "IN_USE", "address_type": "INTERNAL", "unused_since": cloud.Never,
				"instance_state": "",
			},
		},
		"a snapshot": {
			"Snapshot",
			`{"storageBytes":"2147483648","autoCreated":true,"snapshotType":"STANDARD"}`,
			cloud.Facts{"auto_created": true, "storage_gb": 2.0, "snapshot_type": "STANDARD"},
		},
		"one that is not told":         {"Disk", ``, nil},
		"one that is told differently": {"Disk", `{"sizeGb":"a lot"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			a := asset("compute.googleapis.com/"+tt.kind, region, "compute.googleapis.com/projects/acme-prod/x/y")
			a.Thing = tt.json
			tw.AddAsset(a)
			if got := others(t, c, region)[a.Name].Facts; fmt.Sprint(got) != fmt.Sprint(tt.want) ||
				(got == nil) != (tt.want == nil) {
				t.Errorf("facts %v; want %v", got, tt.want)
			}
		})
	}
}

// Of a project that has not switched the inventory on nothing is known, which is not that there is nothing.
func TestAnInventoryThatIsOffIsDenied(t *testing.T) {
	tw, c := connect(t)
	tw.AddFault(gcptwin.Fault{
		Op: "cloudasset.assets.searchAllResources", Reason: "SERVICE_DISABLED",
		Message: "Cloud Asset API has not been used in project", Status: 403,
		Consumer: "projects/" + gcptwin.ProjectNumber, Times: -1,
	})
	_, err := c.List(t.Context(), cloud.GCPOthers, region, "")
	wantClass(t, "List", err, cloud.Denied)
	_, err = c.List(t.Context(), cloud.GCPOthers, "../x", "")
	wantClass(t, "List of a region that is none", err, cloud.Invalid)
}
