// Package allocations is the part of the operation group Reports & Analytics that splits the cost of Kubernetes nodes
// over their workloads. Its figures are a view of costs that other reports include already; they are never added to
// those.
package allocations

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"lamplighter.dev/functions/allocations/allocation"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// policy is required to read the costs of clusters.
const policy = "reports:read"

type service struct {
	p         *platform.Platform
	inventory *inventory.Store
	costs     *cost.Store
}

// Operations returns the operations of this part of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Reports & Analytics")
	s := &service{p, inventory.New(p), cost.New(p)}
	rest.Handle(g, rest.Op{
		ID: "listKubernetesAllocation", Method: http.MethodGet, Path: "/reports/kubernetes/allocation", Policy: policy,
		Scoped: true, Statuses: []int{http.StatusBadRequest},
		Summary: "Split the costs of Kubernetes clusters",
		Description: "Follows the formula of the OpenCost specification: each workload is charged for its share of " +
			"its nodes. The share that no workload takes is reported as idle. items (on all pages) and idle add up " +
			"to totalUSD, the cost of the nodes, to the cent. The cost of a node is the billed cost of its " +
			"machine, or else its estimate at public prices. The share of a workload follows the requests of its " +
			"pods, as seen by the last discovery (observedAt), on the nodes where discovery saw them, for as long " +
			"as workload and node existed in these days. Use is not measured. Nodes that have been gone for more " +
			"than seven days are not included. Nodes without a known cost are listed in unpriced and are in no " +
			"sum. The current month unless other days are requested: days are in UTC, at most 800, and to is " +
			"exclusive. cost is effective by default. These costs are already part of the bill of the cloud: do " +
			"not add them to the costs of other reports. A grant on teams or resources shows the workloads and " +
			"namespaces of its scope, the idle cost of the nodes of its scope, and totals of these alone; names of " +
			"other nodes and clusters are empty.",
	}, s.list)
	return g
}

// Asked holds the parameters of a split. It is exported so that the framework sees its fields where it is embedded.
type Asked struct {
	ClusterID string `query:"clusterID" maxLength:"512" doc:"Only this cluster, by its id in items; else all of them"`
	Aggregate string `query:"aggregate" enum:"namespace,workload,node" default:"namespace" doc:"The unit of one item"`
	Cost      string `query:"cost" enum:"billed,effective,list" doc:"Which cost counts"`
	Period    string `query:"period" maxLength:"7" doc:"A month; or give from and to" example:"2026-03"`
	rest.Window
}

type listInput struct {
	Asked
	rest.Page
}

// Parts are an amount and its parts for cores, memory and accelerators, which add up to it.
type Parts struct {
	CPUUSD    string `json:"cpuUSD" example:"8.10"`
	MemoryUSD string `json:"memoryUSD" example:"4.20"`
	GPUUSD    string `json:"gpuUSD" example:"0.00"`
	CostUSD   string `json:"costUSD" example:"12.30"`
}

// Place identifies a cluster and, for items by node, a node in it.
type Place struct {
	ClusterID   string `json:"clusterID" doc:"The native id of the cluster"`
	ClusterName string `json:"clusterName"`
	Node        string `json:"node" doc:"Its name; empty unless items are nodes"`
}

// Item is the cost that is allocated to a namespace, to a workload, or to all workloads of a node.
type Item struct {
	Place
	Namespace string `json:"namespace" doc:"Empty where items are nodes" example:"shop"`
	Workload  string `json:"workload" doc:"Its kind and name; empty unless items are workloads" example:"Deployment/web"`
	Parts
}

// Idle is the unallocated capacity of a cluster, or of a node if items are nodes.
type Idle struct {
	Place
	Parts
}

// Allocation is the cost of clusters and its split over items.
type Allocation struct {
	Cost           string     `json:"cost" enum:"billed,effective,list"`
	From           string     `json:"from" doc:"The first day" example:"2026-03-01"`
	To             string     `json:"to" doc:"The day behind the last" example:"2026-04-01"`
	Aggregate      string     `json:"aggregate" enum:"namespace,workload,node"`
	TotalUSD       string     `json:"totalUSD" doc:"The cost of the nodes: allocatedUSD, idleUSD and unallocatedUSD"`
	AllocatedUSD   string     `json:"allocatedUSD" doc:"The sum of the items on all pages"`
	IdleUSD        string     `json:"idleUSD" doc:"The sum of idle"`
	UnallocatedUSD string     `json:"unallocatedUSD" doc:"The cost of the nodes whose pods could not be listed"`
	CostSource     string     `json:"costSource" enum:"estimated,actual" doc:"actual where all of it was billed"`
	ObservedAt     *time.Time `json:"observedAt" doc:"When the nodes were last looked at, the earliest of them; null without any"`
	Nodes          int        `json:"nodes" doc:"How many nodes are in the sums"`
	Unpriced       []string   `json:"unpriced" doc:"Names of nodes without a known cost, at most 100"`
	Idle           []Idle     `json:"idle"`
	Items          []Item     `json:"items"`
	Total          int        `json:"total" doc:"How many items there are on all pages"`
	Page           int        `json:"page"`
	Limit          int        `json:"limit"`
}

func (s *service) list(ctx context.Context, in *listInput) (Allocation, error) {
	from, to, err := in.days(s.p.Clock.Now())
	if err != nil {
		return Allocation{}, err
	}
	c, err := s.readClusters(ctx, in.ClusterID)
	if err != nil {
		return Allocation{}, err
	}
	if c.visible, err = s.visibleResources(ctx); err != nil {
		return Allocation{}, err
	}
	q := cost.Question{From: from, To: to, Metric: cmp.Or(cost.Metric(in.Cost), cost.Effective)}
	if err = s.price(ctx, c, q); err != nil {
		return Allocation{}, err
	}
	nodes, containers := c.loads(from, clock.Earliest(to, s.p.Clock.Now()))
	parts, err := allocation.Split(nodes, containers, allocation.DefaultRates())
	if err != nil {
		return Allocation{}, err
	}
	return newAllocation(in, &q, c, c.keepVisible(parts))
}

const day = 24 * time.Hour

// days returns the requested days, all whole: the present month so far by default. A time within a day includes the
// whole day.
func (in *Asked) days(now time.Time) (from, to time.Time, err error) {
	if in.Period != "" {
		m, err := cost.ParseMonth(in.Period)
		if err != nil || !in.Open() {
			return from, to,
				fault.New(fault.Invalid, "period: %.32q; give a month such as 2026-03, or from and to instead of it",
					in.Period)
		}
		return m.Start(), m.End(), nil
	}
	to = midnight(now).Add(day)
	if !in.To.IsZero() {
		to = midnight(in.To.Add(day - 1))
	}
	from = cost.MonthOf(to.Add(-day)).Start()
	if !in.From.IsZero() {
		from = midnight(in.From.Time)
	}
	if !from.Before(to) {
		to = from.Add(day)
	}
	if n := int(to.Sub(from) / day); n > cost.MaxDays {
		return from, to, fault.New(
			fault.Invalid, "from: it is %d days before to; a report has at most %d", n, cost.MaxDays)
	}
	return from, to, nil
}

// midnight returns the beginning of the day of t in UTC.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }
