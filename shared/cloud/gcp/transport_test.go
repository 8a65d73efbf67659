package gcp_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// Both are 403; the reason tells them apart.
func TestThrottlingIsToldFromADenialByItsReason(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b"})
	tw.AddFault(gcptwin.Fault{
		Op: "compute.instances.stop", Reason: "rateLimitExceeded", Message: "Rate Limit Exceeded",
		Status: 403, Times: 2,
	})
	if err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: i.UID()}); err != nil {
		t.Errorf("stop that is throttled twice: %v; want it to be tried again", err)
	}
	if n := len(tw.Calls("compute.instances.stop")); n != 3 || i.Status != "STOPPING" {
		t.Errorf("%d calls, it is %s", n, i.Status)
	}
	tw.ForgetCalls()
	other := tw.AddInstance(gcptwin.Instance{Name: "other", Zone: region + "-b"})
	tw.AddFault(gcptwin.Fault{
		Op: "compute.instances.stop", Reason: "forbidden",
		Message: "Required 'compute.instances.stop' permission", Status: 403, Times: -1,
	})
	err := act(t, c, cloud.Stop, cloud.GCPCompute, cloud.Target{UID: other.UID()})
	wantClass(t, "stop that is denied", err, cloud.Denied)
	e, ok := errors.AsType[*cloud.Error](err)
	if !ok || e.Op != "compute.instances.stop" || e.Code != "forbidden" ||
		e.Message != "Required 'compute.instances.stop' permission" {
		t.Errorf("error %+v; want the permission, and Google's words", e)
	}
	if n := len(tw.Calls("compute.instances.stop")); n != 1 {
		t.Errorf("a denial was tried %d times", n)
	}
}

func TestGoogleIsLeftAloneForAsLongAsItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &gcptwin.Cloud{}
		o := options(tw)
		o.MaxBackoff = 8 * time.Second
		c, err := gcp.New(o).Connect(t.Context(), keyAccount(gcptwin.KeyFile()))
		if err != nil {
			t.Fatal(err)
		}
		tw.AddFault(gcptwin.Fault{
			Op: "sql.instances.list", Reason: "rateLimitExceeded", Message: "slower", Status: 429,
			RetryAfter: "7", Times: 1,
		})
		began := time.Now()
		if _, err := c.List(t.Context(), cloud.GCPCloudSQL, region, ""); err != nil ||
			time.Since(began) < 7*time.Second {
			t.Errorf("List after %v: %v; want the 7 seconds to have been waited", time.Since(began), err)
		}
		tw.AddFault(gcptwin.Fault{
			Op: "sql.instances.list", Reason: "rateLimitExceeded", Message: "slower", Status: 429,
			RetryAfter: "3600", Times: -1,
		})
		tw.ForgetCalls()
		began = time.Now()
		_, err = c.List(t.Context(), cloud.GCPCloudSQL, region, "")
		wantClass(t, "an hour's pause", err, cloud.Throttled)
		if n := len(tw.Calls("sql.instances.list")); n != 1 || time.Since(began) > time.Second {
			t.Errorf("%d calls in %v; want the caller to be told at once", n, time.Since(began))
		}
	})
}

func TestACallEndsWithItsDeadline(t *testing.T) {
	hang := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer srv.Close()
	defer close(hang)
	o := options(nil)
	o.CustomEndpoints, o.PrivateAddresses, o.Timeout, o.Attempts = true, true, 20*time.Millisecond, 2
	a := keyAccount(gcptwin.KeyFile())
	a.EndpointURL = srv.URL
	c, err := gcp.New(o).Connect(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.List(t.Context(), cloud.GCPCompute, region, "")
	wantClass(t, "List of a cloud that hangs", err, cloud.Transient)
	if e, ok := errors.AsType[*cloud.Error](err); !ok || e.Code != "Timeout" {
		t.Errorf("%+v; want a timeout", err)
	}
}

func TestTheLimiterWaitsNoLongerThanItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &gcptwin.Cloud{}
		o := options(tw)
		o.Limits = map[string]gcp.Limit{"compute": {PerSecond: 0.001, Burst: 1}, "": {}}
		c, err := gcp.New(o).Connect(t.Context(), keyAccount(gcptwin.KeyFile()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.List(t.Context(), cloud.GCPCompute, region, ""); err != nil {
			t.Fatalf("the first call: %v", err)
		}
		if _, err := c.List(t.Context(), cloud.GCPCloudSQL, region, ""); err != nil {
			t.Errorf("a call of another API: %v; want it not to wait", err)
		}
		ctx, cancel := deadline(t, 20*time.Millisecond)
		defer cancel()
		_, err = c.List(ctx, cloud.GCPCompute, region, "")
		wantClass(t, "a call that would wait a quarter of an hour", err, cloud.Transient)
		if n := len(tw.Calls("compute.instances.aggregatedList")); n != 1 {
			t.Errorf("%d calls reached the cloud; want 1", n)
		}
	})
}

// A project that has not switched an API on has nothing of it. Of one whose credentials are of another project that
// has not, nothing is known.
func TestAnAPIThatIsOffHasNothing(t *testing.T) {
	for consumer, want := range map[string]cloud.Class{
		"projects/" + gcptwin.ProjectNumber: 0,
		"projects/999":                      cloud.Denied,
	} {
		tw, c := connect(t)
		tw.AddFault(gcptwin.Fault{
			Op: "container.clusters.list", Reason: "SERVICE_DISABLED",
			Message: "Kubernetes Engine API has not been used in project", Status: 403, Consumer: consumer, Times: -1,
		})
		got, err := c.List(t.Context(), cloud.GCPGKENodepool, region, "")
		if want == 0 && (err != nil || len(got.Resources) != 0) {
			t.Errorf("off in the project itself: %v, %v; want an empty list", got, err)
		}
		if want != 0 {
			wantClass(t, "off in the project of the credentials", err, want)
		}
	}
}

func TestLackOfMachinesIsNotTriedAgainAtOnce(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddInstance(gcptwin.Instance{Name: "web", Zone: region + "-b", Status: "TERMINATED"})
	tw.AddFault(gcptwin.Fault{
		Op: "compute.instances.start", Reason: "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS",
		Message: "no machines", Status: 503, Times: -1,
	})
	err := act(t, c, cloud.Start, cloud.GCPCompute, cloud.Target{UID: i.UID()})
	wantClass(t, "start", err, cloud.NoCapacity)
	if n := len(tw.Calls("compute.instances.start")); n != 1 || !strings.Contains(err.Error(), "no machines") {
		t.Errorf("%d calls, %v", n, err)
	}
}
