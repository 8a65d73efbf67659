package gcp_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// addThings puts assets of a type into the twin, by the names at the end of their paths.
func addThings(tw *gcptwin.Cloud, kind, at, path string, things map[string]string) {
	for name, thing := range things {
		one := asset(kind, at, path+name)
		one.Thing = thing
		tw.AddAsset(one)
	}
}

func TestFirewallFacts_AreTheOpenPorts(t *testing.T) {
	tw, c := connect(t)
	const path = "compute.googleapis.com/projects/acme-prod/global/firewalls/"
	addThings(tw, "compute.googleapis.com/Firewall", "global", path, map[string]string{
		"world": `{"direction":"INGRESS","sourceRanges":["0.0.0.0/0"],"allowed":[{"IPProtocol":"tcp",
			"ports":["443","3300-3310"]}],"logConfig":{"enable":true}}`,
		"all":      `{"direction":"INGRESS","sourceRanges":["::/0"],"allowed":[{"IPProtocol":"all"}]}`,
		"inside":   `{"direction":"INGRESS","sourceRanges":["10.0.0.0/8"],"allowed":[{"ports":["22"]}]}`,
		"disabled": `{"disabled":true,"denied":[{"IPProtocol":"all"}]}`,
		"range":    `{"allowed":[{"ports":["0-65535"]}]}`,
	})
	found := others(t, c, cloud.Global)
	for name, want := range map[string]cloud.Facts{
		"world": {
			"enabled": true, "direction": "INGRESS", "ports": []string{"3306", "443"}, "world_open": true,
			"logging": true,
		},
		"all": {
			"enabled": true, "direction": "INGRESS", "ports": []string{"all"}, "world_open": true, "logging": false,
		},
		"inside": {
			"enabled": true, "direction": "INGRESS", "ports": []string{"22"}, "world_open": false, "logging": false,
		},
		"disabled": {
			"enabled": false, "direction": "INGRESS", "ports": []string{}, "world_open": false, "logging": false,
		},
		"range": {
			"enabled": true, "direction": "INGRESS", "ports": []string{"all"}, "world_open": false, "logging": false,
		},
	} {
		if got := found["//"+path+name].Facts; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: facts %v; want %v", name, got, want)
		}
	}
}

// A resource that the inventory does not hold has no facts, and a size that it does not tell stays unknown.
func TestDocumentFacts_AreUnknownOfWhatTheInventoryDoesNotHold(t *testing.T) {
	tw, c := connect(t)
	const path = "artifactregistry.googleapis.com/projects/acme-prod/locations/r/repositories/"
	addThings(tw, "artifactregistry.googleapis.com/Repository", region, path, map[string]string{
		"unsized": `{"mode":"REMOTE_REPOSITORY"}`, "unread": "",
	})
	found := others(t, c, region)
	if got := found["//"+path+"unsized"].Facts; got["mode"] != "REMOTE_REPOSITORY" || got["size_gb"] != nil {
		t.Errorf("a repository without a size: %v", got)
	}
	if got := found["//"+path+"unread"].Facts; len(got) > 0 {
		t.Errorf("a repository that is not held: %v", got)
	}
}

// The parent of a disk or an address is the instance that uses it.
func TestOthers_BelongToTheInstanceThatUsesThem(t *testing.T) {
	tw, c := connect(t)
	const instance = "projects/acme-prod/zones/europe-west1-b/instances/web"
	const path = "compute.googleapis.com/projects/acme-prod/zones/europe-west1-b/disks/"
	addThings(tw, "compute.googleapis.com/Disk", region+"-b", path, map[string]string{
		"used": `{"users":["https://www.googleapis.com/compute/v1/` + instance + `"]}`, "free": `{}`,
		"other": `{"users":["https://www.googleapis.com/compute/v1/projects/acme-prod/global/forwardingRules/f"]}`,
	})
	found := others(t, c, region)
	for name, want := range map[string]string{
		"used": "//compute.googleapis.com/" + instance, "free": "", "other": "",
	} {
		if got := found["//"+path+name].ParentUID; got != want {
			t.Errorf("the parent of %s is %q; want %q", name, got, want)
		}
	}
}

