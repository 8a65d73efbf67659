package azure_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// roundTripperOf returns a transport that calls a function with each request before the twin answers it.
func roundTripperOf(tw *azuretwin.Cloud, before func(method string)) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		before(r.Method)
		return tw.RoundTrip(r)
	})
}

func openThrough(t *testing.T, r http.RoundTripper) cloud.Conn {
	t.Helper()
	c, err := azure.New(options(r)).Connect(t.Context(), principal(azuretwin.Secret))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSynapse_APoolThatIsScaledIsWaitedFor(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddSQLPool("dw", region)
	p.Properties()["status"] = "Scaling"
	if s := state(t, c, "azure-synapse-sqlpool", p.UID()); !s.Status.IsTransitional() {
		t.Errorf("a pool that is scaled is %+v", s)
	}
	wantClass(t, "pause", act(t, c, cloud.Stop, "azure-synapse-sqlpool", cloud.Target{UID: p.UID()}), cloud.Moving)
}

func TestManagedInstance_OfAnotherTierIsRefused(t *testing.T) {
	tw, c := connect(t)
	i := tw.AddManagedInstance("mi", region, "BusinessCritical")
	if s := state(t, c, "azure-sql-mi", i.UID()); !strings.Contains(s.Unschedulable, "GeneralPurpose alone") {
		t.Errorf("state %+v", s)
	}
}

// Azure wakes a stopped server for its monthly maintenance and stops it again: the states of that way are on the way.
func TestFlexibleServer_MaintenanceIsNoStartOfSomebodys(t *testing.T) {
	tw, c := connect(t)
	s := tw.AddServer("PostgreSQL", "pg", region)
	for word, want := range map[string]cloud.Status{
		"Starting": cloud.Starting, "Updating": cloud.Pending, "Stopping": cloud.Stopping, "Stopped": cloud.Stopped,
		"Ready":    cloud.Running,
		"Dropping": cloud.Terminated, "Inaccessible": cloud.Unknown,
	} {
		s.Properties()["state"] = word
		if got := state(t, c, "azure-postgresql-flexible", s.UID()); got.Status != want || got.Native != word {
			t.Errorf("%s is read as %+v; want %s", word, got, want)
		}
	}
}

func TestContainerApp_SeveralRevisionsAreNotScaled(t *testing.T) {
	tw, c := connect(t)
	a := tw.AddContainerApp("app", region, 1, 5, func(r *azuretwin.Resource) {
		r.Properties()["configuration"] = map[string]any{"activeRevisionsMode": "Multiple"}
	})
	two := int64(2)
	err := c.Scale(t.Context(), "azure-containerapp", region, a.UID(), cloud.Capacity{Desired: &two})
	wantClass(t, "scale", err, cloud.Unsupported)
	if n := len(writes(tw)); n != 0 {
		t.Errorf("%d changes; want none", n)
	}
}

func TestContainerApp_ZeroReplicasAreSent(t *testing.T) {
	tw, c := connect(t)
	a := tw.AddContainerApp("app", region, 2, 5, nil)
	zero := int64(0)
	if err := c.Scale(t.Context(), "azure-containerapp", region, a.UID(), cloud.Capacity{Desired: &zero}); err != nil {
		t.Fatal(err)
	}
	calls := tw.Calls("Microsoft.App/containerApps/write")
	if len(calls) != 1 ||
		fmt.Sprint(calls[0].Body) != "map[properties:map[template:map[scale:map[maxReplicas:5 minReplicas:0]]]]" {
		t.Errorf("the change was %+v; want both bounds, the 0 among them", calls)
	}
}

func TestContainerApp_SizesThatContradictAreRefused(t *testing.T) {
	tw, c := connect(t)
	a := tw.AddContainerApp("app", region, 2, 5, nil)
	n := func(i int64) *int64 { return &i }
	for name, want := range map[string]cloud.Capacity{
		"minimum and desired differ": {Min: n(1), Desired: n(2)},
		"desired above the maximum":  {Desired: n(6)},
		"no replica at most":         {Desired: n(0), Max: n(0)},
		"less than none":             {Desired: n(-1)},
		"more than there are":        {Max: n(1 << 40)},
	} {
		t.Run(name, func(t *testing.T) {
			wantClass(t, "scale", c.Scale(t.Context(), "azure-containerapp", region, a.UID(), want), cloud.Invalid)
		})
	}
	if n := len(writes(tw)); n != 0 {
		t.Errorf("%d changes; want none", n)
	}
}

func TestAppServicePlan_KeepsWhatItIs(t *testing.T) {
	tw, c := connect(t)
	p := tw.AddPlan("plan", region, "PremiumV3", 2)
	five, zero := int64(5), int64(0)
	wantClass(t, "no workers",
		c.Scale(t.Context(), "azure-appserviceplan", region, p.UID(), cloud.Capacity{Desired: &zero}), cloud.Invalid)
	if err := c.Scale(t.Context(), "azure-appserviceplan", region, p.UID(),
		cloud.Capacity{Desired: &five}); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Body["sku"]); got != "map[capacity:5 family:Pv3 name:P1v3 size:P1v3 tier:PremiumV3]" {
		t.Errorf("the plan is %s", got)
	}
	shared := tw.AddPlan("functions", region, "Dynamic", 0)
	wantClass(t, "workers of a consumption plan",
		c.Scale(t.Context(), "azure-appserviceplan", region, shared.UID(), cloud.Capacity{Desired: &five}),
		cloud.Unsupported)
	wantClass(t, "stop of a plan", act(t, c, cloud.Stop, "azure-appserviceplan", cloud.Target{UID: p.UID()}),
		cloud.Unsupported)
}

