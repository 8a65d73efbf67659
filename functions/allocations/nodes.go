package allocations

import (
	"context"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/functions/allocations/allocation"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// maxNodes is the most nodes that one answer splits.
const maxNodes = 2_000

// node is a node of a cluster and its cost.
type node struct {
	*inventory.Listed
	cluster string
	machine string
	loads   []cloud.NodeLoad
	seen    bool // its workloads are known
	cost    money.Amount
	priced  bool
}

// clusters holds the requested nodes, and the names and creation times of their clusters and workloads.
type clusters struct {
	nodes     []node
	names     map[string]string     // of clusters, by id
	born      map[string]time.Time  // when workloads were made, by uid
	visible   inventory.ResourceSet // resources whose costs the caller may see
	estimated bool                  // some of their cost is not billed
}

// readClusters reads the nodes of a cluster, or of all clusters if clusterID is empty: two round trips, and one for
// each hundred nodes.
func (s *service) readClusters(ctx context.Context, clusterID string) (*clusters, error) {
	// A workload in the caller's scope can run on a node outside it: keepVisible restricts the answer.
	all := inventory.SeeEverything()
	found, err := s.inventory.FindResources(ctx, identity.CallerOrg(ctx),
		inventory.List{
			Filter: inventory.Filter{Types: []string{cloud.KubernetesNode}, Sight: all},
			By:     inventory.ByUID,
		})
	if err != nil {
		return nil, fault.Wrap("list nodes", err)
	}
	found = slices.DeleteFunc(found, func(r inventory.Listed) bool {
		return clusterID != "" && clusterOf(&r) != clusterID
	})
	if len(found) > maxNodes {
		return nil, fault.New(fault.Invalid, "clusterID: there are %d nodes, and one answer splits at most %d; ask "+
			"for one cluster at a time", len(found), maxNodes)
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	if found, err = s.inventory.DescribeByIDs(ctx, identity.CallerOrg(ctx), ids, all); err != nil {
		return nil, fault.Wrap("read nodes", err)
	}
	c := &clusters{names: map[string]string{}, born: map[string]time.Time{}}
	for i := range found {
		if err = c.add(&found[i]); err != nil {
			return nil, err
		}
	}
	return c, s.readSurroundings(ctx, c)
}

// clusterOf returns the ID of a node's cluster: the cloud's ID of a managed cluster, else the ID of the namespace
// kube-system, which is the prefix of uids.
func clusterOf(r *inventory.Listed) string {
	if r.ParentUID != "" {
		return r.ParentUID
	}
	id, _, _ := strings.Cut(r.UID, "/")
	return id
}

func (c *clusters) add(r *inventory.Listed) error {
	n := node{Listed: r, cluster: clusterOf(r)}
	n.machine, _ = r.Facts[cloud.NodeMachine].(string)
	var list []any
	list, n.seen = r.Facts[cloud.NodeLoads].([]any)
	for _, one := range list {
		text, _ := one.(string)
		l, err := cloud.ParseNodeLoad(text)
		if err != nil {
			return fault.Wrap("read what is on node "+r.Name, err)
		}
		n.loads = append(n.loads, l)
	}
	c.nodes = append(c.nodes, n)
	return nil
}

// workloadResources maps each discovered workload kind to its name in uids.
var workloadResources = map[string]string{
	"Deployment": "deployments", "StatefulSet": "statefulsets",
	"DaemonSet": "daemonsets", "CronJob": "cronjobs",
}

// workloadUID returns the uid of a workload in a node's cluster, or "" if its kind is not discovered.
func (n *node) workloadUID(l *cloud.NodeLoad) string {
	id, _, _ := strings.Cut(n.UID, "/")
	if workloadResources[l.Kind] == "" {
		return ""
	}
	return strings.Join([]string{id, l.Namespace, workloadResources[l.Kind], l.Name}, "/")
}

// readSurroundings reads the names of clusters and the creation times of workloads.
func (s *service) readSurroundings(ctx context.Context, c *clusters) error {
	var uids []string
	for i := range c.nodes {
		n := &c.nodes[i]
		uids = append(uids, n.cluster)
		c.names[n.cluster] = n.AccountName
		for j := range n.loads {
			if uid := n.workloadUID(&n.loads[j]); uid != "" {
				uids = append(uids, uid)
			}
		}
	}
	found, err := s.inventory.ByUIDs(ctx, identity.CallerOrg(ctx), uids, inventory.SeeEverything())
	for i := range found {
		r := &found[i]
		if _, is := c.names[r.UID]; is {
			c.names[r.UID] = r.Name
			continue
		}
		c.born[r.UID] = r.CreatedAt
	}
	return fault.Wrap("read clusters and workloads", err)
}

// price sets the cost of the nodes in the days of q. It is the billed cost of their machines, or its estimate for days
// that are not billed yet, or else the machine's rate for the time that the node existed. Nodes that share a machine,
// a scale set, share its cost evenly.
func (s *service) price(ctx context.Context, c *clusters, q cost.Question) error {
	of := map[string][]*node{}
	var uids []string
	for i := range c.nodes {
		if m := c.nodes[i].machine; m != "" {
			if of[m] == nil {
				uids = append(uids, m)
			}
			of[m] = append(of[m], &c.nodes[i])
		}
	}
	if len(uids) == 0 {
		return nil
	}
	q.Dims, q.Filter = []string{cost.ResourceDim}, map[string][]string{cost.ResourceDim: uids}
	a, err := s.costs.Ask(ctx, identity.CallerOrg(ctx), q)
	if err != nil {
		return fault.Wrap("read what nodes cost", err)
	}
	c.estimated = slices.Contains(a.Estimated, true)
	for i := range a.Rows {
		for j, part := range a.Rows[i].Amount.SplitEvenly(len(of[a.Rows[i].Keys[0]])) {
			n := of[a.Rows[i].Keys[0]][j]
			n.cost, n.priced = part, true
		}
		delete(of, a.Rows[i].Keys[0])
	}
	return s.estimate(ctx, c, of, q)
}

// estimate prices the nodes whose machines appear in no bill and in no daily estimate.
func (s *service) estimate(ctx context.Context, c *clusters, of map[string][]*node, q cost.Question) error {
	uids := make([]string, 0, len(of))
	for m := range of {
		uids = append(uids, m)
	}
	if len(uids) == 0 {
		return nil
	}
	costs := pricing.NewCosts(s.p.Table)
	found, err := s.inventory.ByUIDs(ctx, identity.CallerOrg(ctx), uids, inventory.SeeEverything().WithCosts(costs))
	if err != nil {
		return fault.Wrap("read the machines of nodes", err)
	}
	to := clock.Earliest(q.To, s.p.Clock.Now())
	for i := range found {
		r := &found[i]
		rate, _ := costs.Of(r.UID)
		if rate == nil || rate.Reason != "" {
			continue
		}
		share := rate.Hourly(r.Status).SplitEvenly(len(of[r.UID]))
		for j, n := range of[r.UID] {
			n.cost, n.priced, c.estimated = share[j].Mul(hoursOf(n.span(q.From, to))), true, true
		}
	}
	return nil
}

// span returns the part of the node's lifetime between from and to. It is empty if from is not before to.
func (n *node) span(from, to time.Time) (begin, end time.Time) {
	begin = n.Since()
	if n.Status == cloud.Terminated {
		to = clock.Earliest(to, n.LastSeenAt)
	}
	return clock.Latest(begin, from), to
}

// hoursOf returns the hours between two times, or 0 if from is not before to.
func hoursOf(from, to time.Time) money.Amount {
	if !from.Before(to) {
		return money.Amount{}
	}
	return money.FromInt(int64(to.Sub(from) / time.Second)).DivInt(3600)
}

// loads returns the nodes whose cost and workloads are both known, and their containers, between two times. A node
// that was billed but did not exist then is idle.
func (c *clusters) loads(from, to time.Time) (nodes []allocation.Node, containers []allocation.Container) {
	for i := range c.nodes {
		n := &c.nodes[i]
		if !n.priced || !n.seen {
			continue
		}
		begin, end := n.span(from, to)
		nodes = append(nodes,
			allocation.Node{Name: n.UID, Capacity: n.capacity(), Hours: hoursOf(begin, end), Cost: n.cost})
		for j := range n.loads {
			l := &n.loads[j]
			containers = append(containers, allocation.Container{
				Node: n.UID, Namespace: l.Namespace, Workload: l.Kind + "/" + l.Name,
				Requested: amounts(l.Cores, l.GiB, l.GPUs),
				Hours:     hoursOf(clock.Latest(begin, c.born[n.workloadUID(l)]), end),
			})
		}
	}
	return nodes, containers
}

func (n *node) capacity() map[allocation.Resource]money.Amount {
	number := func(fact string) float64 {
		v, _ := n.Facts[fact].(float64)
		return v
	}
	return amounts(number(cloud.NodeCores), number(cloud.NodeGiB), number(cloud.NodeGPUs))
}

func amounts(cores, memory, gpus float64) map[allocation.Resource]money.Amount {
	out := map[allocation.Resource]money.Amount{}
	for r, v := range map[allocation.Resource]float64{
		allocation.CPU: cores, allocation.Memory: memory,
		allocation.GPU: gpus,
	} {
		if a, err := money.FromFloat(v); err == nil { // an invalid number counts as 0
			out[r] = a
		}
	}
	return out
}
