package gcp

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// nodepools are node pools of GKE; the uid is the full name. Sizes are nodes per zone, as GKE sets them. They are read
// from the instance groups, because initialNodeCount is the number at the creation of the pool. Workloads should be
// stopped first: another pool's autoscaler may grow for pods without a node.
var nodepools = kind{
	Kind:    catalogueKind(cloud.GCPGKENodepool),
	service: "container.googleapis.com", collection: "nodePools",
	needs: needs{
		discover: []string{
			"container.clusters.list", "container.clusters.get", "compute.instanceGroupManagers.list",
			"compute.instanceGroupManagers.get",
		},
		startStop: []string{"container.clusters.update", "container.operations.get"},
		scale:     []string{"container.clusters.update", "container.operations.get"},
	},
	list:  listNodepools,
	read:  readNodepools,
	act:   actOneByOne(actNodepool),
	scale: scaleNodepool,
}

// nodepool is a node pool with its cluster and the sizes of its instance groups, one a zone.
type nodepool struct {
	ref
	*googlerest.NodePool
	autopilot bool
	labels    map[string]string // of the cluster: pools have none
	sizes     []int64
}

// clusterLink returns the cluster of a name as calls name it.
func (r ref) clusterLink() string {
	return "projects/" + r.project + "/locations/" + r.location + "/clusters/" + r.cluster
}

func (r ref) poolLink() string { return r.clusterLink() + "/nodePools/" + r.name }

// listNodepools lists all pools of the region at once: GKE has no pages. Its clusters of zones are listed for all
// regions only.
func listNodepools(ctx context.Context, p place, _ string) (cloud.ResourcePage, error) {
	clusters, err := listClusters(ctx, p)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var pools []nodepool
	for _, c := range clusters {
		pools = append(pools, poolsOf(c)...)
	}
	if len(pools) == 0 {
		return cloud.ResourcePage{}, nil
	}
	sizes, err := listGroupSizes(ctx, p)
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var got cloud.ResourcePage
	for _, n := range pools {
		for _, link := range n.InstanceGroupURLs {
			n.sizes = append(n.sizes, sizes[fullName("compute.googleapis.com", link)])
		}
		got.Resources = append(got.Resources, nodepoolResource(n))
	}
	return got, nil
}

// listClusters returns the clusters of the region and of its zones. Zones that did not answer make the list incomplete.
func listClusters(ctx context.Context, p place) ([]*googlerest.Cluster, error) {
	out, err := call[googlerest.ClusterList](ctx, p.session, googlerest.NewGet("container.clusters.list",
		googlerest.Container+"{+parent}/clusters", "projects/"+p.project+"/locations/-"))
	if err == nil {
		err = p.missingZonesError(out.MissingZones)
	}
	if err != nil {
		return nil, err
	}
	var here []*googlerest.Cluster
	for _, c := range out.Clusters {
		if regionOf(c.Location) == p.region {
			here = append(here, c)
		}
	}
	return here, nil
}

// poolsOf returns the pools of a cluster, without their sizes.
func poolsOf(c *googlerest.Cluster) []nodepool {
	pools := make([]nodepool, 0, len(c.NodePools))
	for _, n := range c.NodePools {
		r, ok := parseName(fullName("container.googleapis.com", n.SelfLink))
		if !ok {
			continue
		}
		auto := c.Autopilot.Enabled || n.AutopilotConfig.Enabled
		pools = append(pools, nodepool{ref: r, NodePool: n, autopilot: auto, labels: c.ResourceLabels})
	}
	return pools
}

// listGroupSizes returns the sizes of all instance groups in the zones of the region, by their uids.
func listGroupSizes(ctx context.Context, p place) (map[string]int64, error) {
	sizes := map[string]int64{}
	for page, n := "", 0; n < maxPages; n++ {
		found, next, err := listZonalGroups(ctx, p, page)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			sizes[g.uid] = g.TargetSize
		}
		if page = next; page == "" {
			return sizes, nil
		}
	}
	return nil, cloud.ErrUnsupported("region %s has more than %d pages of instance groups", p.region, maxPages)
}

func nodepoolResource(n nodepool) cloud.Resource {
	r := cloud.Resource{
		UID: n.uid, Name: n.Name, Status: n.status(), Tags: tagsOf(n.labels), Capacity: n.capacity(),
		ParentUID: strings.TrimSuffix(n.uid, "/nodePools/"+n.Name), Unschedulable: n.stopObstacle(),
		Facts: nodepoolFacts(n),
	}
	if !n.isRegional() {
		r.Zone = n.location
	}
	if n.Config != nil {
		r.InstanceType = n.Config.MachineType
	}
	return r
}

