package awstwin

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Nodegroup is a managed node group of EKS. Status "" is ACTIVE.
type Nodegroup struct {
	Cluster, Name, Region string
	Min, Max, Desired     int
	Status                string
	Issue                 string // a health issue
	update                int
	updateStatus          string
}

// Cluster is a cluster of EKS. Status "" is ACTIVE. The cluster of a node group need not be added: it is active.
type Cluster struct {
	Name, Region, Status, Version string

	Endpoint  string // of its API server; "" is none yet
	Authority []byte // PEM
	Private   bool   // it answers in its own network alone
}

// AddCluster adds a cluster.
func (c *Cloud) AddCluster(k Cluster) *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clusters = append(c.clusters, &k)
	return &k
}

// OpensClusters reports whether the form of a token is the one that the authenticator of EKS accepts: a signed
// GetCallerIdentity request that contains the name of a cluster.
func OpensClusters(token string) bool {
	raw, ok := strings.CutPrefix(token, "k8s-aws-v1.")
	plain, err := base64.RawURLEncoding.DecodeString(raw)
	return ok && err == nil && strings.Contains(string(plain), "Action=GetCallerIdentity") &&
		strings.Contains(string(plain), "x-k8s-aws-id")
}

// ARN returns the ARN of the cluster.
func (k *Cluster) ARN() string {
	return "arn:aws:eks:" + k.Region + ":" + Account + ":cluster/" + k.Name
}

func (k *Cluster) json() map[string]any {
	status, version := k.Status, k.Version
	if status == "" {
		status = "ACTIVE"
	}
	if version == "" {
		version = "1.33"
	}
	out := map[string]any{
		"name": k.Name, "arn": k.ARN(), "status": status, "version": version,
		"createdAt": 1767323045.0,
	}
	if k.Endpoint != "" {
		out["endpoint"] = k.Endpoint
		out["certificateAuthority"] = map[string]any{"data": base64.StdEncoding.EncodeToString(k.Authority)}
	}
	out["resourcesVpcConfig"] = map[string]any{"endpointPublicAccess": !k.Private, "endpointPrivateAccess": true}
	return out
}

// cluster returns an EKS cluster of the region, including clusters known only from their node groups.
func (c *Cloud) cluster(region, name string) (*Cluster, *failure) {
	for _, k := range c.clusters {
		if k.Region == region && k.Name == name {
			return k, nil
		}
	}
	for _, n := range c.nodes {
		if n.Region == region && n.Cluster == name {
			return &Cluster{Name: name, Region: region}, nil
		}
	}
	return nil, newFailure(http.StatusNotFound, "ResourceNotFoundException", "No cluster found for name: %s.", name)
}

func (c *Cloud) describeEKSCluster(q request) (any, *failure) {
	k, f := c.cluster(q.region, q.path[1])
	if f != nil {
		return nil, f
	}
	return map[string]any{"cluster": k.json()}, nil
}

// AddNodegroup adds a node group.
func (c *Cloud) AddNodegroup(n Nodegroup) *Nodegroup {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n.Status == "" {
		n.Status = "ACTIVE"
	}
	c.nodes = append(c.nodes, &n)
	return &n
}

// ARN returns the ARN of the node group.
func (n *Nodegroup) ARN() string {
	return "arn:aws:eks:" + n.Region + ":" + Account + ":nodegroup/" + n.Cluster + "/" + n.Name + "/0f0f0f"
}

func (n *Nodegroup) settleNodes() {
	if n.Status == "UPDATING" {
		n.Status, n.updateStatus = "ACTIVE", "Successful"
	}
}

func (n *Nodegroup) json() map[string]any {
	issues := []any{}
	if n.Issue != "" {
		issues = append(issues, map[string]any{"code": n.Issue, "message": "something is wrong with the group"})
	}
	return map[string]any{
		"nodegroupName": n.Name, "nodegroupArn": n.ARN(), "clusterName": n.Cluster, "status": n.Status,
		"createdAt": 1767323045.0, "instanceTypes": []string{"m5.large"}, "tags": map[string]string{"team": "web"},
		"scalingConfig": map[string]any{"minSize": n.Min, "maxSize": n.Max, "desiredSize": n.Desired},
		"health":        map[string]any{"issues": issues},
	}
}

