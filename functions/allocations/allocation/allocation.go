// Package allocation splits what a node of a cluster costs over what runs on it, by the formula of the OpenCost specification
// (opencost.io/docs/specification): a container is charged what it requests or uses, whichever is more, of each resource of the node, and
// what nobody is charged is idle, which stands by itself.
package allocation

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Resource is what nodes have and containers take.
type Resource string

// The resources: cores, GiB and GPUs.
const (
	CPU    Resource = "cpu"
	Memory Resource = "memory"
	GPU    Resource = "gpu"
)

// resources are all of them, in the order in which they are counted.
var resources = []Resource{CPU, Memory, GPU}

// Rates are prices of an hour of a unit of each resource. Only their proportions count: those of a node are scaled to what it really costs.
type Rates map[Resource]money.Amount

// DefaultRates are OpenCost's: what Google charges on demand in us-central1 for a core, a GiB and a GPU of an N1 an hour.
func DefaultRates() Rates {
	return Rates{CPU: money.MustParse("0.031611"), Memory: money.MustParse("0.004237"), GPU: money.MustParse("0.95")}
}

// Node is a node in a span of time: what it has, and what it costs in it, which is its effective cost.
type Node struct {
	Name     string
	Capacity map[Resource]money.Amount
	Hours    money.Amount
	Cost     money.Amount
}

// Container is what a container takes of a node. Hours are those that it ran.
type Container struct {
	Node      string
	Namespace string
	Workload  string
	Requested map[Resource]money.Amount
	Used      map[Resource]money.Amount
	Hours     money.Amount
	Waiting   bool // its pod is in ImagePullBackOff: it is not charged
}

// Part is what falls to a workload of a namespace; of the Idle of a node, Node alone is set.
type Part struct {
	Node      string
	Namespace string
	Workload  string
	Idle      bool
	By        map[Resource]money.Amount
	Cost      money.Amount
}

// Split splits what nodes cost over the containers that ran on them. The parts, idle ones too, add up to the cost of the nodes exactly.
// Where containers take more of a resource than a node has, as they may by using more than they requested, they share what it costs. A
// container of an unknown node is fault.Invalid.
func Split(nodes []Node, containers []Container, base Rates) ([]Part, error) {
	on := map[string][]*Container{}
	for i := range containers {
		on[containers[i].Node] = append(on[containers[i].Node], &containers[i])
	}
	var out []Part
	for i := range nodes {
		out = append(out, nodes[i].split(on[nodes[i].Name], base)...)
		delete(on, nodes[i].Name)
	}
	for name := range on {
		return nil, fault.New(fault.Invalid, "containers run on node %.64q, of which no cost is known", name)
	}
	return out, nil
}

// split splits what one node costs.
func (n *Node) split(containers []*Container, base Rates) []Part {
	parts := map[[2]string]*Part{}
	idle := Part{Node: n.Name, Idle: true, By: map[Resource]money.Amount{}}
	for r, price := range n.prices(base) {
		weights := make([]money.Amount, len(containers), len(containers)+1)
		for i, c := range containers {
			weights[i] = c.taken(r)
		}
		taken, has := money.Sum(weights...), n.Capacity[r].Mul(n.Hours)
		free := money.Amount{}
		if taken.Cmp(has) < 0 {
			free = has.Sub(taken)
		}
		if taken.IsZero() && free.IsZero() {
			free = money.FromInt(1) // a resource that the node has none of and nobody takes
		}
		shares := share(price, append(weights, free))
		for i, c := range containers {
			c.part(parts, n.Name).add(r, shares[i])
		}
		idle.add(r, shares[len(containers)])
	}
	return append(inOrder(parts), idle)
}

// share splits an amount by weights, of those that have one: who has none gets nothing, not even of what rounding leaves.
func share(a money.Amount, weights []money.Amount) []money.Amount {
	var some []money.Amount
	for _, w := range weights {
		if !w.IsZero() {
			some = append(some, w)
		}
	}
	parts, out := a.SplitByWeight(some, money.Scale), make([]money.Amount, len(weights))
	for i, w := range weights {
		if !w.IsZero() {
			out[i], parts = parts[0], parts[1:]
		}
	}
	return out
}

// prices splits what the node costs over its resources, in the proportion of the base rates: so that the price of each scales to what the
// node really costs.
func (n *Node) prices(base Rates) map[Resource]money.Amount {
	weights := make([]money.Amount, len(resources))
	for i, r := range resources {
		weights[i] = base[r].Mul(n.Capacity[r])
	}
	out := make(map[Resource]money.Amount, len(resources))
	for i, part := range n.Cost.SplitByWeight(weights, money.Scale) {
		out[resources[i]] = part
	}
	return out
}

// taken returns the unit hours that a container is charged.
func (c *Container) taken(r Resource) money.Amount {
	if c.Waiting {
		return money.Amount{}
	}
	more := c.Requested[r]
	if c.Used[r].Cmp(more) > 0 {
		more = c.Used[r]
	}
	return more.Mul(c.Hours)
}

// part returns the part of the container's workload.
func (c *Container) part(parts map[[2]string]*Part, node string) *Part {
	k := [2]string{c.Namespace, c.Workload}
	if parts[k] == nil {
		parts[k] = &Part{Node: node, Namespace: c.Namespace, Workload: c.Workload, By: map[Resource]money.Amount{}}
	}
	return parts[k]
}

func (p *Part) add(r Resource, a money.Amount) {
	p.By[r] = p.By[r].Add(a)
	p.Cost.Increase(&a)
}

// inOrder returns the parts by namespace and workload.
func inOrder(parts map[[2]string]*Part) []Part {
	out := make([]Part, 0, len(parts)+1)
	for _, p := range parts {
		out = append(out, *p)
	}
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Workload, b.Workload))
	})
	return out
}
