package azure_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

const region = "westeurope"

// options reach the twin instead of Azure, and never pause for long.
func options(transport http.RoundTripper) azure.Options {
	return azure.Options{
		Clock: clock.System{}, Transport: transport, Backoff: time.Millisecond, MaxBackoff: 2 * time.Millisecond,
		Limits: map[string]azure.Limit{"": {}},
	}
}

func principal(secret string) cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "azure", NativeID: azuretwin.Subscription, AuthMethod: "service_principal",
		Credentials: map[string]string{
			"tenantID": azuretwin.Tenant, "clientID": azuretwin.Client,
			"clientSecret": secret,
		},
	}
}

// connect opens a new twin.
func connect(t *testing.T) (*azuretwin.Cloud, cloud.Conn) {
	t.Helper()
	tw := &azuretwin.Cloud{}
	return tw, open(t, tw, principal(azuretwin.Secret))
}

func open(t *testing.T, tw *azuretwin.Cloud, a cloud.Account) cloud.Conn {
	t.Helper()
	c, err := azure.New(options(tw)).Connect(t.Context(), a)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return c
}

func TestAzureOverItsTwinKeepsTheContractOfClouds(t *testing.T) {
	for name, strict := range map[string]bool{
		"verbs are repeated without complaint": false,
		"a repeated verb is a conflict":        true,
	} {
		t.Run(name, func(t *testing.T) {
			tw := &azuretwin.Cloud{Page: 2, Strict: strict}
			cloudtest.Run(t, azure.New(options(tw)), fixture(tw))
		})
	}
}

func fixture(tw *azuretwin.Cloud) cloudtest.Fixture {
	refused := principal("somebody-elses")
	return cloudtest.Fixture{
		Account: principal(azuretwin.Secret), NativeID: azuretwin.Subscription, Refused: &refused, Groups: groups(tw),
		Metered: []cloudtest.Metered{metered(tw)}, Collective: collective(tw),
		Settle:   tw.SettleAll,
		Throttle: tw.ThrottleCalls,
		Deny: func(on bool) {
			tw.SetRoles()
			if on {
				tw.SetRoles(azuretwin.Role{Actions: []string{"*"}, NotActions: []string{"*/action", "*/write"}})
			}
		},
	}
}

// far is a region without resources of the contract.
const far = "northeurope"

func metered(tw *azuretwin.Cloud) cloudtest.Metered {
	used := tw.AddVM("used", far, func(r *azuretwin.Resource) {
		day := make([]float64, 24)
		day[3] = -1
		r.Metrics = map[string][]float64{"Percentage CPU": day}
	})
	m := cloudtest.Metered{
		Kind: "azure-vm", Region: far, Measured: []string{used.UID()},
		Quiet: []string{tw.AddVM("quiet", far, nil).UID()}, Missing: used.UID() + "-nothing",
		PerCall: 50 * len(cloud.MeasuresOf("azure-vm")), Start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		Gap: 3 * time.Hour, Unmeasured: "azure-vnet",
		Calls: func() int { return len(tw.Calls(metricsRead)) },
		Deny: func(on bool) {
			tw.SetRoles()
			if on {
				tw.SetRoles(azuretwin.Role{Actions: []string{"*"}, NotActions: []string{metricsRead}})
			}
		},
	}
	for n := range 60 {
		m.Many = append(m.Many, tw.AddVM(fmt.Sprint("many-", n), far, nil).UID())
	}
	return m
}

func collective(tw *azuretwin.Cloud) *cloudtest.Collective {
	c := &cloudtest.Collective{Region: far, Facts: map[string]string{}, Pages: 2, Break: func(on bool) {
		tw.EndFaults()
		if on {
			tw.AddFault(azuretwin.Fault{
				Op: graphRead, Code: "AuthorizationFailed",
				Message: "The client does not have authorization", Status: 403, Times: -1,
			})
		}
	}}
	for n := range 3 {
		disk := tw.AddOther("Microsoft.Compute/disks", fmt.Sprint("disk-", n), far,
			map[string]any{"properties": map[string]any{"diskState": "Unattached", "diskSizeGB": 8}})
		c.Facts[disk.UID()] = "disk_state"
	}
	return c
}

