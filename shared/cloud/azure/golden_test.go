package azure_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

var update = flag.Bool("update", false, "write the golden files anew")

// added makes one resource of each kind, with its autoscaler if the kind has one.
var added = map[string]func(*azuretwin.Cloud) *azuretwin.Resource{
	"azure-vm": func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddVM("web", region, nil) },
	"azure-vmss": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		s := tw.AddScaleSet("web", region, 3, nil)
		tw.AddSetting(s, region, 2, 9)
		return s
	},
	"azure-aks": func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddCluster("prod", region, nil) },
	"azure-aks-nodepool": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddPool(tw.AddCluster("prod", region, nil), "user", 3, 1, 5)
	},
	"azure-postgresql-flexible": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddServer("PostgreSQL", "pg", region)
	},
	"azure-mysql-flexible": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddServer("MySQL", "my", region)
	},
	"azure-containerapp": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddContainerApp("app", region, 1, 5, nil)
	},
	"azure-appservice":  func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddSite("site", region) },
	"azure-functionapp": func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddFunctionApp("jobs", region) },
	"azure-appserviceplan": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		p := tw.AddPlan("plan", region, "PremiumV3", 2)
		tw.AddSetting(p, region, 1, 4)
		return p
	},
	"azure-synapse-sqlpool": func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddSQLPool("dw", region) },
	"azure-sql-mi": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddManagedInstance("mi", region, "GeneralPurpose")
	},
	"azure-aci": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddContainerGroup("batch", region)
	},
	"azure-adx": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddDataExplorer("logs", region)
	},
	"azure-appgateway": func(tw *azuretwin.Cloud) *azuretwin.Resource { return tw.AddGateway("edge", region) },
	"azure-analysis-services": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddAnalysisServer("cubes", region)
	},
	"azure-fabric-capacity": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddFabricCapacity("fabric", region)
	},
	"azure-stream-analytics": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddStreamJob("clicks", region, "2026-03-01T10:00:00Z")
	},
	"azure-ml-compute": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddCompute(tw.AddWorkspace("lab", region), "ada", "ComputeInstance")
	},
	"azure-sql-database": func(tw *azuretwin.Cloud) *azuretwin.Resource {
		return tw.AddDatabase("db", region, "v12.0,user,vcore", vcores(2))
	},
}

// The exact requests of each kind: method, path, version and body.
func TestKinds_AskAzureExactlyThis(t *testing.T) {
	for _, k := range cloud.KindsOf("azure") {
		if cloud.IsCollective(k.Type) {
			continue // it is listed, and nothing else
		}
		t.Run(k.Type, func(t *testing.T) {
			if added[k.Type] == nil {
				t.Fatalf("the test has no resource of kind %s", k.Type)
			}
			tw := &azuretwin.Cloud{}
			c := open(t, tw, principal(azuretwin.Secret))
			got := record(t, tw, c, k)
			file := filepath.Join("testdata", k.Type+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // all may read it
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v\n%s asks\n%s\nwant\n%s", err, k.Type, got, want)
			}
		})
	}
}

// record makes every call of a kind and returns the requests.
func record(t *testing.T, tw *azuretwin.Cloud, c cloud.Conn, k cloud.Kind) string {
	t.Helper()
	uid := added[k.Type](tw).UID()
	var b strings.Builder
	step := func(name string, do func() error) {
		tw.ForgetCalls()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tw.SettleAll()
		fmt.Fprintf(&b, "# %s\n%s", name, callsText(t, tw))
	}
	step("list", func() error { _, err := c.List(t.Context(), k.Type, region, ""); return err })
	step("read", func() error { _, err := c.Read(t.Context(), k.Type, region, []string{uid}); return err })
	remembered := state(t, c, k.Type, uid).Snapshot
	if k.Actionable {
		step("stop", func() error { return act(t, c, cloud.Stop, k.Type, cloud.Target{UID: uid}) })
		step("start", func() error {
			return act(t, c, cloud.Start, k.Type, cloud.Target{UID: uid, Snapshot: remembered})
		})
	}
	if k.Scalable {
		four := int64(4)
		step("scale", func() error { return c.Scale(t.Context(), k.Type, region, uid, cloud.Capacity{Desired: &four}) })
	}
	return b.String()
}

