package allocations

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

const (
	ours    = apitest.Org
	cluster = "arn:aws:eks:eu-west-1:123456789012:cluster/shop"
	kube    = "0f1e2d3c" // uid of kube-system
)

// fixture is a cluster of three nodes, which have existed for 30 days. The bill gives the cost of the first and the
// price list that of the second; the third has no known machine. The pods of a fourth node cannot be listed.
type fixture struct{ *apitest.Fixture }

func newFixture(t testing.TB) *fixture {
	t.Helper()
	f := &fixture{apitest.New(t, Operations)}
	born := f.Clock.Now().AddDate(0, 0, -30)
	node := func(name, machine string, loads []string) cloud.Resource {
		facts := cloud.Facts{cloud.NodeCores: 4.0, cloud.NodeGiB: 16.0, cloud.NodeGPUs: 0.0, cloud.NodeMachine: machine}
		if loads != nil {
			facts[cloud.NodeLoads] = loads
		}
		return cloud.Resource{
			UID: kube + "//nodes/" + name, Name: name, Status: cloud.Running, ParentUID: cluster,
			CreatedAt: born, Facts: facts,
		}
	}
	machine := func(uid string) cloud.Resource { return cloud.Resource{UID: uid, Name: uid, Status: cloud.Running} }
	inventorytest.Discover(f.Fixture, ours, "aws-eks",
		cloud.Resource{UID: cluster, Name: "shop", Status: cloud.Running})
	inventorytest.Discover(f.Fixture, ours, "aws-ec2", machine("i-1"), machine("i-2"), machine("i-4"))
	inventorytest.Discover(f.Fixture, ours, "kubernetes-deployment", cloud.Resource{
		UID: kube + "/shop/deployments/web", Name: "web", Status: cloud.Running,
		CreatedAt: f.Clock.Now().Add(-12 * time.Hour), Capacity: map[string]int64{},
	})
	inventorytest.Discover(f.Fixture, ours, cloud.KubernetesNode,
		node("n1", "i-1",
			[]string{
				"shop/Deployment/old 2 2 8 0", "shop/StatefulSet/db 1 1 4 0",
				"kube-system/DaemonSet/proxy 1 0.5 1 0",
			}),
		node("n2", "i-2", []string{"shop/Deployment/web 1 2 8 0", "batch/Job/run 1 4 0 0"}),
		node("n3", "i-gone", []string{"shop/Deployment/old 1 1 1 0"}), node("n4", "i-4", nil))
	f.Must(pricing.WriteCosts(f.In(ours), f.Platform, ours,
		[]pricing.KnownCost{{UID: "i-2", Rate: pricing.HourlyRate{Running: money.MustParse("0.1"), Version: "v"}}}))
	f.bill("i-1", "0.96")
	f.bill("i-4", "0.335")
	return f
}

// bill imports the billed cost of a machine for each day of March so far. The effective cost is three quarters of it.
func (f *fixture) bill(uid, amount string) {
	f.Helper()
	month := cost.MonthOf(f.Clock.Now())
	b, err := cost.New(f.Platform).Begin(f.In(ours), cost.Import{
		Org: ours, AccountID: "ca_" + uid, Provider: "aws", Month: month, Fingerprint: uid, DeliveredAt: f.Clock.Now(),
		Source: "data_export", Export: "daily",
	})
	f.Must(err)
	a := money.MustParse(amount)
	for d := range 9 {
		at := month.Start().AddDate(0, 0, d)
		f.Must(b.Add(&bill.Charge{
			BillingPeriodStart: month.Start(), ChargePeriodStart: at, ChargeCategory: bill.Usage,
			ServiceName: "Amazon EC2", ResourceID: uid, PricingCategory: bill.Standard,
			BillingCurrency: cost.USD, BilledCost: a, EffectiveCost: a.MulDiv(money.FromInt(3), money.FromInt(4)),
			ListCost: a,
		}))
	}
	_, err = b.Commit(f.In(ours))
	f.Must(err)
}

func (f *fixture) get(query string) apitest.Answer {
	f.Helper()
	return f.Call(apitest.Caller(ours, "ada", "viewer"), "GET /reports/kubernetes/allocation"+query)
}

// lines formats items and idle parts in short form.
func lines(a Allocation) map[string]string {
	out := map[string]string{}
	for _, i := range a.Items {
		out[i.Namespace+i.Workload+i.Node] = i.CostUSD
	}
	for _, i := range a.Idle {
		out["idle"+i.Node] = i.CostUSD
	}
	return out
}