// The parent of a snapshot is its disk, which may be gone.
func TestSnapshots_BelongToTheirDisk(t *testing.T) {
	tw, c := connect(t)
	const path = "compute.googleapis.com/projects/acme-prod/global/snapshots/"
	const disk = "projects/acme-prod/zones/europe-west1-b/disks/data"
	addThings(tw, "compute.googleapis.com/Snapshot", "eu", path, map[string]string{
		"of-disk": `{"sourceDisk":"https://www.googleapis.com/compute/v1/` + disk + `","snapshotType":"STANDARD",
			"storageBytes":"2147483648","autoCreated":true}`,
		"upload": `{}`,
	})
	found := others(t, c, cloud.Global)
	want := cloud.Facts{"auto_created": true, "storage_gb": 2.0, "snapshot_type": "STANDARD"}
	if r := found["//"+path+"of-disk"]; r.ParentUID != "//compute.googleapis.com/"+disk ||
		fmt.Sprint(r.Facts) != fmt.Sprint(want) {
		t.Errorf("%q, facts %v; want the disk, and %v", r.ParentUID, r.Facts, want)
	}
	if r := found["//"+path+"upload"]; r.ParentUID != "" {
		t.Errorf("the parent of a snapshot without a disk is %q", r.ParentUID)
	}
}

// A file server whose share has no size, and a tunnel without a state, are unknown and not empty.
func TestDocumentFacts_OfWhatIsBeingMadeAreUnknown(t *testing.T) {
	tw, c := connect(t)
	const nfs = "file.googleapis.com/projects/acme-prod/locations/europe-west1-b/instances/"
	const tunnel = "compute.googleapis.com/projects/acme-prod/regions/r/vpnTunnels/"
	addThings(tw, "file.googleapis.com/Instance", zone, nfs, map[string]string{"new": `{}`})
	addThings(tw, "compute.googleapis.com/VpnTunnel", region, tunnel, map[string]string{"new": `{}`})
	found := others(t, c, region)
	for _, uid := range []string{"//" + nfs + "new", "//" + tunnel + "new"} {
		if r, is := found[uid]; !is || len(r.Facts) != 0 {
			t.Errorf("%s: %v", uid, r.Facts)
		}
	}
}

// Lists of a bucket may admit everybody to its objects, unless only policies count; what the project's policy admits,
// the resources below admit.
func TestPublic_IsWhatPoliciesAdmit(t *testing.T) {
	const uniform = `{"iamConfiguration":{"uniformBucketLevelAccess":{"enabled":true}}}`
	for name, tt := range map[string]struct {
		thing             string
		public, inherited bool
		want              any
	}{
		"open":                {uniform, true, false, true},
		"open-with-lists":     {`{}`, true, false, true},
		"closed":              {uniform, false, false, false},
		"closed-with-lists":   {`{}`, false, false, nil},
		"below-an-open-place": {uniform, false, true, nil},
	} {
		tw, c := connect(t)
		one := asset("storage.googleapis.com/Bucket", region, "storage.googleapis.com/"+name)
		one.Thing, one.Public = tt.thing, tt.public
		tw.AddAsset(one)
		project := asset("cloudresourcemanager.googleapis.com/Project", "global",
			"cloudresourcemanager.googleapis.com/projects/acme-prod")
		project.Public = tt.inherited
		tw.AddAsset(project)
		if got := others(t, c, region)["//storage.googleapis.com/"+name].Facts["public"]; got != tt.want {
			t.Errorf("%s is public: %v; want %v", name, got, tt.want)
		}
	}
}

func TestPublic_WithoutThePermissionIsUnread(t *testing.T) {
	tw, c := connect(t)
	one := asset("storage.googleapis.com/Bucket", region, "storage.googleapis.com/b")
	one.Thing = `{}`
	tw.AddAsset(one)
	tw.AddFault(deny("cloudasset.assets.searchAllIamPolicies"))
	f := others(t, c, region)["//storage.googleapis.com/b"].Facts
	if _, told := f["public"]; told || !strings.Contains(fmt.Sprint(f[cloud.Unread]),
		"public: cloudasset.assets.searchAllIamPolicies") || f["storage_class"] == nil {
		t.Errorf("%v", f)
	}
}

// Only buckets and datasets are asked for.
func TestPublic_OfWhatIsNotThereCostsNoCall(t *testing.T) {
	tw, c := connect(t)
	tw.AddAsset(asset("redis.googleapis.com/Instance", region,
		"redis.googleapis.com/projects/acme-prod/locations/r/instances/c"))
	others(t, c, region)
	if n := len(tw.Calls("cloudasset.assets.searchAllIamPolicies")); n != 0 {
		t.Errorf("%d searches of policies", n)
	}
}
