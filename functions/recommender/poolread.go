package recommender

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/table"
)

// The reasons why the saving of lower requests is unknown, beside unpriced and stale.
const (
	unreadNodes condition.Reason = "nodes_unread"   // no discovery says what a node has, or what pods are on it
	unplaced    condition.Reason = "unplaced"       // no pod of the workload is on a known node
	noPool      condition.Reason = "pool_unknown"   // nothing says which nodes a node can be replaced by
	largePool   condition.Reason = "pool_too_large" // the pool has more than maxPoolNodes nodes
)

// maxPoolNodes is how many nodes of a pool are packed. The time grows with its square.
const maxPoolNodes = 1_000

// nodesAtOnce is how many records of nodes are read in one round trip.
const nodesAtOnce = 100

// poolLabels are the labels that name the pool of a node, those of the clouds before those of autoscalers.
var poolLabels = []string{
	"eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool", "kubernetes.azure.com/agentpool", "agentpool",
	"karpenter.sh/nodepool", "alpha.eksctl.io/nodegroup-name", "kops.k8s.io/instancegroup",
}

// nodePools are the pools of an organization by their names.
type nodePools struct {
	pools   map[string]*nodePool
	why     map[string]condition.Reason // by pool: why nothing is known of its savings
	placed  map[string][]string         // the pools of each workload, by its native id
	unknown map[string]condition.Reason // by cluster: why the workloads of a node are unknown
}

func newNodePools() *nodePools {
	return &nodePools{
		pools: map[string]*nodePool{}, why: map[string]condition.Reason{}, placed: map[string][]string{},
		unknown: map[string]condition.Reason{},
	}
}

// place notes that a workload has pods on a pool.
func (p *nodePools) place(workload, pool string) {
	if !slices.Contains(p.placed[workload], pool) {
		p.placed[workload] = append(p.placed[workload], pool)
	}
}

// machineOfNodes is the resource in the cloud that nodes are charged as.
type machineOfNodes struct {
	id, account string
	status      cloud.Status
	nodes       int64
}

// readPools reads the nodes of an organization with their pods and their costs.
func (r *runner) readPools(ctx context.Context) (*nodePools, error) {
	records, err := r.readNodes(ctx)
	if err != nil {
		return nil, err
	}
	machines, err := r.readMachines(ctx, records)
	if err != nil {
		return nil, err
	}
	costs, err := r.readMachineCosts(ctx, machines)
	if err != nil {
		return nil, err
	}
	out := newNodePools()
	for i := range records {
		out.add(&records[i], costs)
	}
	return out, nil
}

