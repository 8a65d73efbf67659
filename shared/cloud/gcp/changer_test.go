package gcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// changed is a resource that a test changes: its type, its name, the path of its address, and a body.
type changed struct {
	kind, uid, path string
	verb            cloud.ChangeVerb
	body            string
	want            cloud.Values
}

// onProject returns the name of a resource and the path of its address.
func onProject(service, base, rest string) (uid, path string) {
	return "//" + service + ".googleapis.com/projects/" + gcptwin.Project + "/" + rest,
		base + "projects/" + gcptwin.Project + "/" + rest
}

//nolint:revive // the seven columns of a table
func newChanged(kind, service, base, rest, body string, verb cloud.ChangeVerb, want cloud.Values) changed {
	uid, path := onProject(service, base, rest)
	return changed{kind, uid, path, verb, body, want}
}

const computePath = "/compute/v1/"

var settings = []changed{
	newChanged("gcp-disk", "compute", computePath, "zones/europe-west1-b/disks/d",
		`{"name":"d","provisionedIops":"9000","sizeGb":"500"}`, cloud.ChangeStorage,
		cloud.Values{"provisioned_iops": "4000"}),
	newChanged("gcp-firewall", "compute", computePath, "global/firewalls/f", `{"name":"f","disabled":false}`,
		cloud.Guard,
		cloud.Values{"enabled": "false"}),
	newChanged("gcp-compute", "compute", computePath, "zones/europe-west1-b/instances/i",
		`{"name":"i","status":"TERMINATED","machineType":"https://www.googleapis.com/compute/v1/projects/`+
			gcptwin.Project+`/zones/europe-west1-b/machineTypes/n2-standard-8"}`,
		cloud.Resize, cloud.Values{"class": "n2-standard-4"}),
	newChanged("gcp-cloudsql", "cloudsql", "/v1/", "instances/q",
		`{"name":"q","settings":{"tier":"db-custom-8-30720","availabilityType":"REGIONAL","settingsVersion":"7"}}`,
		cloud.Resize, cloud.Values{"ha": "false"}),
	newChanged("gcp-memorystore", "redis", "/v1/", "locations/europe-west1/instances/r", `{"memorySizeGb":8}`,
		cloud.Resize, cloud.Values{"memory_gb": "4"}),
	newChanged("gcp-log-bucket", "logging", "/v2/", "locations/global/buckets/_Default", `{"retentionDays":400}`,
		cloud.SetLifecycle, cloud.Values{"retention_days": "30"}),
	newChanged("gcp-bigquery-dataset", "bigquery", "/bigquery/v2/", "datasets/my_data",
		`{"maxTimeTravelHours":"168"}`, cloud.SetLifecycle, cloud.Values{"time_travel_hours": "48"}),
	{
		"gcp-gcs", "//storage.googleapis.com/acme-media", "/storage/v1/b/acme-media", cloud.Guard,
		`{"iamConfiguration":{"publicAccessPrevention":"inherited","uniformBucketLevelAccess":{"enabled":true}}}`,
		cloud.Values{"public_prevention": "true"},
	},
}

var removals = []changed{
	newChanged("gcp-disk", "compute", computePath, "zones/europe-west1-b/disks/d",
		`{"name":"d","sizeGb":"500","type":"pd-ssd","labelFingerprint":"a","labels":{"team":"a"}}`, cloud.Delete, nil),
	newChanged("gcp-snapshot", "compute", computePath, "global/snapshots/s",
		`{"name":"s","labelFingerprint":"a","labels":{"team":"a"}}`, cloud.Delete, nil),
	newChanged("gcp-address", "compute", computePath, "regions/europe-west1/addresses/a",
		`{"name":"a","address":"198.51.100.1","addressType":"EXTERNAL"}`, cloud.Release, nil),
}

// open puts the resource into a twin, and returns the twin, a changer and the change.
func (r changed) open(t *testing.T, more ...string) (*gcptwin.Cloud, cloud.Changer, cloud.Change) {
	t.Helper()
	tw := &gcptwin.Cloud{}
	var body map[string]any
	for _, text := range append([]string{r.body}, more...) {
		if err := json.Unmarshal([]byte(text), &body); err != nil {
			t.Fatal(err)
		}
	}
	tw.AddPlain(r.path, body)
	c := cloud.Change{Verb: r.verb, Kind: r.kind, Region: "europe-west1", UID: r.uid, Token: "rem_1-0", Want: r.want}
	if of, _ := cloud.ChangeOf(r.kind, r.verb); of.Copies {
		c.Steps = []string{cloud.StepCopy, cloud.StepSelf}
	}
	if strings.Contains(r.uid, "/global/") || strings.HasPrefix(r.uid, "//storage") {
		c.Region = cloud.Global
	}
	return tw, open(t, tw, keyAccount(gcptwin.KeyFile())).(cloud.Changer), c
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

func TestChanger_ValuesAreSetAndGivenBack(t *testing.T) {
	for _, r := range settings {
		t.Run(r.kind, func(t *testing.T) {
			tw, c, want := r.open(t)
			before, err := c.DescribeForChange(t.Context(), want)
			if err != nil {
				t.Fatal(err)
			}
			p := applied(t, c, want)
			if fmt.Sprint(p.After) != fmt.Sprint(r.want) {
				t.Errorf("after %v", p.After)
			}
			call := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
			if err = c.ApplyChange(t.Context(), call); err != nil {
				t.Fatal(err)
			}
			after, err := c.DescribeForChange(t.Context(), want)
			if err != nil || fmt.Sprint(after.Values) != fmt.Sprint(before.Values) {
				t.Errorf("after the undo %v, before %v, %v", after.Values, before.Values, err)
			}
			writes := slices.DeleteFunc(tw.Calls(""), func(c gcptwin.Call) bool {
				return c.Method == http.MethodGet || strings.Contains(c.Op, "token")
			})
			if len(writes) != 2 {
				t.Errorf("%d calls: %v", len(writes), writes)
			}
		})
	}
}

func TestChanger_AResourceIsRemovedAndMadeAgain(t *testing.T) {
	for _, r := range removals {
		t.Run(r.kind, func(t *testing.T) {
			tw, c, want := r.open(t)
			p := applied(t, c, want)
			if tw.Plain(r.path) != nil {
				t.Fatal("it is still there")
			}
			call := cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native}
			err := c.ApplyChange(t.Context(), call)
			if cloud.IsSnapshot(r.kind) {
				if cloud.ClassOf(err) != cloud.Unsupported {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			reached(t, c, call)
			body := tw.Plain(r.path)
			from := fmt.Sprint(body["labels"], " ", body["sourceSnapshot"])
			if r.kind == "gcp-disk" && from != "map[team:a] global/snapshots/lamplighter-rem-1-0" {
				t.Errorf("%v", body)
			}
		})
	}
}

func TestChanger_WhatIsUsedIsNotRemoved(t *testing.T) {
	for _, r := range []changed{removals[0], removals[2]} {
		t.Run(r.kind, func(t *testing.T) {
			tw, c, want := r.open(t, `{"users":["projects/p/zones/z/instances/i"]}`)
			_, planned := c.PlanChange(t.Context(), want)
			made := c.ApplyChange(t.Context(),
				cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.ExistsValue: "false"}})
			for _, err := range []error{planned, made} {
				if cloud.ClassOf(err) != cloud.Unsupported || !strings.Contains(err.Error(), "in use by") {
					t.Error(err)
				}
			}
			if tw.Plain(r.path) == nil {
				t.Error("it was removed")
			}
		})
	}
}

