package azure

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
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
		{"PUT", s + "/resourcegroups/g/providers/microsoft.containerservice/managedclusters/c/agentpools/p"}: "" +
			"microsoft.containerservice/managedclusters/agentpools/write",
		{"GET", s + permissionsPath}: "Microsoft.Authorization/permissions/read",
	} {
		if got := permissionOf(call[0], call[1]); got != want {
			t.Errorf("%v is %s; want %s", call, got, want)
		}
	}
}

// paced is a connection to the twin in a bubble, where waiting takes no time and is counted.
func paced(t *testing.T, tw *azuretwin.Cloud, change func(*Options)) cloud.Conn {
	t.Helper()
	o := Options{Clock: clock.System{}, Transport: tw, Limits: map[string]Limit{"": {}}}
	if change != nil {
		change(&o)
	}
	c, err := New(o).Connect(t.Context(), cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "azure", NativeID: azuretwin.Subscription, AuthMethod: "service_principal",
		Credentials: map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": azuretwin.Secret,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestThrottling_RetryAfterIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &azuretwin.Cloud{RetryAfter: 17 * time.Second}
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
		tw := &azuretwin.Cloud{RetryAfter: time.Hour}
		c := paced(t, tw, nil)
		tw.ThrottleCalls(1)
		begun := time.Now()
		_, err := c.Identify(t.Context())
		if cloud.ClassOf(err) != cloud.Throttled || time.Since(begun) > time.Second {
			t.Errorf("after %s: %v; want class Throttled at once", time.Since(begun), err)
		}
	})
}

// A refusal of one call slows down the other calls of its buckets, but no call of another account, principal or
// region.
func TestThrottling_HoldsForAllCallsOfTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Options{Clock: clock.System{}, Transport: &azuretwin.Cloud{}})
		const machine = "https://management.azure.com/subscriptions/a/resourceGroups/g/providers/" +
			"Microsoft.Compute/virtualMachines/web"
		ask := func(principal, region, method, path string) (pacer, *http.Request) {
			r, err := http.NewRequestWithContext(withRegion(t.Context(), region), method, path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			return p.pacerOf(cloud.Account{NativeID: "A", Credentials: map[string]string{"clientID": principal}}), r
		}
		for _, c := range []struct {
			name, principal, region, method, path string
			waits                                 bool
		}{
			{"the same", "me", "westeurope", http.MethodPost, machine + "/deallocate", true},
			{"another write of the principal", "me", "westeurope", http.MethodPost, machine + "/start", true},
			{
				"a deallocation of another principal in the region", "you", "westeurope", http.MethodPost,
				machine + "/deallocate", true,
			},
			{"one in another region", "you", "northeurope", http.MethodPost, machine + "/deallocate", false},
			{"a start of another principal", "you", "westeurope", http.MethodPost, machine + "/start", false},
			{"a read", "me", "westeurope", http.MethodGet, machine, false},
		} {
			p.limiter = newLimiter(p.options)
			refused, r := ask("me", "westeurope", http.MethodPost, machine+"/deallocate")
			refused.learnFrom(refused.bucketKeys(r),
				&http.Response{StatusCode: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"7"}}})
			begun := time.Now()
			next, r := ask(c.principal, c.region, c.method, c.path)
			for _, k := range next.bucketKeys(r) {
				if err := next.limiter.Wait(t.Context(), k, 1); err != nil {
					t.Fatal(err)
				}
			}
			if d := time.Since(begun); c.waits != (d >= 7*time.Second) {
				t.Errorf("%s waited %s; want it to wait: %v", c.name, d, c.waits)
			}
		}
	})
}

func TestGraph_AnEmptyQuotaIsWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tw := &azuretwin.Cloud{Page: 1}
		c := paced(t, tw, func(o *Options) { o.Limits = map[string]Limit{"": {PerSecond: 100, Burst: 100}} })
		for n := range 3 {
			tw.AddVM(fmt.Sprint("web-", n), "westeurope", nil)
		}
		tw.LimitGraph(4) // the overview, one page, and the neighbours
		begun := time.Now()
		got, err := c.List(t.Context(), "azure-vm", "westeurope", "")
		if err != nil || time.Since(begun) != 0 {
			t.Fatalf("List after %s: %v", time.Since(begun), err)
		}
		tw.LimitGraph(2) // the queries that five seconds add
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
		tw := &azuretwin.Cloud{}
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
