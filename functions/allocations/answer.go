package allocations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"lamplighter.dev/functions/allocations/allocation"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/foundation/money"
)

// The aggregates of an item other than the namespace.
const (
	byNode     = "node"
	byWorkload = "workload"
)

// maxUnpriced is the most nodes without a known cost that an answer names.
const maxUnpriced = 100

// sum is the cost of a place, by resource: cores, memory and accelerators.
type sum struct {
	place
	by [3]money.Amount
}

// place identifies the cluster, node, namespace or workload that a cost is allocated to.
type place struct{ cluster, node, namespace, workload string }

// resources are the resources of a sum, in its order.
var resources = [3]allocation.Resource{allocation.CPU, allocation.Memory, allocation.GPU}

// newAllocation groups parts as requested and rounds all of them together. The rounded parts add up to the cost of the
// nodes.
func newAllocation(in *listInput, q *cost.Question, c *clusters, parts []allocation.Part) (Allocation, error) {
	items, idle := c.group(parts, in.Aggregate)
	exact := make([]money.Amount, 0, len(items)+len(idle))
	for _, one := range slices.Concat(items, idle) {
		exact = append(exact, money.Sum(one.by[:]...))
	}
	total, unallocated := c.sumOf(parts)
	exact = append(exact, unallocated)
	if money.Sum(exact...) != total {
		return Allocation{},
			fmt.Errorf("the parts of clusters add up to %s, not to the %s that their nodes cost", money.Sum(exact...),
				total)
	}
	shown := money.RoundParts(exact, 2)
	last := len(shown) - 1
	out := Allocation{
		Cost: string(q.Metric), From: q.From.Format(time.DateOnly), To: q.To.Format(time.DateOnly),
		Aggregate: in.Aggregate,
		TotalUSD:  money.Sum(shown...).Fixed(2), AllocatedUSD: money.Sum(shown[:len(items)]...).Fixed(2),
		IdleUSD:        money.Sum(shown[len(items):last]...).Fixed(2),
		UnallocatedUSD: shown[last].Fixed(2),
		CostSource:     c.source(), Unpriced: []string{}, Idle: []Idle{}, Items: []Item{}, Page: in.Page.Page,
		Limit: in.Limit,
	}
	all := make([]Item, len(items))
	for i := range items {
		one := &items[i]
		all[i] = Item{c.shownPlace(one.place), one.namespace, one.workload, one.parts(shown[i])}
	}
	page := rest.PageOf(all, in.Page)
	out.Items, out.Total = append(out.Items, page.Items...), page.Total
	for i := range idle {
		out.Idle = append(out.Idle, Idle{c.shownPlace(idle[i].place), idle[i].parts(shown[len(items)+i])})
	}
	c.describe(&out)
	return out, nil
}

// total returns the cost of all priced nodes, and as unallocated the cost of those whose workloads are unknown.
func (c *clusters) total() (total, unallocated money.Amount) {
	for i := range c.nodes {
		n := &c.nodes[i]
		if !n.priced {
			continue
		}
		total.Increase(&n.cost)
		if !n.seen && c.visible.HasUID(n.UID) {
			unallocated.Increase(&n.cost)
		}
	}
	return total, unallocated
}

func (c *clusters) source() string {
	if c.estimated {
		return "estimated"
	}
	return "actual"
}

// describe sets which nodes are in the sums, and when they were last seen.
func (c *clusters) describe(out *Allocation) {
	for i := range c.nodes {
		n := &c.nodes[i]
		if !c.visible.HasUID(n.UID) {
			continue
		}
		if seen := n.LastSeenAt; out.ObservedAt == nil || seen.Before(*out.ObservedAt) {
			out.ObservedAt = &seen
		}
		if n.priced {
			out.Nodes++
		} else if len(out.Unpriced) < maxUnpriced {
			out.Unpriced = append(out.Unpriced, n.Name)
		}
	}
}

func (c *clusters) shownPlace(at place) Place {
	return Place{at.cluster, c.visibleName(at.cluster, c.names[at.cluster]), at.node}
}

// group adds parts up by the aggregate of an item. Items and idle parts are ordered by falling cost.
func (c *clusters) group(parts []allocation.Part, aggregate string) (items, idle []sum) {
	of := c.nodesByUID()
	taken, free := map[place]*sum{}, map[place]*sum{}
	for i := range parts {
		p := &parts[i]
		at := place{cluster: of[p.Node].cluster}
		switch aggregate {
		case byNode:
			at.node = c.visibleName(p.Node, of[p.Node].Name)
		case byWorkload:
			at.namespace, at.workload = p.Namespace, p.Workload
		default:
			at.namespace = p.Namespace
		}
		into := taken
		if p.Idle {
			into, at.namespace, at.workload = free, "", ""
		}
		if into[at] == nil {
			into[at] = &sum{place: at}
		}
		into[at].add(p)
	}
	return ordered(taken), ordered(free)
}

func (s *sum) add(p *allocation.Part) {
	for i, r := range resources {
		a := p.By[r]
		s.by[i].Increase(&a)
	}
}

func ordered(sums map[place]*sum) []sum {
	var out []sum
	for _, s := range slices.Collect(maps.Values(sums)) {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b sum) int {
		return cmp.Or(money.Sum(b.by[:]...).Cmp(money.Sum(a.by[:]...)), cmp.Compare(a.cluster, b.cluster),
			cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.workload, b.workload), cmp.Compare(a.node, b.node))
	})
	return out
}

// parts rounds a sum to parts that add up to cents.
func (s *sum) parts(cents money.Amount) Parts {
	by := money.RoundPartsTo(s.by[:], cents, 2)
	return Parts{by[0].Fixed(2), by[1].Fixed(2), by[2].Fixed(2), cents.Fixed(2)}
}
