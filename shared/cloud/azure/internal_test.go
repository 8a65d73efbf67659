package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure/twin"
	"lamplighter.dev/shared/foundation/clock"
)

// GET /resources/types shows the catalogue; a kind that is only in one of the two would be shown and not work, or work
// and not be shown.
func TestEveryKindOfTheCatalogueIsRegistered(t *testing.T) {
	byType := func(a, b cloud.Kind) int { return bytes.Compare([]byte(a.Type), []byte(b.Type)) }
	got, want := New(Options{Clock: clock.System{}}).Kinds(), cloud.KindsOf(Name)
	slices.SortFunc(got, byType)
	slices.SortFunc(want, byType)
	if !slices.Equal(got, want) {
		t.Errorf("registered: %+v\nin the catalogue: %+v", got, want)
	}
}

func TestPermissionOf_NamesCallsAsRolesDo(t *testing.T) {
	s := "/subscriptions/11111111-2222-3333-4444-555555555555"
	vm := s + "/resourcegroups/g/providers/microsoft.compute/virtualmachines/web"
	for call, want := range map[[2]string]string{
		{"GET", vm}:               "microsoft.compute/virtualmachines/read",
		{"POST", vm + "/start"}:   "microsoft.compute/virtualmachines/start/action",
		{"PATCH", vm}:             "microsoft.compute/virtualmachines/write",
		{"GET", s}:                "Microsoft.Resources/subscriptions/read",
		{"GET", s + "/locations"}: "Microsoft.Resources/subscriptions/locations/read",
		{"POST", graphPath}:       "Microsoft.ResourceGraph/resources/read",
		{"PUT", s + "/resourcegroups/g/providers/microsoft.containerservice/managedclusters/c/agentpools/p"}: "microsoft.containerservice/managedclusters/agentpools/write",
		{"GET", s + permissionsPath}: "Microsoft.Authorization/permissions/read",
	} {
		if got := permissionOf(call[0], call[1]); got != want {
			t.Errorf("%v is %s; want %s", call, got, want)
		}
	}
}

// paced is a connection to the twin in a bubble, where waiting takes no time and is counted.
func paced(t *testing.T, tw *twin.Cloud, change func(*Options)) cloud.Conn {
	t.Helper()
	o := Options{Clock: clock.System{}, Transport: tw, Limits: map[string]Limit{"": {}}}
	if change != nil {
		change(&o)
	}
	c, err := New(o).Connect(t.Context(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "azure", NativeID: twin.Subscription, AuthMethod: "service_principal",
		Credentials: map[string]string{"tenantID": twin.Tenant, "clientID": twin.Client, "clientSecret": twin.Secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThrottling_RetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &twin.Cloud{RetryAfter: 17 * time.Second}
		c := paced(t, tw, nil)
		tw.ThrottleCalls(2)
		begun := time.Now()
		if _, err := c.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begun); d != 34*time.Second {
			t.Errorf("it took %s; want twice what Azure asked for", d)
		}
	})
}

func TestThrottling_ALongRetryAfterIsLeftToTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &twin.Cloud{RetryAfter: time.Hour}
		c := paced(t, tw, nil)
		tw.ThrottleCalls(1)
		begun := time.Now()
		_, err := c.Identify(t.Context())
		if cloud.ClassOf(err) != cloud.Throttled || time.Since(begun) > time.Second {
			t.Errorf("after %s: %v; want class Throttled at once", time.Since(begun), err)
		}
	})
}

// What one call is told holds for the others of its API, and for no other account's.
func TestThrottling_HoldsForAllCallsOfTheAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &limiter{clock: clock.System{}, limits: map[string]Limit{"": {}}, longest: 20 * time.Second, buckets: map[bucketKey]*bucket{}}
		here := bucketKey{"a", "microsoft.compute", "write"}
		l.note(here, &http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}})
		for k, want := range map[bucketKey]time.Duration{
			{"b", "microsoft.compute", "write"}: 0, {"a", "microsoft.sql", "write"}: 0, {"a", "microsoft.compute", "read"}: 0, here: 7 * time.Second,
		} {
			begun := time.Now()
			if err := l.wait(t.Context(), k); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(begun); k == here && d == 0 || k != here && d != 0 {
				t.Errorf("%v waited %s; want about %s", k, d, want)
			}
		}
	})
}