// callsText returns the calls to the resource manager, one a line, with the body on the next.
func callsText(t *testing.T, tw *azuretwin.Cloud) string {
	t.Helper()
	var b strings.Builder
	for _, k := range tw.Calls("") {
		if strings.HasPrefix(k.Op, "entra:") {
			continue
		}
		fmt.Fprintf(&b, "%s %s?%s\n", k.Method, k.Path, k.Query)
		if match := k.Header.Get("If-Match"); match != "" {
			fmt.Fprintf(&b, "If-Match: %s\n", match)
		}
		if len(k.Body) > 0 {
			body, err := json.Marshal(k.Body)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", body)
		}
	}
	return b.String()
}

// A customer's role consists of the required permissions. With exactly those everything works, at each level.
func TestRequiredActions_AreWhatIsCalled(t *testing.T) {
	need := azure.ListRequiredActions()
	levels := map[string]struct {
		actions []string
		stop    bool
		scale   bool
	}{
		"discover": {need.Discover, false, false}, "start and stop": {need.StartStop, true, false},
		"scale": {need.Scale, true, true},
	}
	for name, level := range levels {
		t.Run(name, func(t *testing.T) {
			used := map[string]bool{}
			for _, k := range cloud.KindsOf("azure") {
				tw := &azuretwin.Cloud{}
				tw.SetRoles(azuretwin.Role{Actions: level.actions})
				if cloud.IsCollective(k.Type) {
					used["*/read"] = seesOthers(t, tw)
					continue
				}
				useAll(t, tw, k, level.stop, level.scale)
				for _, call := range tw.Calls("") {
					used[call.Op] = true
				}
			}
			used[advisorRead] = seesAdvice(t, level.actions)
			for _, a := range level.actions {
				if !used[a] {
					t.Errorf("%s is asked for and not needed", a)
				}
			}
		})
	}
}

// seesOthers reports whether the role may list the resources without a kind.
func seesOthers(t *testing.T, tw *azuretwin.Cloud) bool {
	t.Helper()
	tw.AddOther("Microsoft.Compute/disks", "data", region, map[string]any{})
	got, err := open(t, tw, principal(azuretwin.Secret)).List(t.Context(), cloud.AzureOthers, region, "")
	return err == nil && len(got.Resources) == 1
}

// useAll makes all calls of the kind that a level allows.
func useAll(t *testing.T, tw *azuretwin.Cloud, k cloud.Kind, stop, scale bool) {
	t.Helper()
	c := open(t, tw, principal(azuretwin.Secret))
	uid := added[k.Type](tw).UID()
	ask := func(what string, err error) {
		if err != nil {
			t.Errorf("%s: %s: %v", k.Type, what, err)
		}
	}
	_, err := c.Identify(t.Context())
	ask("identify", err)
	_, err = c.Regions(t.Context())
	ask("regions", err)
	_, err = c.Permissions(t.Context())
	ask("permissions", err)
	_, err = c.List(t.Context(), k.Type, region, "")
	ask("list", err)
	_, err = c.(cloud.Metered).Metrics(t.Context(), cloud.MetricRequest{
		Type: k.Type, Region: region, UIDs: []string{uid}, Measures: cloud.MeasuresOf(k.Type), Period: time.Hour,
		From: time.Unix(0, 0), To: time.Unix(7200, 0),
	})
	ask("metrics", err)
	_, err = c.(cloud.Sizer).Sizes(t.Context(), region)
	ask("sizes", err)
	_, err = c.(cloud.Clusters).ClusterNames(t.Context(), region)
	ask("clusters", err)
	remembered := state(t, c, k.Type, uid).Snapshot
	if stop && k.Type == cloud.AzureAKS {
		_, err = enter(t, tw, c, nil)
		ask("enter", err)
	}
	if stop && k.Actionable {
		ask("stop", act(t, c, cloud.Stop, k.Type, cloud.Target{UID: uid}))
		tw.SettleAll()
		ask("start", act(t, c, cloud.Start, k.Type, cloud.Target{UID: uid, Snapshot: remembered}))
		tw.SettleAll()
	}
	if scale && k.Scalable {
		most, four := int64(8), int64(4)
		want := cloud.Capacity{Desired: &four}
		if k.Type == "azure-vmss" || k.Type == "azure-appserviceplan" {
			want.Max = &most
		}
		ask("scale", c.Scale(t.Context(), k.Type, region, uid, want))
	}
	if scale && k.Type == cloud.AzureVMSS {
		bare := tw.AddScaleSet("bare", region, 2, nil).UID()
		found, err := c.(cloud.Autoscaler).ReadAutoscaling(t.Context(), k.Type, region, bare)
		ask("read the scaling", err)
		for _, want := range []cloud.Autoscaling{{Min: 1, Max: 3, Desired: 2}, found} {
			ask("set the scaling", c.(cloud.Autoscaler).SetAutoscaling(t.Context(), k.Type, region, bare, want))
		}
	}
}

