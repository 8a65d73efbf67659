package gcp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// wantUntouched fails when something was started, stopped or scaled.
func wantUntouched(t *testing.T, tw *gcptwin.Cloud) {
	t.Helper()
	for _, k := range tw.Calls("") {
		if slices.Contains(mutations, k.Op) {
			t.Errorf("%s %s was called; want nothing changed", k.Method, k.Path)
		}
	}
}

func TestAnInstanceIsRefusedThatAStopWouldHarm(t *testing.T) {
	for says, i := range map[string]gcptwin.Instance{
		"has 1 local SSD, whose data a stop would discard":                                  {LocalSSDs: 1},
		"member of managed instance group web, which would make it again: act on the group": {Group: "web"},
		"node of GKE node pool blue: act on the node pool": {
			Group:  "gke",
			Labels: map[string]string{"goog-k8s-node-pool-name": "blue"},
		},
		"node of Dataproc cluster sparks: stop the cluster": {
			Labels: map[string]string{"goog-dataproc-cluster-name": "sparks"},
		},
	} {
		t.Run(says, func(t *testing.T) {
			tw, c := connect(t)
			i.Name, i.Zone = "web-1", region+"-b"
			uid := tw.AddInstance(i).UID()
			if s := state(t, c, cloud.GCPCompute, uid); s.Unschedulable != says {
				t.Errorf("it reads as unschedulable: %q", s.Unschedulable)
			}
			err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: uid})
			wantClass(t, "stop", err, cloud.Unsupported)
			if err == nil || err.Error() != says {
				t.Errorf("stop says %v", err)
			}
			wantUntouched(t, tw)
		})
	}
}

// Google refuses a stop without discardLocalSsd when the instance has local SSDs. That protects an SSD that was
// attached meanwhile.
func TestAStopNeverSaysToDiscardLocalSSDs(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web-1", Zone: region + "-b"})
	if err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Fatal(err)
	}
	if q := tw.Calls("compute.instances.stop")[0].Query; len(q["discardLocalSsd"]) > 0 {
		t.Errorf("the stop was sent with %v", q)
	}
}

func TestASuspendedInstanceIsOffAndIsResumed(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web-1", Zone: region + "-b", Status: "SUSPENDED"})
	if s := state(t, c, cloud.GCPCompute, i.UID()); s.Status != cloud.Stopped || s.Native != "SUSPENDED" {
		t.Errorf("it reads %+v; want stopped", s)
	}
	if err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Errorf("stop: %v", err)
	}
	wantUntouched(t, tw)
	if err := act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Fatalf("start: %v", err)
	}
	tw.SettleAll()
	if n := len(tw.Calls("compute.instances.resume")); n != 1 || i.Status != "RUNNING" {
		t.Errorf("resumed %d times, it is %s", n, i.Status)
	}
}

func TestAnActThatIsDoneMakesNoCall(t *testing.T) {
	tw, c := connect(t)
	on := tw.AddInstance(gcptwin.Instance{Name: "on", Zone: region + "-b"})
	off := tw.AddInstance(gcptwin.Instance{Name: "off", Zone: region + "-b", Status: "TERMINATED"})
	for v, uid := range map[cloud.Verb]string{cloud.Start: on.UID(), cloud.Stop: off.UID()} {
		if err := act(t, c, v, cloud.GCPCompute, cloud.Target{UID: uid}); err != nil {
			t.Errorf("%s: %v", v, err)
		}
	}
	wantUntouched(t, tw)
}

func TestAnInstanceOnItsWayIsToBeReadAgain(t *testing.T) {
	for native, want := range map[string]cloud.Status{
		"STOPPING": cloud.Stopping, "SUSPENDING": cloud.Stopping, "PROVISIONING": cloud.Starting,
		"STAGING": cloud.Starting, "REPAIRING": cloud.Pending, "NEW": cloud.Unknown,
	} {
		tw, c := connect(t)
		i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b", Status: native})
		if s := state(t, c, cloud.GCPCompute, i.UID()); s.Status != want {
			t.Errorf("%s reads %s; want %s", native, s.Status, want)
		}
		if want == cloud.Stopping {
			wantClass(t, "start while "+native, act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: i.UID()}),
				cloud.Moving)
		}
	}
}