func TestGraph_AnEmptyQuotaIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &twin.Cloud{Page: 1}
		c := paced(t, tw, nil)
		for n := range 3 {
			tw.AddVM(fmt.Sprint("web-", n), "westeurope", nil)
		}
		tw.LimitGraph(4) // the overview, one page, and what stands beside it
		begun := time.Now()
		got, err := c.List(t.Context(), "azure-vm", "westeurope", "")
		if err != nil || time.Since(begun) != 0 {
			t.Fatalf("List after %s: %v", time.Since(begun), err)
		}
		tw.LimitGraph(2) // what the five seconds give back
		if _, err := c.List(t.Context(), "azure-vm", "westeurope", got.Next); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begun); d != 5*time.Second {
			t.Errorf("the next page came after %s; want the 5 s that Azure said", d)
		}
	})
}

func TestLimits_CallsArePacedBelowWhatAzureAllows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &twin.Cloud{}
		c := paced(t, tw, func(o *Options) { o.Limits = nil })
		tw.AddVM("web", "westeurope", nil)
		begun := time.Now()
		for range 44 {
			if _, err := c.List(t.Context(), "azure-vm", "westeurope", ""); err != nil {
				t.Fatal(err)
			}
		}
		// 14 at once, then 2.8 a second; an overview beside the pages, now and then.
		if d := time.Since(begun); d < 10*time.Second || d > 14*time.Second {
			t.Errorf("44 queries took %s; Azure allows 15 in 5 s", d)
		}
	})
}

func TestLimiter_FullBucketsAreForgotten(t *testing.T) {
	c := clock.NewManual(time.Unix(0, 0))
	l := &limiter{clock: c, limits: map[string]Limit{"": {PerSecond: 1, Burst: 2}}, longest: time.Minute, buckets: map[bucketKey]*bucket{}}
	for n := range manyBuckets {
		if err := l.wait(t.Context(), bucketKey{account: strconv.Itoa(n)}); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(time.Minute)
	if err := l.wait(t.Context(), bucketKey{account: "one more"}); err != nil || len(l.buckets) != 1 {
		t.Errorf("%d buckets are kept, %v; want the one that is not full", len(l.buckets), err)
	}
}

func TestLimiter_AWaitEndsWithItsContext(t *testing.T) {
	c := clock.NewManual(time.Unix(0, 0))
	l := &limiter{clock: c, limits: map[string]Limit{"": {PerSecond: 1, Burst: 1}}, longest: time.Minute, buckets: map[bucketKey]*bucket{}}
	k := bucketKey{account: "a"}
	if err := l.wait(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 10 {
		if err := l.wait(ended, k); !errors.Is(err, context.Canceled) {
			t.Fatalf("wait = %v", err)
		}
	}
	c.Advance(time.Second)
	if n := l.buckets[k].rate.TokensAt(c.Now()); n != 1 {
		t.Errorf("%v tokens are there; want that those who gave up took none", n)
	}
}

func TestClockTime_ReadsWhatAzureWrites(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"00:00:05": 5 * time.Second, "01:02:03": time.Hour + 2*time.Minute + 3*time.Second, "": 0, "soon": 0, "00:-1:00": 0,
	} {
		if got := clockTime(text); got != want {
			t.Errorf("clockTime(%q) = %s; want %s", text, got, want)
		}
	}
}

func TestMatches_PatternsOfRoles(t *testing.T) {
	for _, tt := range []struct {
		pattern, action string
		want            bool
	}{
		{"*", "Microsoft.Compute/virtualMachines/read", true},
		{"*/read", "Microsoft.Compute/virtualMachines/read", true},
		{"*/read", "Microsoft.Compute/virtualMachines/readAll/action", false},
		{"microsoft.compute/*", "Microsoft.Compute/virtualMachines/start/action", true},
		{"Microsoft.Compute/*/start/action", "Microsoft.Compute/virtualMachines/start/action", true},
		{"Microsoft.Compute/virtualMachines", "Microsoft.Compute/virtualMachines/read", false},
		{"Microsoft.ComputeX/*", "Microsoft.Compute/virtualMachines/read", false},
		{"Microsoft(Compute/*", "Microsoft.Compute/virtualMachines/read", false},
	} {
		if got := matches(tt.pattern, tt.action); got != tt.want {
			t.Errorf("matches(%q, %q) = %v", tt.pattern, tt.action, got)
		}
	}
}