func TestSQLDatabase_WithoutCoresIsNotScaled(t *testing.T) {
	tw, c := connect(t)
	four := int64(4)
	for name, sku := range map[string]map[string]any{
		"transaction units": {"name": "S1", "tier": "Standard", "capacity": 20},
		"an elastic pool":   {"name": "ElasticPool", "tier": "GeneralPurpose", "capacity": 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := tw.AddDatabase(strings.ReplaceAll(name, " ", "-"), region, "v12.0,user", sku)
			wantClass(t, "scale",
				c.Scale(t.Context(), "azure-sql-database", region, d.UID(), cloud.Capacity{Desired: &four}),
				cloud.Unsupported)
		})
	}
	wantClass(t, "stop",
		act(t, c, cloud.Stop, "azure-sql-database",
			cloud.Target{UID: tw.AddDatabase("db", region, "v12.0,user", vcores(2)).UID()}), cloud.Unsupported)
}

// A started job processes the events that arrived while it was stopped, as far as its input keeps them. A job without
// any output has no such point.
func TestStreamJob_GoesOnWhereItsOutputEnded(t *testing.T) {
	for last, want := range map[string]string{"2026-03-01T10:00:00Z": "LastOutputEventTime", "": "JobStartTime"} {
		tw, c := connect(t)
		j := tw.AddStreamJob("clicks", region, last)
		j.Properties()["jobState"] = "Stopped"
		if err := act(t, c, cloud.Start, "azure-stream-analytics", cloud.Target{UID: j.UID()}); err != nil {
			t.Fatal(err)
		}
		calls := tw.Calls("Microsoft.StreamAnalytics/streamingjobs/start/action")
		if len(calls) != 1 || calls[0].Body["outputStartMode"] != want {
			t.Errorf("with the last output at %q it was started with %+v; want %s", last, calls, want)
		}
	}
}