// readNodes reads the records of all nodes.
func (r *runner) readNodes(ctx context.Context) ([]inventory.Resource, error) {
	var keys []table.Key
	err := r.inventory.EachIndexed(ctx, r.org, func(res inventory.IndexedResource) {
		if res.Type == cloud.KubernetesNode {
			keys = append(keys, inventory.ResourceKey(r.org, res.UID))
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the nodes of %s: %w", r.org, err)
	}
	var out []inventory.Resource
	for some := range slices.Chunk(keys, nodesAtOnce) {
		got, err := r.Table.BatchGet(ctx, some...)
		if err != nil {
			return nil, fmt.Errorf("read %d nodes of %s: %w", len(some), r.org, err)
		}
		for _, it := range got {
			one, err := table.Decode[inventory.Resource](it)
			if err != nil {
				return nil, err
			}
			out = append(out, one)
		}
	}
	slices.SortFunc(out, func(a, b inventory.Resource) int { return strings.Compare(a.UID, b.UID) })
	return out, nil
}

// readMachines returns the resources that nodes are charged as, by native id.
func (r *runner) readMachines(
	ctx context.Context, nodes []inventory.Resource,
) (map[string]*machineOfNodes, error) {
	out := map[string]*machineOfNodes{}
	for i := range nodes {
		uid, _ := nodes[i].Facts[cloud.NodeMachine].(string)
		if out[uid] == nil {
			out[uid] = &machineOfNodes{}
		}
		out[uid].nodes++
	}
	delete(out, "")
	err := r.inventory.EachIndexed(ctx, r.org, func(res inventory.IndexedResource) {
		if m := out[res.UID]; m != nil {
			m.id, m.account, m.status = res.ID(), res.CloudAccountID, res.Status
		}
	})
	if err != nil {
		return nil, fmt.Errorf("find the machines of the nodes of %s: %w", r.org, err)
	}
	return out, nil
}

// machineCosts says what machines cost.
type machineCosts struct {
	machines map[string]*machineOfNodes
	bills    bills
	rates    *pricing.Costs
}

func (r *runner) readMachineCosts(ctx context.Context, machines map[string]*machineOfNodes) (*machineCosts, error) {
	out := &machineCosts{machines: machines, rates: r.known()}
	needed := &needs{others: map[string]bool{}}
	for uid := range machines {
		needed.others[uid] = true
	}
	var err error
	if out.bills, err = readBills(ctx, r.costs, inputsOf{org: r.org, now: r.state.At}, needed); err != nil {
		return nil, err
	}
	if err = r.inventory.LoadCosts(ctx, r.org, out.rates); err != nil {
		return nil, fmt.Errorf("read the prices of the machines of %s: %w", r.org, err)
	}
	return out, nil
}

// of returns what a node costs, from the bill of its machine or else from public prices. Nodes of a set of machines
// share its cost evenly.
func (c *machineCosts) of(node *inventory.Resource) (nodeMachine, condition.Reason) {
	uid, _ := node.Facts[cloud.NodeMachine].(string)
	m := c.machines[uid]
	if m == nil || m.id == "" {
		return nodeMachine{}, unpriced
	}
	since := node.Since()
	if m.nodes > 1 {
		since = time.Time{}
	}
	out := nodeMachine{resourceID: m.id, basis: recommendation.Billed}
	cost, billed := c.bills.monthly(m.account, uid, since)
	if !billed {
		rate, _ := c.rates.Of(uid)
		switch {
		case rate == nil || rate.Reason != "" || rate.Shared:
			return nodeMachine{}, unpriced
		case rate.Stale:
			return nodeMachine{}, condition.Stale
		}
		out.basis, out.version = recommendation.Estimated, rate.Version
		cost.all = rate.Hourly(m.status).MulInt(pricing.HoursPerMonth)
	}
	out.whole = positive(cost.all)
	out.cost, out.committed = out.whole.DivInt(m.nodes), positive(cost.committed).DivInt(m.nodes)
	return out, ""
}

// add adds a node to its pool.
func (p *nodePools) add(node *inventory.Resource, costs *machineCosts) {
	cluster, name := clusterOfUID(node.UID), poolOf(node)
	if p.pools[name] == nil {
		p.pools[name] = &nodePool{}
	}
	n, known := newPoolNode(node)
	var why condition.Reason
	switch {
	case !known:
		why, p.unknown[cluster] = unreadNodes, unreadNodes
	case !namesPool(node):
		why = noPool
	case len(p.pools[name].nodes) >= maxPoolNodes:
		why = largePool
	default:
		n.machine, why = costs.of(node)
	}
	if why != "" {
		p.why[name] = cmp.Or(p.why[name], why)
	}
	p.pools[name].nodes = append(p.pools[name].nodes, n)
	for i := range n.groups {
		p.place(n.groups[i].workload, name)
	}
}

// clusterOfUID returns the cluster of a resource in it: the first part of its native id.
func clusterOfUID(uid string) string {
	cluster, _, _ := strings.Cut(uid, "/")
	return cluster
}

// namesPool reports whether a node says which pool it is of: by a label, or by its machine type.
func namesPool(node *inventory.Resource) bool {
	return poolLabel(node) != "" || node.InstanceType != ""
}

func poolLabel(node *inventory.Resource) string {
	for _, label := range poolLabels {
		if name := node.Tags[label]; name != "" {
			return name
		}
	}
	return ""
}

// poolOf returns the name of a node's pool, unique in the organization. Nodes of an unnamed pool that have the same
// machine type are one.
func poolOf(node *inventory.Resource) string {
	return clusterOfUID(node.UID) + "/" + cmp.Or(poolLabel(node), "type "+node.InstanceType)
}

// newPoolNode returns a node by its facts. It returns false if they do not say what pods may request, or which pods
// there are.
func newPoolNode(node *inventory.Resource) (poolNode, bool) {
	number := func(fact string) float64 { v, _ := node.Facts[fact].(float64); return v }
	out := poolNode{
		uid: node.UID, zone: node.Zone,
		size: room{
			int64(math.Floor(number(cloud.NodeAllocatableCores) * 1000)),
			int64(math.Floor(number(cloud.NodeAllocatableGiB) * 1024)), int64(number(cloud.NodeAllocatablePods)),
		},
	}
	notReady, told := node.Facts["not_ready_since"].(string)
	out.cordoned = node.Facts["unschedulable"] == true || told && notReady != cloud.Epoch.Format(time.RFC3339)
	out.kept = node.Facts["scale_down_blocked"] == true || isControlPlane(node)
	loads, seen := node.Facts[cloud.NodeLoads].([]any)
	for _, one := range loads {
		text, _ := one.(string)
		l, err := cloud.ParseNodeLoad(text)
		if err != nil || l.Pods <= 0 {
			return out, false
		}
		out.groups = append(out.groups, newPodGroup(clusterOfUID(node.UID), &l))
	}
	return out, seen && out.size.milli > 0 && out.size.mib > 0 && out.size.pods > 0
}

// isControlPlane reports whether a node runs the cluster itself.
func isControlPlane(node *inventory.Resource) bool {
	for _, role := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, is := node.Tags[role]; is {
			return true
		}
	}
	return false
}

// resourcesOfKinds are the names of the kinds of workloads in native ids.
var resourcesOfKinds = map[string]string{
	"Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets", "CronJob": "cronjobs",
	"Job": "jobs",
}

// newPodGroup returns the pods of a workload on a node.
func newPodGroup(cluster string, l *cloud.NodeLoad) podGroup {
	each := func(sum, perOne float64) int64 { return int64(math.Ceil(sum*perOne/float64(l.Pods) - 1e-6)) }
	return podGroup{
		workload: strings.Join([]string{cluster, l.Namespace, resourcesOfKinds[l.Kind], l.Name}, "/"),
		pods:     int64(l.Pods), each: room{each(l.Cores, 1000), each(l.GiB, 1024), 1},
		stays: l.Kind == "DaemonSet" || l.Kind == "Node", zonal: l.Kind == "StatefulSet", alone: l.Kind == "Pod",
	}
}