// perZone returns the nodes of a zone: of the fullest, for zones of a pool that is scaled may differ, and GKE takes
// one number.
func (n nodepool) perZone() (most int64) {
	for _, s := range n.sizes {
		most = max(most, s)
	}
	return most
}

func (n nodepool) capacity() map[string]int64 {
	c := map[string]int64{"desired": n.perZone(), "zones": int64(len(n.sizes))}
	for _, s := range n.sizes {
		c["nodes"] += s
	}
	if a := n.scaling(); a != nil && !a.isTotal() {
		c["min"], c["max"] = a.Min, a.Max
	}
	return c
}

// status returns the status of a pool. GKE's RECONCILING means any change, so a changing pool without nodes may be
// starting or stopping.
func (n nodepool) status() cloud.Status {
	empty := n.perZone() == 0
	switch n.Status {
	case "PROVISIONING":
		return cloud.Pending
	case "STOPPING": // it is being deleted
		return cloud.Terminated
	case "RECONCILING":
		if empty {
			return cloud.Stopping
		}
		return cloud.Starting
	case "RUNNING":
		if empty {
			return cloud.Stopped
		}
		return cloud.Running
	case "RUNNING_WITH_ERROR", "ERROR":
		if empty {
			return cloud.Stopped
		}
		return cloud.Unknown
	default:
		return cloud.Unknown
	}
}

// stopObstacle returns why a pool may not be stopped.
func (n nodepool) stopObstacle() string {
	switch {
	case n.autopilot:
		return "belongs to an Autopilot cluster, whose nodes Google sizes by its pods: stop the workloads"
	case n.Autoscaling != nil && n.Autoscaling.Autoprovisioned:
		return "was made by node auto-provisioning, which removes it when it is empty: stop the workloads"
	}
	return ""
}

func readNodepools(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
	byCluster := map[string][]ref{}
	for _, r := range refs {
		byCluster[r.clusterLink()] = append(byCluster[r.clusterLink()], r)
	}
	var states []cloud.State
	for _, link := range sortedKeys(byCluster) {
		found, err := getNodepools(ctx, p, link, byCluster[link])
		if err != nil {
			return nil, err
		}
		for _, n := range found {
			states = append(states, nodepoolState(n))
		}
	}
	return states, nil
}

// getNodepools reads pools of one cluster, with their sizes; those that do not exist are missing.
func getNodepools(ctx context.Context, p place, cluster string, refs []ref) ([]nodepool, error) {
	c, err := call[googlerest.Cluster](ctx, p.session,
		googlerest.NewGet("container.clusters.get", googlerest.Container+"{+name}", cluster))
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	byName := map[string]nodepool{}
	for _, n := range poolsOf(c) {
		byName[n.Name] = n
	}
	var found []nodepool
	for _, r := range refs {
		n, ok := byName[r.name]
		if !ok {
			continue
		}
		n.ref = r
		if n.sizes, err = groupSizes(ctx, p, n.InstanceGroupURLs); err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, nil
}

// groupSizes returns the sizes of these instance groups.
func groupSizes(ctx context.Context, p place, links []string) ([]int64, error) {
	sizes, errs := make([]int64, len(links)), make([]error, len(links))
	cloud.InParallel(len(links), parallelCalls, func(i int) {
		r, ok := parseName(fullName("compute.googleapis.com", links[i]))
		if !ok {
			errs[i] = cloud.ErrInvalid("GKE returned %.300q, which is not the name of an instance group", links[i])
			return
		}
		var m *googlerest.InstanceGroupManager
		m, errs[i] = call[googlerest.InstanceGroupManager](ctx, p.session,
			googlerest.NewGet("compute.instanceGroupManagers.get",
				googlerest.Compute+"projects/{project}/zones/{zone}/instanceGroupManagers/{instanceGroupManager}",
				p.project, r.location, r.name))
		if errs[i] == nil {
			sizes[i] = m.TargetSize
		}
	})
	for _, err := range errs {
		if err != nil && !isGone(err) {
			return nil, err
		}
	}
	return sizes, nil
}

func nodepoolState(n nodepool) cloud.State {
	s := cloud.State{
		UID: n.uid, Status: n.status(), Reason: n.reason(), Unschedulable: n.stopObstacle(),
		Native: fmt.Sprintf("%s, nodes per zone %v", n.Status, n.sizes),
	}
	if n.perZone() > 0 {
		s.Snapshot = cloud.EncodeSnapshot(nodepoolMemory{Nodes: n.perZone(), Scaling: n.scaling()})
	}
	return s
}

func (n nodepool) reason() string {
	said := []string{}
	if n.StatusMessage != "" {
		said = append(said, n.StatusMessage)
	}
	for _, c := range n.Conditions {
		if c.Message != "" {
			said = append(said, c.CanonicalCode+": "+c.Message)
		}
	}
	return strings.Join(said, "; ")
}