func TestWordKinds_EveryStateIsPlaced(t *testing.T) {
	type word struct {
		add    func(*azuretwin.Cloud) *azuretwin.Resource
		place  func(r *azuretwin.Resource, word string)
		states map[string]cloud.Status
	}
	state0 := func(name string) func(*azuretwin.Resource, string) {
		return func(r *azuretwin.Resource, w string) { r.Properties()[name] = w }
	}
	within := func(part string) func(*azuretwin.Resource, string) {
		return func(r *azuretwin.Resource, w string) { r.Properties()[part].(map[string]any)["state"] = w }
	}
	for kind, k := range map[string]word{
		"azure-adx": {
			added["azure-adx"], state0("state"),
			map[string]cloud.Status{
				"Running": cloud.Running, "Stopped": cloud.Stopped, "Updating": cloud.Pending,
				"Unavailable": cloud.Unknown, "Migrated": cloud.Unknown,
			},
		},
		"azure-appgateway": {
			added["azure-appgateway"], state0("operationalState"),
			map[string]cloud.Status{
				"Running": cloud.Running, "Stopped": cloud.Stopped, "Starting": cloud.Starting,
				"Stopping": cloud.Stopping,
			},
		},
		"azure-analysis-services": {
			added["azure-analysis-services"], state0("state"),
			map[string]cloud.Status{
				"Succeeded": cloud.Running, "Paused": cloud.Stopped, "Pausing": cloud.Stopping,
				"Resuming": cloud.Starting, "Failed": cloud.Unknown,
			},
		},
		"azure-fabric-capacity": {
			added["azure-fabric-capacity"], state0("state"),
			map[string]cloud.Status{
				"Active": cloud.Running, "Paused": cloud.Stopped, "Suspended": cloud.Stopped,
				"Scaling": cloud.Pending, "Failed": cloud.Unknown,
			},
		},
		"azure-stream-analytics": {
			added["azure-stream-analytics"], state0("jobState"),
			map[string]cloud.Status{
				"Running": cloud.Running, "Degraded": cloud.Running, "Created": cloud.Stopped,
				"Stopped": cloud.Stopped, "Failed": cloud.Unknown, "Scaling": cloud.Pending,
			},
		},
		"azure-aci": {
			added["azure-aci"], within("instanceView"),
			map[string]cloud.Status{
				"Running": cloud.Running, "Stopped": cloud.Stopped, "Succeeded": cloud.Stopped,
				"Pending": cloud.Starting, "Failed": cloud.Unknown, "": cloud.Unknown,
			},
		},
		"azure-ml-compute": {
			added["azure-ml-compute"], within("properties"),
			map[string]cloud.Status{
				"Running": cloud.Running, "JobRunning": cloud.Running, "Stopped": cloud.Stopped,
				"Starting": cloud.Starting, "SettingUp": cloud.Pending, "Unusable": cloud.Unknown,
			},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			tw, c := connect(t)
			r := k.add(tw)
			for w, want := range k.states {
				k.place(r, w)
				if got := state(t, c, kind, r.UID()); got.Status != want || got.Native != w {
					t.Errorf("%q is read as %+v; want %s", w, got, want)
				}
			}
		})
	}
}

// A machine of a flexible scale set can be stopped by itself.
func TestVM_OfAFlexibleScaleSetIsStopped(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, func(r *azuretwin.Resource) {
		r.Properties()["virtualMachineScaleSet"] = map[string]any{"id": tw.AddScaleSet("flex", region, -1, nil).ID}
	})
	if s := state(t, c, "azure-vm", m.UID()); s.Unschedulable != "" {
		t.Errorf("refused because %q", s.Unschedulable)
	}
	if err := act(t, c, cloud.Stop, "azure-vm", cloud.Target{UID: m.UID()}); err != nil {
		t.Error(err)
	}
}

// The workspace of computes is not a compute: it stays in the inventory under its own type.
func TestMLCompute_ItsWorkspaceIsListedAmongEverythingElse(t *testing.T) {
	tw, c := connect(t)
	w := tw.AddWorkspace("lab", region)
	tw.AddCompute(w, "ada", "ComputeInstance")
	got, err := c.List(t.Context(), cloud.AzureOthers, region, "")
	if err != nil || len(got.Resources) != 1 || got.Resources[0].UID != w.UID() ||
		got.Resources[0].Type != "azure-ml-workspace" {
		t.Errorf("listed %+v, %v", got.Resources, err)
	}
}
