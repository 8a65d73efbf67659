// Package allocation splits the cost of a cluster's nodes over their containers by the formula of the OpenCost
// specification (opencost.io/docs/specification). A container is charged the larger of its request and its usage for
// each resource of the node. The uncharged remainder is idle and is a part of its own.
package allocation

import (
	"cmp"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Resource is a resource that nodes have and containers take.
type Resource string

// The resources: cores, GiB and GPUs.
const (
	CPU    Resource = "cpu"
	Memory Resource = "memory"
	GPU    Resource = "gpu"
)

// resources are all resources, in the order of calculation.
var resources = []Resource{CPU, Memory, GPU}

// Rates are prices of one unit of each resource for one hour. Only their proportions matter: they are scaled to the
// real cost of each node.
type Rates map[Resource]money.Amount

// DefaultRates returns the rates of OpenCost: Google's on-demand prices in us-central1 for an hour of a core, a GiB
// and a GPU of an N1.
func DefaultRates() Rates {
	return Rates{CPU: money.MustParse("0.031611"), Memory: money.MustParse("0.004237"), GPU: money.MustParse("0.95")}
}

// Node is a node in a span of time: its capacity, its hours and its effective cost.
type Node struct {
	Name     string
	Capacity map[Resource]money.Amount
	Hours    money.Amount
	Cost     money.Amount
}

// Container is the request and the usage of a container on a node. Hours is its running time.
type Container struct {
	Node      string
	Namespace string
	Workload  string
	Requested map[Resource]money.Amount
	Used      map[Resource]money.Amount
	Hours     money.Amount
	Waiting   bool // its pod is in ImagePullBackOff: it is not charged
}

// Part is the part of a node's cost that falls to a workload of a namespace. An Idle part has only Node set.
type Part struct {
	Node      string
	Namespace string
	Workload  string
	Idle      bool
	By        map[Resource]money.Amount
	Cost      money.Amount
}

// Split splits the cost of nodes over their containers. The parts, including idle ones, add up to the cost of the
// nodes exactly. If containers use more of a resource than a node has, they share its whole cost. A container on an
// unknown node is fault.Invalid.
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

// split splits the cost of one node.
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
			free = money.FromInt(1) // a resource that the node lacks and no container takes
		}
		shares := share(price, append(weights, free))
		for i, c := range containers {
			c.part(parts, n.Name).add(r, shares[i])
		}
		idle.add(r, shares[len(containers)])
	}
	return append(inOrder(parts), idle)
}

// share splits an amount by weights. An entry with weight 0 gets nothing, not even a remainder of rounding.
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

// prices splits the cost of the node over its resources in proportion to the base rates. This scales the price of each
// resource to the real cost of the node.
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

// taken returns the unit hours of a resource that a container is charged for.
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
