package recommender

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/money"
)

// room is an amount of what pods request of a node: cores in thousandths, memory in MiB, and the number of pods.
type room struct{ milli, mib, pods int64 }

func (r room) plus(o room) room   { return room{r.milli + o.milli, r.mib + o.mib, r.pods + o.pods} }
func (r room) times(n int64) room { return room{r.milli * n, r.mib * n, r.pods * n} }
func (r room) minus(o room) room  { return r.plus(o.times(-1)) }
func (r room) atMost(most room) room {
	return room{min(r.milli, most.milli), min(r.mib, most.mib), r.pods}
}

// podGroup is the pods of a workload on a node. All of them request the same.
type podGroup struct {
	workload string // native id
	pods     int64
	each     room
	stays    bool // the pods belong to the node: of a DaemonSet, or of the kubelet
	zonal    bool // the pods stay in the zone of the node, where their volumes are
	alone    bool // no controller starts the pods on another node
}

func (g *podGroup) sum() room { return g.each.times(g.pods) }

// poolNode is a node of a pool.
type poolNode struct {
	uid      string
	zone     string
	size     room // what pods may request
	groups   []podGroup
	kept     bool // it must not be removed
	cordoned bool // it takes no pods
	machine  nodeMachine
	left     room // what pods may still request, while nodes are removed
}

// nodeMachine is the resource whose charges end when a node is removed: a machine, or a set of machines of which the
// node is one. Amounts are of a month.
type nodeMachine struct {
	resourceID string
	whole      money.Amount // what the resource costs
	cost       money.Amount // what this node costs of it
	committed  money.Amount // the part of cost that commitments continue
	basis      string
	version    string
}

// free returns what pods may still request of a node.
func (n *poolNode) free() room {
	out := n.size
	for i := range n.groups {
		out = out.minus(n.groups[i].sum())
	}
	return out
}

// nodePool is the nodes of a cluster between which pods can move.
type nodePool struct{ nodes []poolNode }

// clone returns a copy whose groups can be changed.
func (p *nodePool) clone() *nodePool {
	out := &nodePool{nodes: slices.Clone(p.nodes)}
	for i := range out.nodes {
		out.nodes[i].groups = slices.Clone(out.nodes[i].groups)
	}
	return out
}

// removeNodes removes the nodes whose pods fit on the others, the least loaded first, and returns them. One node stays.
func (p *nodePool) removeNodes() (removed []poolNode) {
	for i := range p.nodes {
		p.nodes[i].left = p.nodes[i].free()
	}
	order := make([]string, len(p.nodes))
	for i, n := range p.byLoad() {
		order[i] = n.uid
	}
	for _, uid := range order {
		i := slices.IndexFunc(p.nodes, func(n poolNode) bool { return n.uid == uid })
		if len(p.nodes) > 1 && p.move(i) {
			removed = append(removed, p.nodes[i])
			p.nodes = slices.Delete(p.nodes, i, i+1)
		}
	}
	return removed
}

// byLoad returns copies of the nodes, those with the least requests that must move first.
func (p *nodePool) byLoad() []poolNode {
	load := func(n *poolNode) (share float64) {
		var sum room
		for i := range n.groups {
			if g := &n.groups[i]; !g.stays {
				sum = sum.plus(g.sum())
			}
		}
		return max(shareOf(sum.milli, n.size.milli), shareOf(sum.mib, n.size.mib))
	}
	out := slices.Clone(p.nodes)
	slices.SortFunc(out, func(a, b poolNode) int {
		return cmp.Or(cmp.Compare(load(&a), load(&b)), strings.Compare(a.uid, b.uid))
	})
	return out
}

func shareOf(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// move moves the pods of a node to the others. It changes nothing and returns false if they do not fit.
func (p *nodePool) move(at int) bool {
	from := &p.nodes[at]
	if from.kept || slices.ContainsFunc(from.groups, func(g podGroup) bool { return g.alone }) {
		return false
	}
	free := make([]room, len(p.nodes))
	for i := range p.nodes {
		free[i] = p.nodes[i].left
	}
	var moves []podMove
	for i := range from.groups {
		if from.groups[i].stays {
			continue
		}
		found, fits := p.placesOf(at, i, free)
		if !fits {
			return false
		}
		moves = append(moves, found...)
	}
	p.carryOut(at, moves)
	return true
}

// placesOf returns where the pods of a group of a node can move to, and takes these places from the free rooms. It
// returns false if they do not fit.
func (p *nodePool) placesOf(at, group int, free []room) (moves []podMove, fits bool) {
	from := &p.nodes[at]
	g := &from.groups[group]
	left := g.pods
	for to := 0; to < len(p.nodes) && left > 0; to++ {
		if n := &p.nodes[to]; to == at || n.cordoned || g.zonal && n.zone != from.zone {
			continue
		}
		if n := g.fitting(free[to], left); n > 0 {
			left, free[to] = left-n, free[to].minus(g.each.times(n))
			moves = append(moves, podMove{group, to, n})
		}
	}
	return moves, left <= 0
}

// podMove is pods of a group of the node that is removed, which move to another node.
type podMove struct {
	group, to int
	pods      int64
}

func (p *nodePool) carryOut(from int, moves []podMove) {
	for _, m := range moves {
		g := p.nodes[from].groups[m.group]
		g.pods = m.pods
		to := &p.nodes[m.to]
		to.groups, to.left = append(to.groups, g), to.left.minus(g.sum())
	}
}

// fitting returns how many pods of the group, at most some, fit into a room.
func (g *podGroup) fitting(into room, most int64) int64 {
	for _, one := range [][2]int64{
		{into.milli, g.each.milli}, {into.mib, g.each.mib}, {into.pods, g.each.pods},
	} {
		if one[0] < 0 {
			return 0
		}
		if one[1] > 0 {
			most = min(most, one[0]/one[1])
		}
	}
	return most
}

// requestCut is a recommendation that lowers a request of a workload: the most that a pod requests after it, of cores
// or of memory. The other one is unlimited.
type requestCut struct {
	recID    string
	workload string
	most     room
}

// apply lowers the requests of the pods of a pool, and returns what each recommendation frees on it, by id.
func (p *nodePool) apply(cuts map[string][]requestCut) map[string]room {
	out := map[string]room{}
	for i := range p.nodes {
		for j := range p.nodes[i].groups {
			g := &p.nodes[i].groups[j]
			for _, c := range cuts[g.workload] {
				less := g.each.atMost(c.most)
				out[c.recID] = out[c.recID].plus(g.each.minus(less).times(g.pods))
				g.each = less
			}
		}
	}
	return out
}

// totals returns what pods may request of all nodes, and what the nodes cost.
func (p *nodePool) totals() (size room, cost money.Amount) {
	for i := range p.nodes {
		size, cost = size.plus(p.nodes[i].size), cost.Add(p.nodes[i].machine.cost)
	}
	return size, cost
}