func groups(tw *azuretwin.Cloud) []cloudtest.Group {
	return []cloudtest.Group{
		vmGroup(tw), scaleSetGroup(tw), clusterGroup(tw), poolGroup(tw), containerAppGroup(tw), instanceGroup(tw),
		planGroup(tw), databaseGroup(tw),
		plainGroup("azure-postgresql-flexible", func(n int) string {
			return tw.AddServer("PostgreSQL", fmt.Sprint("pg-", n), region).UID()
		}),
		plainGroup("azure-mysql-flexible", func(n int) string {
			return tw.AddServer("MySQL", fmt.Sprint("my-", n), region).UID()
		}),
		plainGroup("azure-appservice", func(n int) string { return tw.AddSite(fmt.Sprint("site-", n), region).UID() }),
		plainGroup("azure-functionapp", func(n int) string {
			return tw.AddFunctionApp(fmt.Sprint("jobs-", n), region).UID()
		}),
		plainGroup(cloud.AzureContainerGroup, func(n int) string {
			return tw.AddContainerGroup(fmt.Sprint("batch-", n), region).UID()
		}),
		plainGroup(cloud.AzureDataExplorer, func(n int) string {
			return tw.AddDataExplorer(fmt.Sprint("logs", n), region).UID()
		}),
		plainGroup(cloud.AzureAppGateway, func(n int) string {
			return tw.AddGateway(fmt.Sprint("edge-", n), region).UID()
		}),
		plainGroup(cloud.AzureAnalysisServices, func(n int) string {
			return tw.AddAnalysisServer(fmt.Sprint("cubes", n), region).UID()
		}),
		plainGroup(cloud.AzureFabricCapacity, func(n int) string {
			return tw.AddFabricCapacity(fmt.Sprint("fabric", n), region).UID()
		}),
		plainGroup(cloud.AzureStreamAnalytics, func(n int) string {
			return tw.AddStreamJob(fmt.Sprint("clicks-", n), region, "").UID()
		}),
		computeGroup(tw),
		plainGroup("azure-synapse-sqlpool", func(n int) string {
			return tw.AddSQLPool(fmt.Sprint("dw", n), region).UID()
		}),
	}
}

func plainGroup(kind string, add func(n int) string) cloudtest.Group {
	g := cloudtest.Group{Kind: kind, Region: region, Pages: 2}
	for n := range 3 {
		g.Free = append(g.Free, add(n))
	}
	g.Missing = g.Free[0] + "-nothing"
	return g
}

func vmGroup(tw *azuretwin.Cloud) cloudtest.Group {
	g := plainGroup("azure-vm", func(n int) string { return tw.AddVM(fmt.Sprint("Web-", n), region, nil).UID() })
	g.Tied = map[string]string{tw.AddVM("ephemeral", region, ephemeral).UID(): "OS disk is ephemeral"}
	tw.AddVM("elsewhere", "northeurope", nil)
	return g
}

func ephemeral(r *azuretwin.Resource) {
	r.Properties()["storageProfile"] = map[string]any{
		"osDisk": map[string]any{"diffDiskSettings": map[string]any{"option": "Local"}},
	}
}

func scaleSetGroup(tw *azuretwin.Cloud) cloudtest.Group {
	g := plainGroup("azure-vmss", func(n int) string {
		s := tw.AddScaleSet(fmt.Sprint("set-", n), region, 2+n, nil)
		if n < 2 {
			tw.AddSetting(s, region, 1, 9)
		}
		return s.UID()
	})
	pool := tw.AddScaleSet("aks-blue", region, 2, func(r *azuretwin.Resource) {
		r.Body["tags"] = map[string]any{"aks-managed-poolName": "blue"}
	})
	g.Tied = map[string]string{
		pool.UID(): "AKS node pool blue",
		tw.AddScaleSet("flexible", region, -1, nil).UID(): "no capacity of its own",
	}
	return g
}

func clusterGroup(tw *azuretwin.Cloud) cloudtest.Group {
	g := plainGroup("azure-aks", func(n int) string { return tw.AddCluster(fmt.Sprint("c-", n), region, nil).UID() })
	auto := tw.AddCluster("auto", region, func(r *azuretwin.Resource) {
		r.Properties()["nodeProvisioningProfile"] = map[string]any{"mode": "Auto"}
	})
	old := tw.AddCluster("old", region, nil)
	pool := tw.AddPool(old, "system", 1, 0, 0)
	pool.Properties()["mode"], pool.Properties()["type"] = "System", "AvailabilitySet"
	g.Tied = map[string]string{auto.UID(): "provisioned automatically", old.UID(): "availability set"}
	return g
}