func TestChanger_AnInstanceIsResizedOnlyWhileThatLosesNothing(t *testing.T) {
	for says, body := range map[string]string{
		"it must be stopped": `{"status":"RUNNING"}`, "local SSD": `{"disks":[{"type":"SCRATCH"}]}`,
		"managed instance group": `{"metadata":{"items":[{"key":"created-by","value":"g"}]}}`,
		"accelerators":           `{"guestAccelerators":[{"acceleratorCount":1}]}`,
	} {
		_, c, want := settings[2].open(t, body)
		if _, err := c.PlanChange(t.Context(), want); cloud.ClassOf(err) != cloud.Unsupported ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", says, err)
		}
	}
}

// A call whose answer is lost is made once: its effect is read.
func TestChanger_ALostReplyIsNotRepeated(t *testing.T) {
	tw, c, want := settings[0].open(t)
	tw.AddFault(gcptwin.Fault{Op: "compute.disks.update", Times: 1, Lost: true})
	call := cloud.ChangeCall{Change: want, Set: want.Want}
	if err := c.ApplyChange(t.Context(), call); err == nil || !cloud.ClassOf(err).Retryable() {
		t.Error(err)
	}
	if n := len(tw.Calls("compute.disks.update")); n != 1 {
		t.Errorf("%d calls", n)
	}
	reached(t, c, call)
}

func TestChanger_AResourceOfAnotherProjectOrRegionIsNotFound(t *testing.T) {
	_, c, want := settings[0].open(t)
	other := want
	other.UID = strings.Replace(want.UID, gcptwin.Project, "someone-else", 1)
	elsewhere := want
	elsewhere.Region = "us-central1"
	odd := want
	odd.UID = want.UID + "/../e"
	for _, w := range []cloud.Change{other, elsewhere, odd} {
		if _, err := c.PlanChange(t.Context(), w); cloud.ClassOf(err) != cloud.NotFound {
			t.Errorf("%s: %v", w.UID, err)
		}
	}
}

// Each call of a removal is among the permissions that the catalogue declares.
func TestChanger_TheCatalogueDeclaresEachCall(t *testing.T) {
	for _, r := range slices.Concat(removals, settings) {
		tw, c, want := r.open(t)
		p := applied(t, c, want)
		_ = c.ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
		of, _ := cloud.ChangeOf(r.kind, r.verb)
		for _, call := range tw.Calls("") {
			known := strings.HasPrefix(call.Op, "compute.") && !strings.Contains(call.Op, "token")
			if known && !slices.Contains(of.Needs, call.Op) {
				t.Errorf("%s of %s calls %s, which is not declared", want.Verb, r.kind, call.Op)
			}
		}
	}
}

// The snapshot that a deletion took is found by its native id, carries the mark, and is deleted as any snapshot.
func TestChanger_TheSnapshotOfADeletionIsDeleted(t *testing.T) {
	_, c, want := removals[0].open(t)
	call := cloud.ChangeCall{Change: want, Set: cloud.Values{cloud.CopyValue: cloud.CopyComplete}}
	if err := c.ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	reached(t, c, call)
	d, err := c.DescribeForChange(t.Context(), want)
	if err != nil || d.CopyUID == "" {
		t.Fatalf("%+v, %v", d, err)
	}
	snapshot := cloud.Change{Verb: cloud.Delete, Kind: "gcp-snapshot", Region: want.Region, UID: d.CopyUID}
	if d, err = c.DescribeForChange(t.Context(), snapshot); err != nil || d.Values[cloud.MarkValue] != want.Token {
		t.Fatalf("%+v, %v", d, err)
	}
	gone := cloud.ChangeCall{Change: snapshot, Set: cloud.Values{cloud.ExistsValue: "false"}}
	if err = c.ApplyChange(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	reached(t, c, gone)
}
