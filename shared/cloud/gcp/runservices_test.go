package gcp_test

import (
	"maps"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

func TestACloudRunServiceIsStoppedByWhatRunsWithoutRequests(t *testing.T) {
	tw, c := connect(t)
	byHand := tw.AddService(gcptwin.Service{Name: "worker", Region: region, Mode: "MANUAL", Manual: 3})
	byMin := tw.AddService(gcptwin.Service{
		Name: "shop", Region: region, Min: 2, Max: 9,
		Annotations: map[string]string{"owner": "ada"},
	})
	for _, s := range []*gcptwin.Service{byHand, byMin} {
		before := state(t, c, cloud.GCPCloudRun, s.UID()).Snapshot
		if err := act(t, c, cloud.Stop, cloud.GCPCloudRun, cloud.Target{UID: s.UID()}); err != nil {
			t.Fatalf("stop of %s: %v", s.Name, err)
		}
		if got := state(t, c, cloud.GCPCloudRun, s.UID()); got.Status != cloud.Stopping || s.Manual+s.Min != 0 {
			t.Errorf("stopped %s: %+v with %d and %d", s.Name, got, s.Manual, s.Min)
		}
		tw.SettleAll()
		if got := state(t, c, cloud.GCPCloudRun, s.UID()); got.Status != cloud.Stopped || got.Unschedulable != "" ||
			got.Snapshot != nil {
			t.Errorf("stopped %s: %+v; want stopped, free to start", s.Name, got)
		}
		if err := act(t, c, cloud.Start, cloud.GCPCloudRun, cloud.Target{UID: s.UID(), Snapshot: before}); err != nil {
			t.Fatalf("start of %s: %v", s.Name, err)
		}
	}
	if byHand.Manual != 3 || byMin.Min != 2 || byMin.Max != 9 ||
		!maps.Equal(byMin.Annotations, map[string]string{"owner": "ada"}) {
		t.Errorf("started: by hand %d, minimum %d, annotations %v; want all as before", byHand.Manual, byMin.Min,
			byMin.Annotations)
	}
	for _, k := range tw.Calls("run.services.patch") {
		if len(k.Query["updateMask"]) == 0 || strings.Contains(k.Body, "template") {
			t.Errorf("%v %s: want only the scaling changed, for a template makes a new revision", k.Query, k.Body)
		}
	}
}

func TestACloudRunServiceWhoseMemoryIsLostIsStartedByItsAnnotation(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(gcptwin.Service{Name: "shop", Region: region, Min: 4})
	if err := act(t, c, cloud.Stop, cloud.GCPCloudRun, cloud.Target{UID: s.UID()}); err != nil {
		t.Fatal(err)
	}
	if err := act(t, c, cloud.Start, cloud.GCPCloudRun, cloud.Target{UID: s.UID()}); err != nil || s.Min != 4 {
		t.Errorf("start: %v, minimum %d; want 4", err, s.Min)
	}
}

func TestACloudRunServiceWithNothingToStopIsRefused(t *testing.T) {
	for says, s := range map[string]gcptwin.Service{
		"without requests nothing runs":          {},
		"gcloud run services update web --min=3": {RevisionMin: 3},
		"belongs to a Cloud Function": {
			Min:    1,
			Labels: map[string]string{"goog-managed-by": "cloudfunctions"},
		},
	} {
		tw, c := connect(t)
		s.Name, s.Region = "web", region
		uid := tw.AddService(s).UID()
		if got := state(t, c, cloud.GCPCloudRun, uid); !strings.Contains(got.Unschedulable, says) ||
			got.Status != cloud.Running {
			t.Errorf("%+v; want running, and %q", got, says)
		}
		wantClass(t, "stop", act(t, c, cloud.Stop, cloud.GCPCloudRun, cloud.Target{UID: uid}), cloud.Unsupported)
		wantUntouched(t, tw)
	}
}

func TestACloudRunServiceThatChangedMeanwhileIsToBeReadAgain(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(gcptwin.Service{Name: "shop", Region: region, Min: 4})
	tw.AddFault(gcptwin.Fault{
		Op: "run.services.patch", Reason: "ABORTED", Message: "Conflict for resource",
		Status: 409,
		Times:  1,
	})
	wantClass(t, "stop", act(t, c, cloud.Stop, cloud.GCPCloudRun, cloud.Target{UID: s.UID()}), cloud.Moving)
	if body := tw.Calls("run.services.patch")[0].Body; !strings.Contains(body, `"etag":"0"`) {
		t.Errorf("sent %s; want the version that was read", body)
	}
}

func TestACloudRunServiceThatDidNotComeUpSaysWhy(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(gcptwin.Service{
		Name: "shop", Region: region, Min: 4,
		Failed: "The user-provided container failed to start",
	})
	if got := state(t, c, cloud.GCPCloudRun, s.UID()); got.Status != cloud.Unknown ||
		!strings.HasPrefix(got.Reason, "HEALTH_CHECK_CONTAINER_ERROR: The user-provided") {
		t.Errorf("%+v", got)
	}
}

// Cloud Run denies a location where it does not exist. A denial that names a permission is a real denial.
func TestARegionWithoutCloudRunHasNoServices(t *testing.T) {
	tw, c := connect(t)
	got, err := c.List(t.Context(), cloud.GCPCloudRun, "us-central1", "")
	if err != nil || len(got.Resources) != 0 {
		t.Errorf("List = %v, %v", got, err)
	}
	tw.AddFault(gcptwin.Fault{
		Op: "run.services.list", Reason: "PERMISSION_DENIED",
		Message: "Permission 'run.services.list' denied on resource 'projects/p/locations/europe-west1'", Status: 403,
		Times: 1,
	})
	_, err = c.List(t.Context(), cloud.GCPCloudRun, region, "")
	wantClass(t, "a denial", err, cloud.Denied)
}

func TestACloudRunServiceIsScaledByItsBounds(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddService(gcptwin.Service{Name: "shop", Region: region, Min: 4, Max: 9})
	byHand := tw.AddService(gcptwin.Service{Name: "worker", Region: region, Mode: "MANUAL", Manual: 3})
	zero, twelve := int64(0), int64(12)
	if err := c.Scale(t.Context(), cloud.GCPCloudRun, region, s.UID(),
		cloud.Capacity{Min: &zero, Max: &twelve}); err != nil || s.Min != 0 || s.Max != 12 {
		t.Errorf("bounds 0 and 12: %v, %d and %d", err, s.Min, s.Max)
	}
	wantClass(t, "a size", c.Scale(t.Context(), cloud.GCPCloudRun, region, s.UID(), cloud.Capacity{Desired: &twelve}),
		cloud.Unsupported)
	wantClass(t, "a minimum of one scaled by hand",
		c.Scale(t.Context(), cloud.GCPCloudRun, region, byHand.UID(), cloud.Capacity{Min: &zero}), cloud.Unsupported)
}
