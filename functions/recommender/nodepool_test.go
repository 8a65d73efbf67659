package recommender

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// evenNode returns a node of 4 cores and 16 GiB that costs 100 USD a month.
func evenNode(number int, groups ...podGroup) poolNode {
	usd := money.FromInt(100)
	return poolNode{
		uid: fmt.Sprintf("node-%02d", number), zone: "a", size: room{4000, 16 << 10, 110}, groups: groups,
		machine: nodeMachine{
			resourceID: fmt.Sprintf("res_%d", number), whole: usd, cost: usd, basis: recommendation.Billed,
		},
	}
}

// pods returns pods of a workload that each request some cores, in thousandths, and 1 GiB.
func pods(workload string, n, milli int64) podGroup {
	return podGroup{workload: workload, pods: n, each: room{milli, 1 << 10, 1}}
}

// daemon is a pod of every node with some cores, in thousandths.
func daemon(milli int64) podGroup {
	return podGroup{workload: "web", pods: 1, each: room{milli, 1, 1}, stays: true}
}

// cutCores returns the recommendation that a workload requests at most some cores, in thousandths.
func cutCores(workload string, milli int64) map[string][]requestCut {
	return map[string][]requestCut{workload: {{"rec-" + workload, workload, room{milli, 1 << 40, 0}}}}
}

// saved formats what a recommendation saves as "gross net", with its claims.
func savedText(s poolSaving) string {
	out, net := "", money.Amount{}
	for _, c := range s.claims {
		net, out = net.Add(c.USD), out+" "+c.ResourceID+"="+c.USD.Fixed(2)
	}
	return s.gross.Fixed(2) + " " + net.Fixed(2) + out
}

func TestNodePool_SavesTheNodesThatCanBeRemoved(t *testing.T) {
	for name, tt := range map[string]struct {
		nodes []poolNode
		cut   int64
		want  string
	}{
		"half of four full nodes": {
			[]poolNode{
				evenNode(1, pods("web", 2, 2000)), evenNode(2, pods("web", 2, 2000)),
				evenNode(3, pods("web", 2, 2000)), evenNode(4, pods("web", 2, 2000)),
			}, 1000, "200.00 200.00 res_1=100.00 res_2=100.00",
		},
		"less than a node removes none, and its worth is shown": {
			[]poolNode{evenNode(1, pods("web", 2, 2000)), evenNode(2, pods("web", 2, 2000))}, 1500, "50.00 0.00",
		},
		"one and a half nodes remove one": {
			[]poolNode{
				evenNode(1, pods("web", 4, 1000)), evenNode(2, pods("web", 4, 1000)), evenNode(3, pods("web", 4, 1000)),
			}, 500, "150.00 100.00 res_1=100.00",
		},
		"a node that goes without the recommendation is no saving of it": {
			[]poolNode{
				evenNode(1, pods("web", 2, 1000)), evenNode(2, pods("web", 2, 1000)), evenNode(3, pods("web", 4, 1000)),
			}, 900, "20.00 0.00",
		},
		"a node that must stay": {
			[]poolNode{
				{
					uid: "node-01", size: room{4000, 16 << 10, 110}, kept: true,
					groups:  []podGroup{pods("web", 2, 2000)},
					machine: nodeMachine{cost: money.FromInt(100)},
				},
				evenNode(2, pods("web", 2, 2000)),
			}, 1000, "100.00 100.00 res_2=100.00",
		},
		"pods that no controller starts again": {
			[]poolNode{
				evenNode(1, podGroup{workload: "web", pods: 2, each: room{2000, 1, 1}, alone: true}),
				evenNode(2, podGroup{workload: "web", pods: 2, each: room{2000, 1, 1}, alone: true}),
			}, 500, "150.00 0.00",
		},
		"pods of a daemon set go with their node": {
			[]poolNode{
				evenNode(1, daemon(3000), pods("x", 1, 1000)),
				evenNode(2, daemon(3000), pods("x", 1, 1000)),
			}, 1000, "100.00 100.00 res_1=100.00",
		},
		"pods whose volumes are in another zone": {
			[]poolNode{
				{
					uid: "node-01", zone: "b", size: room{4000, 16 << 10, 110},
					machine: nodeMachine{cost: money.FromInt(100)},
					groups:  []podGroup{{workload: "web", pods: 1, each: room{4000, 1, 1}, zonal: true}},
				},
				evenNode(2, podGroup{workload: "web", pods: 1, each: room{4000, 1, 1}, zonal: true}),
			}, 1000, "150.00 0.00",
		},
		"the last node stays": {[]poolNode{evenNode(1, pods("web", 4, 1000))}, 1, "99.90 0.00"},
		"a workload on no node": {
			[]poolNode{evenNode(1, pods("api", 4, 1000)), evenNode(2, pods("api", 4, 1000))}, 1, "0.00 0.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &nodePool{nodes: tt.nodes}
			if got := savedText(p.savings(cutCores("web", tt.cut))["rec-web"]); got != tt.want {
				t.Errorf("saves %s, want %s", got, tt.want)
			}
		})
	}
}