// TestAllocation_IsByTheFormulaOfOpenCost computes the split by hand. A core weighs 0.031611 and a GiB 0.004237. On a
// node with 4 cores and 16 GiB, the cores are 0.126444 of 0.194236 (65.1 %) and the memory 34.9 %.
func TestAllocation_IsByTheFormulaOfOpenCost(t *testing.T) {
	f := newFixture(t)
	got := apitest.Data[Allocation](f.get("?aggregate=workload&cost=billed").Want(http.StatusOK))
	// n1 was billed 9 × 0.96 = 8.64: 5.6245 for cores, 3.0155 for memory. old takes half of both; db a quarter; proxy
	// 1/8 and 1/16. n2 is estimated: 225.51 hours × 0.1 = 22.55: 14.6802 and 7.8707. For 12 of these hours web takes
	// half of both; run takes all cores all the time. Together 24 + 902.03 core hours are used of 902.03, so the
	// containers share them. web takes 96 of 3608.14 GiB hours. 8.64 - 7.37 + 7.66 is idle.
	want := map[string]string{
		"shopDeployment/old": "4.32", "shopStatefulSet/db": "2.16", "kube-systemDaemonSet/proxy": "0.89",
		"shopDeployment/web": "0.59", "batchJob/run": "14.30", "idle": "8.93",
	}
	if fmt.Sprint(lines(got)) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", lines(got), want)
	}
	for what, values := range map[string][2]string{
		"total": {got.TotalUSD, "34.21"}, "allocated": {got.AllocatedUSD, "22.26"}, "idle": {got.IdleUSD, "8.93"},
		"unallocated": {got.UnallocatedUSD, "3.02"},
		"source":      {got.CostSource, "estimated"}, "unpriced": {fmt.Sprint(got.Unpriced), "[n3]"},
		"nodes":   {strconv.Itoa(got.Nodes), "3"},
		"cluster": {got.Items[0].ClusterName, "shop"}, "id": {got.Items[0].ClusterID, cluster},
		"aggregate": {got.Aggregate, "workload"},
	} {
		f.Equal(what, values[0], values[1])
	}
	if got.ObservedAt == nil || got.ObservedAt.After(f.Clock.Now()) {
		t.Errorf("observed at %v", got.ObservedAt)
	}
}

// TestAllocation_AddsUpHoweverItIsAsked checks that parts add up to items, and items and idle costs to the total, for
// each aggregate and each kind of cost.
func TestAllocation_AddsUpHoweverItIsAsked(t *testing.T) {
	f := newFixture(t)
	for _, metric := range []string{"billed", "effective", "list"} {
		total := ""
		for _, by := range []string{"namespace", "workload", "node"} {
			got := apitest.Data[Allocation](f.get("?limit=100&cost=" + metric + "&aggregate=" + by).Want(http.StatusOK))
			sum := money.MustParse(got.UnallocatedUSD)
			add := func(p Parts) {
				whole := money.MustParse(p.CostUSD)
				if money.Sum(money.MustParse(p.CPUUSD), money.MustParse(p.MemoryUSD),
					money.MustParse(p.GPUUSD)) != whole {
					t.Errorf("by %s, %s: %+v", by, metric, p)
				}
				sum = sum.Add(whole)
			}
			for _, i := range got.Items {
				add(i.Parts)
			}
			for _, i := range got.Idle {
				add(i.Parts)
			}
			if total == "" {
				total = got.TotalUSD
			}
			if sum.Fixed(2) != got.TotalUSD || got.TotalUSD != total {
				t.Errorf("by %s, %s: the parts add up to %s of %s; before it was %s", by, metric, sum.Fixed(2),
					got.TotalUSD, total)
			}
		}
	}
}