func TestAnInstanceWithAScheduleOfItsOwnSaysSo(t *testing.T) {
	tw, c := connect(t)
	tw.AddPolicy("nightly", true)
	tw.AddPolicy("backups", false)
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b", Policies: []string{"backups", "nightly"}})
	lost := tw.AddInstance(gcptwin.Instance{Name: "lost", Zone: region + "-b", Policies: []string{"nothing"}})
	if s := state(t, c, cloud.GCPCompute,
		i.UID()); s.Reason != "its resource policy nightly starts and stops it too: detach one of the two schedules" {
		t.Errorf("reason %q", s.Reason)
	}
	if s := state(t, c, cloud.GCPCompute, lost.UID()); s.Status != cloud.Running ||
		!strings.Contains(s.Reason, "its resource policy nothing cannot be read") {
		t.Errorf("with a policy that cannot be read: %+v", s)
	}
}

func TestAStartThatFallsBackSaysWhy(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b", Status: "TERMINATED", NoCapacity: true})
	if err := act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Fatalf("start: %v", err)
	}
	tw.SettleAll()
	s := state(t, c, cloud.GCPCompute, i.UID())
	if s.Status != cloud.Stopped || !s.NoCapacity ||
		!strings.Contains(s.Reason, "its last start failed: compute.instances.start: ZONE_RESOURCE_POOL_EXHAUSTED") {
		t.Errorf("%+v; want stopped, with Google's reason", s)
	}
	other := tw.AddInstance(gcptwin.Instance{Name: "other", Zone: region + "-b", Status: "TERMINATED"})
	if s := state(t, c, cloud.GCPCompute, other.UID()); s.Reason != "" {
		t.Errorf("one that was not started says %q", s.Reason)
	}
}

func TestALostAnswerIsRepeatedWithTheSameRequestID(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
	tw.AddFault(gcptwin.Fault{Op: "compute.instances.stop", Lost: true, Times: 1})
	if err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, k := range tw.Calls("compute.instances.stop") {
		ids = append(ids, k.Query["requestId"]...)
	}
	if len(ids) != 2 || ids[0] != ids[1] || uuid.Validate(ids[0]) != nil {
		t.Errorf("requestIds %v; want one UUID, twice", ids)
	}
	if i.Status != "STOPPING" {
		t.Errorf("it is %s; want one stop to have had its effect", i.Status)
	}
}

func TestANamesakeElsewhereIsNotTouched(t *testing.T) {
	tw, c := connect(t)
	here := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
	there := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: "us-central1-a"})
	for what, uid := range map[string]string{
		"of another region":  there.UID(),
		"of another project": strings.Replace(here.UID(), gcptwin.Project, "somebodys-prod", 1),
		"of another kind":    strings.Replace(here.UID(), "/instances/", "/disks/", 1),
		"with a path in it":  strings.Replace(here.UID(), "web", "..%2f..%2fweb", 1),
		"with a filter":      strings.Replace(here.UID(), "web", ".*", 1),
		"of nothing":         "web",
	} {
		wantClass(t, "stop of one "+what, act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: uid}),
			cloud.NotFound)
		if got, err := c.Read(t.Context(), cloud.GCPCompute, region, []string{uid}); err != nil || len(got) != 0 {
			t.Errorf("read of one %s: %v, %v", what, got, err)
		}
	}
	wantUntouched(t, tw)
}

// A listing fails when a zone of its region does not answer, so that the zone's resources are not taken for gone.
// Zones of other regions do not matter.
func TestAListWithoutAllOfItsZonesIsNone(t *testing.T) {
	for _, kind := range []string{cloud.GCPCompute, cloud.GCPMIG, cloud.GCPGKENodepool} {
		tw, c := connect(t)
		tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
		tw.Unreachable = []string{"zones/us-central1-a"}
		if _, err := c.List(t.Context(), kind, region, ""); err != nil {
			t.Errorf("%s: a zone of another region does not answer: %v", kind, err)
		}
		tw.Unreachable = []string{"zones/" + region + "-d"}
		_, err := c.List(t.Context(), kind, region, "")
		wantClass(t, kind+": a zone of the region does not answer", err, cloud.Transient)
	}
}

func TestInstancesAreReadInOneCallAZone(t *testing.T) {
	tw, c := connect(t)
	var uids []string
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		uids = append(uids,
			tw.AddInstance(gcptwin.Instance{Name: name, Zone: region + "-" + string("bc"[len(uids)%2])}).UID())
	}
	got, err := c.Read(t.Context(), cloud.GCPCompute, region, uids)
	if err != nil || len(got) != len(uids) {
		t.Fatalf("Read = %v, %v", got, err)
	}
	if n := len(tw.Calls("compute.instances.list")); n != 2 {
		t.Errorf("%d calls for six instances in two zones; want 2", n)
	}
}