func TestNodePool_ChargesThatCommitmentsContinueAreNoSaving(t *testing.T) {
	p := &nodePool{nodes: []poolNode{evenNode(1, pods("web", 2, 2000)), evenNode(2, pods("web", 2, 2000))}}
	p.nodes[0].machine.committed = money.FromInt(60)
	got := savedText(p.savings(cutCores("web", 1000))["rec-web"])
	if want := "100.00 40.00 res_1=40.00"; got != want {
		t.Errorf("saves %s, want %s", got, want)
	}
}

func TestNodePool_RecommendationsShareTheNodesThatTheyRemoveTogether(t *testing.T) {
	p := &nodePool{nodes: []poolNode{
		evenNode(1, pods("web", 2, 1000), pods("api", 2, 1000)),
		evenNode(2, pods("web", 2, 1000), pods("api", 2, 1000)),
	}}
	cuts := cutCores("web", 500)
	if alone := savedText(p.savings(cuts)["rec-web"]); alone != "50.00 0.00" {
		t.Errorf("alone it saves %s", alone)
	}
	cuts["api"] = cutCores("api", 500)["api"]
	all := p.savings(cuts)
	for _, id := range []string{"rec-api", "rec-web"} {
		if got, want := savedText(all[id]), "50.00 50.00 res_1=50.00"; got != want {
			t.Errorf("%s saves %s, want %s", id, got, want)
		}
	}
}

func TestNodePool_FreedRequestsBeyondTheRemovedNodesAreSharedToo(t *testing.T) {
	p := &nodePool{}
	for n := range 3 {
		p.nodes = append(p.nodes, evenNode(n, pods("web", 2, 1000), pods("api", 2, 1000)))
	}
	cuts := cutCores("web", 500)
	cuts["api"] = cutCores("api", 500)["api"]
	all := p.savings(cuts)
	for _, id := range []string{"rec-api", "rec-web"} {
		if got, want := savedText(all[id]), "75.00 50.00 res_0=50.00"; got != want {
			t.Errorf("%s saves %s, want %s", id, got, want)
		}
	}
}

// randomPool returns a pool whose nodes hold their pods, and recommendations for some of its workloads.
func randomPool(r *rand.Rand) (*nodePool, map[string][]requestCut) {
	p, cuts := &nodePool{}, map[string][]requestCut{}
	each := map[string]room{}
	for w := range 2 + r.IntN(6) {
		name := fmt.Sprint("w", w)
		each[name] = room{1 + r.Int64N(2000), 1 + r.Int64N(8<<10), 1}
		if r.IntN(4) > 0 {
			cuts[name] = append(cuts[name], requestCut{"cpu-" + name, name, room{1 + r.Int64N(2000), 1 << 40, 0}})
		}
		if r.IntN(3) == 0 {
			cuts[name] = append(cuts[name], requestCut{"mem-" + name, name, room{1 << 40, 1 + r.Int64N(4<<10), 0}})
		}
	}
	for n := range 1 + r.IntN(12) {
		p.nodes = append(p.nodes, randomNode(r, n, each))
	}
	return p, cuts
}

func randomNode(r *rand.Rand, number int, each map[string]room) poolNode {
	n := evenNode(number)
	n.size = room{1000 + r.Int64N(8000), 4<<10 + r.Int64N(32<<10), 10 + r.Int64N(100)}
	n.zone = []string{"a", "b"}[r.IntN(2)]
	n.kept, n.cordoned = r.IntN(10) == 0, r.IntN(10) == 0
	usd := money.FromScaled(r.Int64N(100_000), 3)
	n.machine.cost, n.machine.whole = usd, usd
	n.machine.committed = usd.MulDiv(money.FromInt(r.Int64N(4)), money.FromInt(3))
	for w := range len(each) {
		g := podGroup{workload: fmt.Sprint("w", w), each: each[fmt.Sprint("w", w)]}
		g.stays, g.zonal, g.alone = w == 0, w == 1, r.IntN(20) == 0
		if g.pods = g.fitting(n.free(), r.Int64N(6)); g.pods > 0 {
			n.groups = append(n.groups, g)
		}
	}
	return n
}

