package awstwin

import (
	"net/http"
	"slices"
	"strconv"
)

// Warehouse is a cluster of Redshift. Status "" is available.
type Warehouse struct {
	ID, Region, Status string
	Nodes              int
	MultiAZ            bool
	NoNamespace        bool // it is described without the ARN of a namespace
}

// AddWarehouse adds a cluster of Redshift.
func (c *Cloud) AddWarehouse(w Warehouse) *Warehouse {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.Status == "" {
		w.Status = "available"
	}
	c.warehouses = append(c.warehouses, &w)
	return &w
}

// ARN returns the ARN of the cluster.
func (w *Warehouse) ARN() string {
	return "arn:aws:redshift:" + w.Region + ":" + Account + ":cluster:" + w.ID
}

func (w *Warehouse) settleState() {
	switch w.Status {
	case "resuming", "modifying":
		w.Status = "available"
	case "pausing":
		w.Status = "paused"
	}
}

// namespace returns the ARN of the cluster's namespace, or "" for a cluster without one.
func (w *Warehouse) namespace() string {
	if w.NoNamespace {
		return ""
	}
	return "arn:aws:redshift:" + w.Region + ":" + Account + ":namespace:0f0f0f0f-" + w.ID
}

func (w *Warehouse) node() node {
	zones := "Disabled"
	if w.MultiAZ {
		zones = "Enabled"
	}
	return newElement("Cluster", newText("ClusterIdentifier", w.ID), newText("ClusterStatus", w.Status),
		newText("NodeType", "ra3.large"),
		newText("NumberOfNodes", strconv.Itoa(w.Nodes)), newText("MultiAZ", zones),
		newText("AvailabilityZone", w.Region+"a"),
		newText("ClusterCreateTime", "2026-01-02T03:04:05Z"),
		newText("ClusterNamespaceArn", w.namespace()),
		newElement("Tags", newElement("Tag", newText("Key", "team"), newText("Value", "data"))))
}

func (c *Cloud) describeWarehouses(q request) (any, *failure) {
	id := q.getString("ClusterIdentifier")
	found := slices.DeleteFunc(slices.Clone(c.warehouses), func(w *Warehouse) bool {
		return w.Region != q.region || (id != "" && w.ID != id)
	})
	if id != "" && len(found) == 0 {
		return nil, newFailure(http.StatusNotFound, "ClusterNotFound", "Cluster %s not found.", id)
	}
	from, to, next := c.cutPage(q, len(found), "MaxRecords", "Marker")
	var nodes []node
	for _, w := range found[from:to] {
		nodes = append(nodes, w.node())
	}
	return []node{newItems("Clusters", "Cluster", nodes), newText("Marker", next)}, nil
}

func (c *Cloud) pauseWarehouse(q request) (any, *failure) {
	return c.turnWarehouse(q, "available", "pausing")
}

func (c *Cloud) resumeWarehouse(q request) (any, *failure) {
	return c.turnWarehouse(q, "paused", "resuming")
}

// turnWarehouse moves a cluster from one state to another, and refuses other states as strictly as Redshift.
func (c *Cloud) turnWarehouse(q request, from, to string) (any, *failure) {
	id := q.getString("ClusterIdentifier")
	at := slices.IndexFunc(c.warehouses, func(w *Warehouse) bool { return w.ID == id && w.Region == q.region })
	if at < 0 {
		return nil, newFailure(http.StatusNotFound, "ClusterNotFound", "Cluster %s not found.", id)
	}
	w := c.warehouses[at]
	if w.Status != from {
		return nil, newFailure(http.StatusBadRequest, "InvalidClusterState", "You can't %s cluster %s because its "+
			"status is %s.", to, id, w.Status)
	}
	w.Status = to
	return []node{w.node()}, nil
}
