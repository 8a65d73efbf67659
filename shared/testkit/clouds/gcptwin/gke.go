package gcptwin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Cluster is a GKE cluster, of a zone or of a region.
type Cluster struct {
	Name, Location, Status, Version string
	Autopilot                       bool
	Endpoint, Authority, DNS        string // how it is entered
	Private                         bool   // Endpoint is in its own network
	Pools                           []*Pool
}

// Pool is a node pool. Its nodes are the sizes of its instance groups, one a zone.
type Pool struct {
	Name, Status  string
	Zones         []string
	Groups        []*Group
	Scaling       map[string]any // as the API has it; nil is off
	Initial       int64
	StatusMessage string
	cluster       *Cluster
	busy          *operation
}

// UID is the full name of the cluster.
func (k *Cluster) UID() string {
	return "//container.googleapis.com/" + k.path()
}

func (k *Cluster) path() string {
	scope := "zones"
	if strings.Count(k.Location, "-") == 1 {
		scope = "locations"
	}
	return "projects/" + Project + "/" + scope + "/" + k.Location + "/clusters/" + k.Name
}

// UID is the full name of the pool.
func (n *Pool) UID() string { return n.cluster.UID() + "/nodePools/" + n.Name }

// Nodes returns the nodes of each zone.
func (n *Pool) Nodes() []int64 {
	var out []int64
	for _, g := range n.Groups {
		out = append(out, g.Size)
	}
	return out
}

// AddCluster adds a cluster without pools.
func (c *Cloud) AddCluster(k Cluster) *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.Status, k.Version = cmp.Or(k.Status, "RUNNING"), cmp.Or(k.Version, "1.33.4-gke.100")
	c.clusters = append(c.clusters, &k)
	return &k
}

// AddPool adds a pool with so many nodes in each of its zones.
func (c *Cloud) AddPool(k *Cluster, n Pool, perZone int64) *Pool {
	n.cluster, n.Status, n.Initial = k, cmp.Or(n.Status, "RUNNING"), cmp.Or(n.Initial, 9)
	for _, z := range n.Zones {
		g := c.AddGroup(Group{Name: "gke-" + k.Name + "-" + n.Name + "-0a1b-grp", Zone: z, Size: perZone, GKE: true})
		n.Groups = append(n.Groups, g)
	}
	c.ChangeLocked(func() { k.Pools = append(k.Pools, &n) })
	return &n
}

func (n *Pool) render() map[string]any {
	links := []string{}
	for _, g := range n.Groups {
		links = append(links, computeURL+g.scope()+"/instanceGroupManagers/"+g.Name)
	}
	status := n.Status
	if n.busy != nil && !n.busy.done {
		status = "RECONCILING"
	}
	out := map[string]any{
		"name": n.Name, "status": status, "statusMessage": n.StatusMessage, "initialNodeCount": n.Initial,
		"instanceGroupUrls": links,
		"locations":         n.Zones, "config": map[string]any{"machineType": "e2-standard-4"},
		"selfLink": "https://container.googleapis.com/v1/" + n.cluster.path() + "/nodePools/" + n.Name,
	}
	if n.Scaling != nil {
		out["autoscaling"] = n.Scaling
	}
	return out
}

func (k *Cluster) render() map[string]any {
	pools := []any{}
	for _, n := range k.Pools {
		pools = append(pools, n.render())
	}
	endpoints := map[string]any{"dnsEndpointConfig": map[string]any{
		"endpoint":             k.DNS,
		"allowExternalTraffic": k.DNS != "",
	}}
	return map[string]any{
		"privateClusterConfig":        map[string]any{"enablePrivateEndpoint": k.Private},
		"masterAuth":                  map[string]any{"clusterCaCertificate": k.Authority},
		"controlPlaneEndpointsConfig": endpoints,
		"name":                        k.Name, "location": k.Location, "status": k.Status,
		"currentMasterVersion": k.Version,
		"nodePools":            pools,
		"selfLink":             "https://container.googleapis.com/v1/" + k.path(),
		"resourceLabels":       map[string]string{"team": "shop"},
		"autopilot":            map[string]any{"enabled": k.Autopilot}, "currentNodeCount": 99, "endpoint": k.Endpoint,
	}
}

