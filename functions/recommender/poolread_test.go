package recommender

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// requestRow returns an open recommendation about the CPU requests of a workload, which needs some cores at p95.
func requestRow(workload string, cores float64) recommendation.Row {
	return recommendation.Row{
		ID: "rec-" + workload, RuleID: "kubernetes-deployment-cpu-overrequested", Status: recommendation.Open,
		Resource: recommendation.Resource{ResourceUID: workload},
		Evidence: recommendation.Evidence{Values: map[string]any{"cpu_p95_14d": cores}},
		Savings:  recommendation.Savings{Form: recommendation.FormRequests, Given: recommendation.Medium},
	}
}

// Over random clusters of several pools, the recommendations together save at most the cost of the pools, a machine is
// claimed for at most its cost, and those with pods on a pool without a price are unknown.
func TestBook_NeverSavesMoreThanAClusterCosts(t *testing.T) {
	r := seed.Random(t)
	known, unknown := 0, 0
	for range 1_000 {
		all := newNodePools()
		cost, rows := money.Amount{}, []recommendation.Row{}
		for n := range 1 + r.IntN(3) {
			name := fmt.Sprint("pool", n)
			pool, _ := randomPool(r)
			for i := range pool.nodes {
				pool.nodes[i].machine.resourceID = fmt.Sprint(name, "-", i)
				for _, g := range pool.nodes[i].groups {
					all.place(g.workload, name)
				}
			}
			all.pools[name] = pool
			_, usd := pool.totals()
			if r.IntN(4) == 0 {
				all.why[name], usd = unpriced, money.Amount{}
			}
			cost = cost.Add(usd)
		}
		for w := range 8 {
			rows = append(rows, requestRow(fmt.Sprint("w", w), r.Float64()))
		}
		gross, net, at := money.Amount{}, money.Amount{}, map[string]money.Amount{}
		for _, f := range all.book(rows) {
			s := &f.Savings
			if s.Unknown != "" {
				unknown++
				if !s.Gross.IsZero() || !s.Net.IsZero() || len(s.Claims) > 0 {
					t.Fatalf("an unknown saving has amounts: %+v", s)
				}
				continue
			}
			known++
			gross, net = gross.Add(s.Gross), net.Add(s.Net)
			for _, c := range s.Claims {
				if at[c.ResourceID] = at[c.ResourceID].Add(c.USD); at[c.ResourceID].Cmp(c.Cost) > 0 {
					t.Fatalf("%s costs %s, and %s are claimed", c.ResourceID, c.Cost, at[c.ResourceID])
				}
			}
		}
		if net.Cmp(gross) > 0 || gross.Cmp(cost) > 0 {
			t.Fatalf("gross %s, net %s of %s", gross, net, cost)
		}
	}
	if known < 1_000 || unknown < 500 {
		t.Errorf("%d savings are known and %d unknown", known, unknown)
	}
}

func TestBook_SaysWhyASavingIsUnknown(t *testing.T) {
	facts := func(change func(cloud.Facts)) *inventory.Resource {
		f := cloud.Facts{
			cloud.NodeAllocatableCores: 4.0, cloud.NodeAllocatableGiB: 16.0, cloud.NodeAllocatablePods: 110.0,
			cloud.NodeMachine: "i-1", cloud.NodeLoads: []any{"shop/Deployment/web 2 2 1 0"},
		}
		change(f)
		return &inventory.Resource{UID: "c1//nodes/n1", InstanceType: "m5.xlarge", Facts: f}
	}
	whole := func(cloud.Facts) {}
	without := func(fact string) func(cloud.Facts) { return func(f cloud.Facts) { delete(f, fact) } }
	loads := func(texts ...any) func(cloud.Facts) { return func(f cloud.Facts) { f[cloud.NodeLoads] = texts } }
	nameless := facts(whole)
	nameless.InstanceType = ""
	for name, tt := range map[string]struct {
		node *inventory.Resource
		want string
	}{
		"a machine that is not in the inventory":     {facts(whole), string(unpriced)},
		"a node of which nobody knows the machine":   {facts(without(cloud.NodeMachine)), string(unpriced)},
		"a node of which nobody knows the size":      {facts(without(cloud.NodeAllocatableGiB)), string(unreadNodes)},
		"a node of which nobody knows the pods":      {facts(without(cloud.NodeLoads)), string(unreadNodes)},
		"a load that nobody can read":                {facts(loads("web")), string(unreadNodes)},
		"a node that says neither its pool nor type": {nameless, string(noPool)},
		"a workload that has no pod on a node":       {facts(loads()), string(unplaced)},
	} {
		t.Run(name, func(t *testing.T) {
			all := newNodePools()
			all.add(tt.node, &machineCosts{machines: map[string]*machineOfNodes{}})
			got := all.book([]recommendation.Row{requestRow("c1/shop/deployments/web", 0.1)})[0]
			if got.Savings.Unknown != tt.want || got.Severity != recommendation.Info {
				t.Errorf("unknown because of %q at severity %s, want %q", got.Savings.Unknown, got.Severity, tt.want)
			}
		})
	}
}