func (c *Cloud) listEKSClusters(q request) (any, *failure) {
	var names []string
	for _, k := range c.clusters {
		if k.Region == q.region {
			names = append(names, k.Name)
		}
	}
	for _, n := range c.nodes {
		if n.Region == q.region && !slices.Contains(names, n.Cluster) {
			names = append(names, n.Cluster)
		}
	}
	from, to, next := c.cutPage(q, len(names), "maxResults", "nextToken")
	return listAnswer("clusters", names[from:to], next), nil
}

func (c *Cloud) listNodegroups(q request) (any, *failure) {
	if _, f := c.cluster(q.region, q.path[1]); f != nil {
		return nil, f
	}
	var names []string
	for _, n := range c.nodes {
		if n.Region == q.region && n.Cluster == q.path[1] {
			names = append(names, n.Name)
		}
	}
	from, to, next := c.cutPage(q, len(names), "maxResults", "nextToken")
	return listAnswer("nodegroups", names[from:to], next), nil
}

func (c *Cloud) nodegroup(q request, name string) (*Nodegroup, *failure) {
	at := slices.IndexFunc(c.nodes, func(n *Nodegroup) bool {
		return n.Region == q.region && n.Cluster == q.path[1] && n.Name == name
	})
	if at < 0 {
		return nil, newFailure(
			http.StatusNotFound, "ResourceNotFoundException", "No node group found for name: %s.", name)
	}
	return c.nodes[at], nil
}

func (c *Cloud) describeNodegroup(q request) (any, *failure) {
	n, f := c.nodegroup(q, q.path[3])
	if f != nil {
		return nil, f
	}
	return map[string]any{"nodegroup": n.json()}, nil
}

// updateNodegroup checks the three sizes together, and accepts one update at a time.
func (c *Cloud) updateNodegroup(q request) (any, *failure) {
	n, f := c.nodegroup(q, q.path[3])
	if f != nil {
		return nil, f
	}
	if n.Status == "UPDATING" {
		return nil, newFailure(http.StatusConflict, "ResourceInUseException", "Nodegroup cannot be updated as it is "+
			"currently not in Active State")
	}
	config, _ := q.body["scalingConfig"].(map[string]any)
	next := request{body: config}
	least, _ := next.getNumber("minSize")
	most, _ := next.getNumber("maxSize")
	desired, ok := next.getNumber("desiredSize")
	if !ok || least > desired || desired > most || most < 1 {
		return nil, newFailure(http.StatusBadRequest, "InvalidParameterException", "Minimum capacity %d can't be "+
			"greater than desired size %d, which can't be greater than maximum %d, which is at least 1", least, desired,
			most)
	}
	n.Min, n.Max, n.Desired, n.Status, n.updateStatus = least, most, desired, "UPDATING", "InProgress"
	n.update++
	return map[string]any{"update": n.updateJSON()}, nil
}

func (n *Nodegroup) updateJSON() map[string]any {
	return map[string]any{
		"id": "update-" + strconv.Itoa(n.update), "status": n.updateStatus, "type": "ConfigUpdate",
		"errors": []any{},
	}
}

func (c *Cloud) listUpdates(q request) (any, *failure) {
	n, f := c.nodegroup(q, q.getString("nodegroupName"))
	if f != nil {
		return nil, f
	}
	ids := []string{}
	for i := n.update; i > 0; i-- {
		ids = append(ids, "update-"+strconv.Itoa(i))
	}
	return map[string]any{"updateIds": ids}, nil
}

func (c *Cloud) describeUpdate(q request) (any, *failure) {
	n, f := c.nodegroup(q, q.getString("nodegroupName"))
	if f != nil {
		return nil, f
	}
	return map[string]any{"update": n.updateJSON()}, nil
}