func TestAllocation_OfOneClusterOrOfSomeDays(t *testing.T) {
	f := newFixture(t)
	f.get("?clusterID="+cluster).Want(http.StatusOK, `"nodes":3`)
	f.get("?clusterID=another").Want(http.StatusOK, `"nodes":0`, `"totalUSD":"0.00"`, `"items":[]`, `"idle":[]`,
		`"observedAt":null`, `"costSource":"actual"`)
	// 0.96 + 2.40 + 0.335
	f.get("?from=2026-03-02&to=2026-03-03&cost=billed&aggregate=node").Want(http.StatusOK, `"from":"2026-03-02"`,
		`"totalUSD":"3.70"`)
	// before the nodes existed
	f.get("?from=2026-01-01&to=2026-01-03").Want(http.StatusOK, `"totalUSD":"0.00"`)
	f.get("?aggregate=workload&limit=2&page=3").Want(http.StatusOK, `"total":5`, `"page":3`)
	for query, word := range map[string]string{
		"?aggregate=pod": "aggregate", "?period=2026-13": "period", "?period=2026-03&from=2026-03-01": "period",
		"?from=2020-01-01": "from", "?cost=free": "cost",
		"?from=2026-03-05&to=2026-03-01": "from", "?limit=-1": "limit",
	} {
		f.get(query).Want(http.StatusBadRequest, word)
	}
	nothing := f.Call(apitest.Caller(ours, "bob", "viewer team:team_x"), "GET /reports/kubernetes/allocation")
	nothing.Want(http.StatusOK, `"totalUSD":"0.00"`, `"nodes":0`, `"items":[]`, `"idle":[]`, `"unpriced":[]`)
	f.Call(apitest.Caller(apitest.OtherOrg, "eve", "viewer"), "GET /reports/kubernetes/allocation").Want(http.StatusOK,
		`"nodes":0`)
}

// TestAllocation_SharesAMachineOfSeveralNodes: a scale set is billed as one machine.
func TestAllocation_SharesAMachineOfSeveralNodes(t *testing.T) {
	f := &fixture{apitest.New(t, Operations)}
	var nodes []cloud.Resource
	for i := range 3 {
		nodes = append(nodes, cloud.Resource{
			UID: fmt.Sprintf("%s//nodes/n%d", kube, i), Name: fmt.Sprint("n", i), Status: cloud.Running,
			CreatedAt: f.Clock.Now().AddDate(0, 0, -30),
			Facts: cloud.Facts{
				cloud.NodeCores: 1.0, cloud.NodeGiB: 1.0, cloud.NodeMachine: "set",
				cloud.NodeLoads: []string{},
			},
		})
	}
	inventorytest.Discover(f.Fixture, ours, cloud.KubernetesNode, nodes...)
	f.bill("set", "1")
	got := apitest.Data[Allocation](f.get("?aggregate=node&cost=billed").Want(http.StatusOK))
	if want := map[string]string{
		"idlen0": "3.00", "idlen1": "3.00",
		"idlen2": "3.00",
	}; fmt.Sprint(lines(got)) != fmt.Sprint(want) || got.TotalUSD != "9.00" {
		t.Errorf("got %v of %s, want %v", lines(got), got.TotalUSD, want)
	}
	f.Equal("name of a cluster of no cloud", got.Idle[0].ClusterName, "account ca_1")
	f.Equal("its id", got.Idle[0].ClusterID, kube)
}

// TestAllocation_OfAScopeIsItsWorkloadsAndItsIdleNodes: a team owns the workload web, which runs on another owner's
// node, and the node n1.
func TestAllocation_OfAScopeIsItsWorkloadsAndItsIdleNodes(t *testing.T) {
	f := newFixture(t)
	web := f.idOf(kube + "/shop/deployments/web")
	n1 := f.idOf(kube + "//nodes/n1")
	as := func(grants, query string) Allocation {
		return apitest.Data[Allocation](f.Call(apitest.Caller(ours, "bob", grants),
			"GET /reports/kubernetes/allocation?cost=billed&"+query).Want(http.StatusOK))
	}
	got := as("viewer resource:"+web, "aggregate=workload")
	f.Equal("of the workload", fmt.Sprintf("%v %s %d", lines(got), got.TotalUSD, got.Nodes),
		"map[shopDeployment/web:0.59] 0.59 0")
	f.Equal("name of the cluster", got.Items[0].ClusterName, "")
	got = as("viewer resource:"+web, "aggregate=node")
	f.Equal("of its node", fmt.Sprint(lines(got)), "map[:0.59]")

	team := inventorytest.Team(f.Fixture, ours, "Shop", web, n1)
	got = as("viewer team:"+team, "aggregate=workload")
	f.Equal("of the workload and the node",
		fmt.Sprintf("%v %s %s %s %d", lines(got), got.TotalUSD, got.AllocatedUSD, got.IdleUSD, got.Nodes),
		"map[idle:1.27 shopDeployment/web:0.59] 1.86 0.59 1.27 1")
	f.Equal("unpriced", fmt.Sprint(got.Unpriced), "[]")
}

// idOf returns our id of a resource.
func (f *fixture) idOf(uid string) string {
	f.Helper()
	found, err := inventory.New(f.Platform).ByUIDs(f.In(ours), ours, []string{uid}, inventory.SeeEverything())
	f.Must(err)
	return found[0].ID
}