func TestPermissions_SayWhatARoleLacks(t *testing.T) {
	tw, c := connect(t)
	tw.SetRoles(
		azuretwin.Role{Actions: []string{"*/read"}},
		azuretwin.Role{
			Actions:    []string{"Microsoft.Compute/*", "microsoft.insights/autoscalesettings/*"},
			NotActions: []string{"Microsoft.Compute/virtualMachines/deallocate/action"},
		},
	)
	got, err := c.Permissions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Microsoft.Compute/virtualMachines/read":              "granted",
		"Microsoft.Compute/virtualMachines/start/action":      "granted",
		"Microsoft.Compute/virtualMachines/deallocate/action": "denied",
		"Microsoft.Compute/virtualMachineScaleSets/write":     "granted",
		"Microsoft.Insights/autoscaleSettings/write":          "granted",
		"Microsoft.Web/sites/stop/action":                     "denied",
		"Microsoft.Web/serverfarms/write":                     "denied",
	}
	seen := map[string]string{}
	for _, p := range got {
		seen[p.Action] = p.Status
		if (p.Status == "granted") != (p.Message == "") || p.Status == "denied" &&
			!strings.Contains(p.Message, p.Action) {
			t.Errorf("%+v: the message does not fit", p)
		}
	}
	for action, status := range want {
		if seen[action] != status {
			t.Errorf("%s is %q; want %s", action, seen[action], status)
		}
	}
	if need := azure.ListRequiredActions(); len(seen) != len(need.Remediate)+len(need.Billing)+len(need.BillingData) {
		t.Errorf("%d permissions are told; want all of %+v", len(seen), need)
	}
}

func TestPermissions_AreUnknownWhereAzureDoesNotTell(t *testing.T) {
	tw, c := connect(t)
	tw.SetRoles(azuretwin.Role{Actions: []string{"Microsoft.Compute/*"}})
	got, err := c.Permissions(t.Context())
	if err != nil || len(got) == 0 {
		t.Fatalf("Permissions = %v, %v", got, err)
	}
	for _, p := range got {
		told := strings.Contains(p.Message, "AuthorizationFailed") ||
			slices.Contains(azure.ListRequiredActions().BillingData, p.Action) && p.Message != ""
		if p.Status != "unknown" || !told {
			t.Errorf("%+v; want it unknown, and why", p)
		}
	}
	tw.AddFault(azuretwin.Fault{
		Op: "Microsoft.Authorization/permissions/read", Code: "InternalServerError",
		Status: http.StatusInternalServerError, Times: -1,
	})
	tw.SetRoles()
	_, err = c.Permissions(t.Context())
	wantClass(t, "Permissions of a cloud that is down", err, cloud.Transient)
}