// countPods returns the pods of each workload on nodes, without those that belong to their node.
func countPods(nodes []poolNode) map[string]int64 {
	out := map[string]int64{}
	for i := range nodes {
		for _, g := range nodes[i].groups {
			if !g.stays {
				out[g.workload] += g.pods
			}
		}
	}
	return out
}

// checkFit is the bin check: on the nodes that are left are all pods, with the lowered requests, and they fit.
func checkFit(t *testing.T, p *nodePool, left []poolNode, cuts map[string][]requestCut) {
	t.Helper()
	want, got := countPods(p.nodes), countPods(left)
	for workload, n := range want {
		if got[workload] != n {
			t.Fatalf("%d of %d pods of %s are left: %+v", got[workload], n, workload, p)
		}
	}
	for i := range left {
		var milli, mib, count int64
		for _, g := range left[i].groups {
			for _, c := range cuts[g.workload] {
				if g.each.milli > c.most.milli || g.each.mib > c.most.mib {
					t.Fatalf("%s still requests %+v, and not at most %+v", g.workload, g.each, c.most)
				}
			}
			milli, mib, count = milli+g.pods*g.each.milli, mib+g.pods*g.each.mib, count+g.pods
		}
		if size := left[i].size; milli > size.milli || mib > size.mib || count > size.pods {
			t.Fatalf("%s has %d, %d and %d of %+v", left[i].uid, milli, mib, count, size)
		}
	}
}

// Over random pools, the nodes that are removed are removed once, the pods fit on the others, and the recommendations
// together save at most the uncommitted cost of the removed nodes, and never more than the pool costs.
func TestNodePool_NeverSavesMoreThanTheRemovedNodesCost(t *testing.T) {
	r := seed.Random(t)
	some := 0
	for range 5_000 {
		p, cuts := randomPool(r)
		plan := p.plan(cuts)
		checkFit(t, p, plan.left.nodes, cuts)
		_, whole := p.totals()
		most := money.Amount{}
		for _, n := range plan.removed {
			if n.kept || slices.ContainsFunc(plan.left.nodes, func(o poolNode) bool { return o.uid == n.uid }) {
				t.Fatalf("%s is removed and stays", n.uid)
			}
			most = most.Add(n.machine.cost.Sub(n.machine.committed))
		}
		gross, net := money.Amount{}, money.Amount{}
		at := map[string]money.Amount{}
		for _, s := range p.savings(cuts) {
			gross = gross.Add(s.gross)
			for _, c := range s.claims {
				net, at[c.ResourceID] = net.Add(c.USD), at[c.ResourceID].Add(c.USD)
				if at[c.ResourceID].Cmp(c.Cost) > 0 {
					t.Fatalf("%s costs %s, and %s are claimed", c.ResourceID, c.Cost, at[c.ResourceID])
				}
			}
		}
		if net.Cmp(most) > 0 || gross.Cmp(whole) > 0 || net.Cmp(gross) > 0 {
			t.Fatalf("gross %s, net %s, removed %s of %s: %+v", gross, net, most, whole, p)
		}
		if net.Sign() > 0 {
			some++
		}
	}
	if some < 500 {
		t.Errorf("only %d of 5000 pools save something", some)
	}
	t.Logf("%d of 5000 pools save something", some)
}

// The largest pool that is packed: 1,000 nodes with 30 workloads each.
func BenchmarkNodePool(b *testing.B) {
	p := &nodePool{}
	cuts := map[string][]requestCut{}
	for n := range maxPoolNodes {
		node := evenNode(n)
		node.size = room{16_000, 64 << 10, 110}
		for w := range 30 {
			name := fmt.Sprint("w", (n*7+w)%3_000)
			node.groups = append(node.groups, podGroup{workload: name, pods: 2, each: room{260, 1 << 10, 1}})
			cuts[name] = []requestCut{{"rec-" + name, name, room{130, 1 << 40, 0}}}
		}
		p.nodes = append(p.nodes, node)
	}
	for b.Loop() {
		p.savings(cuts)
	}
}