func (c *Cloud) listClusters(request) (any, *failure) {
	items := []any{}
	for _, k := range c.clusters {
		items = append(items, k.render())
	}
	var missing []string
	for _, scope := range c.Unreachable {
		missing = append(missing, strings.TrimPrefix(scope, "zones/"))
	}
	return map[string]any{"clusters": items, "missingZones": missing}, nil
}

func (c *Cloud) cluster(q request) (*Cluster, *failure) {
	n := slices.IndexFunc(c.clusters, func(k *Cluster) bool { return k.Location == q.args[1] && k.Name == q.args[2] })
	if n < 0 {
		return nil, newFailure(
			http.StatusNotFound, "NOT_FOUND", "Not found: projects/%s/locations/%s/clusters/%s.", q.args[0], q.args[1],
			q.args[2])
	}
	return c.clusters[n], nil
}

func (c *Cloud) getCluster(q request) (any, *failure) {
	k, f := c.cluster(q)
	if f != nil {
		return nil, f
	}
	return k.render(), nil
}

// pool finds the pool of a change. GKE makes one change of a cluster at a time.
func (c *Cloud) pool(q request) (*Pool, *failure) {
	k, f := c.cluster(q)
	if f != nil {
		return nil, f
	}
	for _, n := range k.Pools {
		if n.busy != nil && !n.busy.done {
			return nil, newFailure(http.StatusBadRequest, "FAILED_PRECONDITION", "Cluster is running incompatible "+
				"operation %s.", n.busy.name)
		}
	}
	n := slices.IndexFunc(k.Pools, func(n *Pool) bool { return n.Name == q.args[3] })
	if n < 0 {
		return nil, newFailure(http.StatusNotFound, "NOT_FOUND", "Not found: node pool %s.", q.args[3])
	}
	return k.Pools[n], nil
}

// setPoolSize sets the nodes of each zone. A number that is left out is refused, though proto3 would read 0: who
// relies on that has not sent it.
func (c *Cloud) setPoolSize(q request) (any, *failure) {
	n, f := c.pool(q)
	if f != nil {
		return nil, f
	}
	count, ok := numberOf(q.body, "nodeCount")
	if !ok {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "nodeCount is not given")
	}
	for _, g := range n.Groups {
		g.Size = count
	}
	return c.begin(n, "SET_NODE_POOL_SIZE", nil), nil
}

func (c *Cloud) setPoolScaling(q request) (any, *failure) {
	n, f := c.pool(q)
	if f != nil {
		return nil, f
	}
	a := objectOf(q.body, "autoscaling")
	return c.begin(n, "UPDATE_CLUSTER", func() {
		if n.Scaling = nil; a["enabled"] == true {
			n.Scaling = a
		}
	}), nil
}

func (c *Cloud) begin(n *Pool, kind string, apply func()) any {
	n.busy = &operation{
		name: fmt.Sprint("operation-", c.nextNumber()), kind: kind, target: n.UID(), gke: true,
		apply: apply,
	}
	c.operations = append(c.operations, n.busy)
	return n.busy.render()
}

// RunScaling lets the scalers of pools have their turn: one that is on brings its pool to its minimum.
func (c *Cloud) RunScaling() {
	c.ChangeLocked(func() {
		for _, k := range c.clusters {
			for _, n := range k.Pools {
				n.scale()
			}
		}
	})
}

func (n *Pool) scale() {
	least := max(fmtInt(n.Scaling["minNodeCount"]), fmtInt(n.Scaling["totalMinNodeCount"]))
	for _, g := range n.Groups {
		g.Size = max(g.Size, least)
	}
}

func fmtInt(v any) (n int64) {
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}
