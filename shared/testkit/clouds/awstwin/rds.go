package awstwin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Database is an RDS instance, or a cluster of RDS, Aurora, DocumentDB or Neptune. Status "" is available.
type Database struct {
	ID, Region, Engine, Status string
	IsCluster                  bool
	Class                      string
	MultiAZ                    bool
	Cluster                    string   // the cluster that an instance is a member of
	SourceOf                   []string // its replicas
	ReplicaOf                  string
	Mode, Global               string // of a cluster: engine mode, global database
	// Settings are further values by their names in AWS: BackupRetentionPeriod, StorageType, …
	Settings map[string]string
}

// AddDatabase adds a database and returns it.
func (c *Cloud) AddDatabase(d Database) *Database {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.Status == "" {
		d.Status = "available"
	}
	c.dbs = append(c.dbs, &d)
	return &d
}

// ARN returns the ARN of the database.
func (d *Database) ARN() string {
	kind := "db"
	if d.IsCluster {
		kind = "cluster"
	}
	return "arn:aws:rds:" + d.Region + ":" + Account + ":" + kind + ":" + d.ID
}

func (d *Database) settleState() {
	switch d.Status {
	case "starting", "modifying":
		d.Status = "available"
	case "stopping":
		d.Status = "stopped"
	}
}

// ElapseSevenDays lets seven days pass: RDS starts stopped databases.
func (c *Cloud) ElapseSevenDays() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range c.dbs {
		if d.Status == "stopped" {
			d.Status = "starting"
		}
	}
}

func (d *Database) node() node {
	n := newElement("DBInstance", newText("DBInstanceIdentifier", d.ID), newText("DBInstanceArn", d.ARN()),
		newText("Engine", d.Engine),
		newText("DBInstanceStatus", d.Status), newText("DBInstanceClass", d.Class), newText("AllocatedStorage", "20"),
		newText("MultiAZ", strconv.FormatBool(d.MultiAZ)), newText("DBClusterIdentifier", d.Cluster),
		newText("ReadReplicaSourceDBInstanceIdentifier", d.ReplicaOf),
		newText("InstanceCreateTime", "2026-01-02T03:04:05Z"))
	if d.Status == "stopped" {
		n.kids = append(n.kids, newText("AutomaticRestartTime", "2026-02-03T04:05:06Z"))
	}
	for name, value := range d.Settings {
		n.kids = append(n.kids, newText(name, value))
	}
	for _, r := range d.SourceOf {
		n.kids = append(n.kids,
			newElement("ReadReplicaDBInstanceIdentifiers", newText("ReadReplicaDBInstanceIdentifier", r)))
	}
	return n
}

func (d *Database) clusterNode() node {
	n := newElement("DBCluster", newText("DBClusterIdentifier", d.ID), newText("DBClusterArn", d.ARN()),
		newText("Engine", d.Engine),
		newText("Status", d.Status), newText("EngineMode", d.Mode), newText("GlobalClusterIdentifier", d.Global),
		newText("ReplicationSourceIdentifier", d.ReplicaOf), newText("ClusterCreateTime", "2026-01-02T03:04:05Z"))
	if d.Status == "stopped" {
		n.kids = append(n.kids, newText("AutomaticRestartTime", "2026-02-03T04:05:06Z"))
	}
	return n
}

func (c *Cloud) describeDBInstances(q request) (any, *failure) {
	nodes, next := c.describeDBs(q, false, (*Database).node)
	return []node{newItems("DBInstances", "DBInstance", nodes), newText("Marker", next)}, nil
}

func (c *Cloud) describeDBClusters(q request) (any, *failure) {
	nodes, next := c.describeDBs(q, true, (*Database).clusterNode)
	return []node{newItems("DBClusters", "DBCluster", nodes), newText("Marker", next)}, nil
}

func (c *Cloud) describeDBs(q request, clusters bool, render func(*Database) node) (nodes []node, next string) {
	wanted := q.getList("Filters.Filter.1.Values.Value")
	found := slices.DeleteFunc(slices.Clone(c.dbs), func(d *Database) bool {
		is := d.ID
		if !clusters && q.form.Get("Filters.Filter.1.Name") == "db-cluster-id" {
			is = d.Cluster
		}
		return d.IsCluster != clusters || d.Region != q.region || (len(wanted) > 0 && !slices.Contains(wanted, is))
	})
	from, to, next := c.cutPage(q, len(found), "MaxRecords", "Marker")
	if len(wanted) > 0 {
		from, to, next = 0, len(found), ""
	}
	for _, d := range found[from:to] {
		nodes = append(nodes, render(d))
	}
	return nodes, next
}

func (c *Cloud) startDB(q request) (any, *failure) { return c.turnDB(q, "stopped", "starting") }
func (c *Cloud) stopDB(q request) (any, *failure)  { return c.turnDB(q, "available", "stopping") }

// turnDB moves a database from one state to another, and refuses other states as strictly as RDS.
func (c *Cloud) turnDB(q request, from, to string) (any, *failure) {
	cluster := strings.HasSuffix(q.op, "Cluster")
	id := q.getString("DBInstanceIdentifier") + q.getString("DBClusterIdentifier")
	at := slices.IndexFunc(c.dbs, func(d *Database) bool {
		return d.ID == id && d.IsCluster == cluster && d.Region == q.region
	})
	switch {
	case at < 0 && cluster:
		return nil, newFailure(http.StatusNotFound, "DBClusterNotFoundFault", "DBCluster %s not found.", id)
	case at < 0:
		return nil, newFailure(http.StatusNotFound, "DBInstanceNotFound", "DBInstance %s not found.", id)
	}
	d := c.dbs[at]
	switch {
	case d.Status != from && cluster:
		return nil, newFailure(http.StatusBadRequest, "InvalidDBClusterStateFault", "DbCluster %s is in %s state but "+
			"expected it to be one of %s.", id, d.Status, from)
	case d.Status != from:
		return nil, newFailure(
			http.StatusBadRequest, "InvalidDBInstanceState", "Instance %s is not in %s state.", id, from)
	}
	if d.Status = to; cluster {
		return []node{d.clusterNode()}, nil
	}
	return []node{d.node()}, nil
}

// Deployment is a blue/green deployment. Members are ARNs, the blue ones before the green.
type Deployment struct {
	Name, Region, Status string
	Members              [][2]string
}

// AddDeployment adds a blue/green deployment. Its first two members are the source and the target.
func (c *Cloud) AddDeployment(d Deployment) {
	c.ChangeLocked(func() { c.bluegreen = append(c.bluegreen, d) })
}

func (c *Cloud) describeDeployments(q request) (any, *failure) {
	var nodes []node
	for _, d := range c.bluegreen {
		if d.Region != q.region {
			continue
		}
		n := newElement("member", newText("BlueGreenDeploymentIdentifier", "bgd-1"),
			newText("BlueGreenDeploymentName", d.Name),
			newText("Source", d.Members[0][0]), newText("Target", d.Members[0][1]), newText("Status", d.Status))
		var details []node
		for _, m := range d.Members {
			details = append(details,
				newElement("member", newText("SourceMember", m[0]), newText("TargetMember", m[1])))
		}
		n.kids = append(n.kids, newItems("SwitchoverDetails", "member", details))
		nodes = append(nodes, n)
	}
	return []node{newItems("BlueGreenDeployments", "member", nodes)}, nil
}