// poolGroup has pools in the clusters of clusterGroup's region, but that one's system pool, which this one names.
func poolGroup(tw *azuretwin.Cloud) cloudtest.Group {
	cluster := tw.AddCluster("pools", "swedencentral", nil)
	g := plainGroup("azure-aks-nodepool", func(n int) string {
		return tw.AddPool(cluster, fmt.Sprint("user", n), 2+n, n, 5*n).UID()
	})
	system := tw.AddPool(cluster, "system", 1, 0, 0)
	system.Properties()["mode"] = "System"
	g.Tied, g.Region, g.Pages = map[string]string{system.UID(): "system pool"}, "swedencentral", 1
	return g
}

func containerAppGroup(tw *azuretwin.Cloud) cloudtest.Group {
	return plainGroup("azure-containerapp", func(n int) string {
		return tw.AddContainerApp(fmt.Sprint("app-", n), region, n, 10, nil).UID()
	})
}

func computeGroup(tw *azuretwin.Cloud) cloudtest.Group {
	w := tw.AddWorkspace("lab", region)
	g := plainGroup(cloud.AzureMLCompute, func(n int) string {
		return tw.AddCompute(w, fmt.Sprint("ada-", n), "ComputeInstance").UID()
	})
	g.Tied, g.Pages = map[string]string{tw.AddCompute(w, "cluster", "AmlCompute").UID(): "compute instances alone"}, 1
	tw.AddWorkspace("empty", region)
	return g
}

func instanceGroup(tw *azuretwin.Cloud) cloudtest.Group {
	g := plainGroup("azure-sql-mi", func(n int) string {
		return tw.AddManagedInstance(fmt.Sprint("mi-", n), region, "GeneralPurpose").UID()
	})
	g.Tied = map[string]string{tw.AddManagedInstance("critical", region, "BusinessCritical").UID(): "BusinessCritical"}
	return g
}

func planGroup(tw *azuretwin.Cloud) cloudtest.Group {
	return plainGroup("azure-appserviceplan", func(n int) string {
		p := tw.AddPlan(fmt.Sprint("plan-", n), region, "PremiumV3", 2)
		if n == 0 {
			tw.AddSetting(p, region, 1, 4)
		}
		return p.UID()
	})
}

func databaseGroup(tw *azuretwin.Cloud) cloudtest.Group {
	g := plainGroup("azure-sql-database", func(n int) string {
		return tw.AddDatabase(fmt.Sprint("db-", n), region, "v12.0,user,vcore", vcores(2)).UID()
	})
	tw.AddDatabase("master", region, "v12.0,system", map[string]any{"name": "System", "tier": "System", "capacity": 0})
	tw.AddDatabase("warehouse", region, "v12.0,user,datawarehouse",
		map[string]any{"name": "DataWarehouse", "tier": "DataWarehouse"})
	return g
}

func vcores(n int) map[string]any {
	return map[string]any{"name": "GP_Gen5", "tier": "GeneralPurpose", "family": "Gen5", "capacity": n}
}

// state reads one resource.
func state(t *testing.T, c cloud.Conn, kind, uid string) cloud.State {
	t.Helper()
	got, err := c.Read(context.Background(), kind, region, []string{uid})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read(%s) = %v, %v; want one state", uid, got, err)
	}
	return got[0]
}

// act does one act and gives its error.
func act(t *testing.T, c cloud.Conn, v cloud.Verb, kind string, target cloud.Target) error {
	t.Helper()
	got := c.Act(context.Background(), v, kind, region, []cloud.Target{target})
	if len(got) != 1 {
		t.Fatalf("Act(%s) = %v; want one result", target.UID, got)
	}
	return got[0].Err
}

func wantClass(t *testing.T, what string, err error, want cloud.Class) {
	t.Helper()
	if err == nil || cloud.ClassOf(err) != want {
		t.Errorf("%s: %v of class %d; want class %d", what, err, cloud.ClassOf(err), want)
	}
}
