package gcp_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// Google still calls an instance RUNNABLE after its owner has stopped it.
func TestADatabaseThatIsRunnableAndNeverActiveIsStopped(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region, Policy: "NEVER"})
	if s := state(t, c, cloud.GCPCloudSQL, d.UID()); s.Status != cloud.Stopped || s.Snapshot != nil ||
		s.Native != "RUNNABLE, activation policy NEVER" {
		t.Errorf("%+v; want stopped, with nothing to remember", s)
	}
	if err := act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()}); err != nil {
		t.Errorf("a repeated stop: %v", err)
	}
	wantUntouched(t, tw)
}

func TestADatabaseWithAnOperationIsMoving(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region})
	tw.Begin(d, "BACKUP_VOLUME")
	if s := state(t, c, cloud.GCPCloudSQL, d.UID()); s.Status != cloud.Starting ||
		s.Reason != "operation BACKUP_VOLUME is RUNNING" {
		t.Errorf("during a backup: %+v", s)
	}
	err := act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()})
	wantClass(t, "stop during a backup (409)", err, cloud.Moving)
	if n := len(tw.Calls("sql.instances.patch")); n != 1 {
		t.Errorf("it was tried %d times without a look", n)
	}
	tw.SettleAll()
	if err := act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()}); err != nil {
		t.Fatal(err)
	}
	if s := state(t, c, cloud.GCPCloudSQL, d.UID()); s.Status != cloud.Stopping {
		t.Errorf("during the stop: %+v", s)
	}
	wantClass(t, "start during the stop", act(t, c, cloud.Start, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()}),
		cloud.Moving)
}

func TestADatabaseThatIsReplicatedIsRefused(t *testing.T) {
	tw, c := connect(t)
	primary := tw.AddDatabase(gcptwin.Database{Name: "main", Region: region, Replicas: []string{"copy-1", "copy-2"}})
	replica := tw.AddDatabase(gcptwin.Database{Name: "copy-1", Region: region, ReplicaOf: "main"})
	for d, says := range map[*gcptwin.Database]string{
		primary: "primary of read replicas (copy-1, copy-2)",
		replica: "read replica of main",
	} {
		err := act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()})
		wantClass(t, "stop of "+d.Name, err, cloud.Unsupported)
		if !strings.Contains(err.Error(), says) ||
			!strings.Contains(state(t, c, cloud.GCPCloudSQL, d.UID()).Unschedulable, says) {
			t.Errorf("%s says %v; want %q", d.Name, err, says)
		}
	}
	wantUntouched(t, tw)
}

func TestADatabaseThatNeedsSomebodySaysWhy(t *testing.T) {
	tw, c := connect(t)
	unpaid := tw.AddDatabase(gcptwin.Database{
		Name: "unpaid", Region: region, State: "SUSPENDED",
		Suspension: []string{"BILLING_ISSUE"},
	})
	if s := state(t, c, cloud.GCPCloudSQL, unpaid.UID()); s.Status != cloud.Unknown || s.Reason != "BILLING_ISSUE" {
		t.Errorf("suspended: %+v; want unknown: the owner has not stopped it", s)
	}
	broken := tw.AddDatabase(gcptwin.Database{Name: "broken", Region: region, Policy: "NEVER"})
	tw.Begin(broken, "UPDATE")
	tw.Fail(broken, "INTERNAL_ERROR", "no luck")
	if s := state(t, c, cloud.GCPCloudSQL, broken.UID()); s.Status != cloud.Stopped ||
		s.Reason != "its last operation, UPDATE, failed: INTERNAL_ERROR: no luck" {
		t.Errorf("after a failed start: %+v", s)
	}
	for native, want := range map[string]cloud.Status{
		"MAINTENANCE": cloud.Pending, "PENDING_CREATE": cloud.Pending,
		"PENDING_DELETE": cloud.Terminated, "FAILED": cloud.Unknown,
	} {
		d := tw.AddDatabase(gcptwin.Database{
			Name:   "is-" + strings.ToLower(strings.ReplaceAll(native, "_", "-")),
			Region: region, State: native,
		})
		if s := state(t, c, cloud.GCPCloudSQL, d.UID()); s.Status != want {
			t.Errorf("%s reads %s; want %s", native, s.Status, want)
		}
	}
}

func TestADatabaseIsChangedInTheVersionThatWasRead(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(gcptwin.Database{Name: "orders", Region: region})
	tw.AddFault(gcptwin.Fault{
		Op: "sql.instances.patch", Reason: "staleData", Message: "out of date", Status: 412,
		Times: 1,
	})
	wantClass(t, "a change of settings that changed meanwhile",
		act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()}), cloud.Moving)
	if body := tw.Calls("sql.instances.patch")[0].Body; !strings.Contains(body, `"settingsVersion":"7"`) {
		t.Errorf("sent %s; want the version that was read", body)
	}
}

func TestADatabaseOfAnotherRegionIsNotHere(t *testing.T) {
	tw, c := connect(t)
	d := tw.AddDatabase(gcptwin.Database{Name: "far", Region: "us-central1"})
	wantClass(t, "stop", act(t, c, cloud.Stop, cloud.GCPCloudSQL, cloud.Target{UID: d.UID()}), cloud.NotFound)
	tw.Unreachable = []string{"regions/" + region}
	_, err := c.List(t.Context(), cloud.GCPCloudSQL, region, "")
	wantClass(t, "a list that warns of the region", err, cloud.Transient)
	if _, err := c.List(t.Context(), cloud.GCPCloudSQL, "us-central1", ""); err != nil {
		t.Errorf("a list that warns of another region: %v", err)
	}
}
