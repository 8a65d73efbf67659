package gcptwin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Database is a Cloud SQL instance.
type Database struct {
	Name, Region, State, Policy string
	ReplicaOf                   string
	Replicas                    []string
	Type                        string
	Suspension                  []string
	version                     int64
	operations                  []*databaseOperation
}

type databaseOperation struct{ kind, status, code, message string }

// UID is the full name of the instance.
func (d *Database) UID() string {
	return "//cloudsql.googleapis.com/projects/" + Project + "/instances/" + d.Name
}

// AddDatabase adds an instance; it runs unless it says otherwise.
func (c *Cloud) AddDatabase(d Database) *Database {
	c.mu.Lock()
	defer c.mu.Unlock()
	d.State, d.Policy, d.version = cmp.Or(d.State, "RUNNABLE"), cmp.Or(d.Policy, "ALWAYS"), 7
	c.databases = append(c.databases, &d)
	return &d
}

// Begin begins an operation of the instance.
func (c *Cloud) Begin(d *Database, kind string) {
	c.ChangeLocked(func() { c.beginOperation(d, kind) })
}

// Fail ends the newest operation of the instance with an error.
func (c *Cloud) Fail(d *Database, code, message string) {
	c.ChangeLocked(func() {
		d.operations[0].status, d.operations[0].code, d.operations[0].message = "DONE", code, message
	})
}

func (c *Cloud) beginOperation(d *Database, kind string) *databaseOperation {
	o := &databaseOperation{kind: kind, status: "RUNNING"}
	d.operations = slices.Insert(d.operations, 0, o)
	c.operations = append(c.operations, &operation{name: fmt.Sprint("sql-", c.nextNumber()), apply: func() {
		o.status = "DONE"
	}})
	return o
}

func (d *Database) render() map[string]any {
	out := map[string]any{
		"name": d.Name, "region": d.Region, "state": d.State, "project": Project, "createTime": Created,
		"gceZone":      d.Region + "-b",
		"instanceType": cmp.Or(d.Type, "CLOUD_SQL_INSTANCE"), "replicaNames": d.Replicas,
		"suspensionReason": d.Suspension,
		"settings": map[string]any{
			"tier": "db-custom-2-8192", "activationPolicy": d.Policy,
			"settingsVersion": strconv.FormatInt(d.version, 10), "dataDiskSizeGb": "20",
			"userLabels": map[string]string{"env": "dev"},
		},
	}
	if d.ReplicaOf != "" {
		out["masterInstanceName"] = Project + ":" + d.ReplicaOf
		out["instanceType"] = "READ_REPLICA_INSTANCE"
	}
	return out
}

func (c *Cloud) listDatabases(q request) (any, *failure) {
	region := strings.TrimPrefix(q.URL.Query().Get("filter"), "region:")
	var found []any
	for _, d := range c.databases {
		if strings.HasPrefix(d.Region, region) { // Google's ":" is looser than equality
			found = append(found, d.render())
		}
	}
	from, to, next := c.cutPage(q, len(found), "maxResults")
	out := map[string]any{"items": found[from:to], "nextPageToken": next}
	var warnings []any
	for _, scope := range c.Unreachable {
		warnings = append(warnings,
			map[string]string{
				"code": "REGION_UNREACHABLE", "region": strings.TrimPrefix(scope, "regions/"),
				"message": scope + " is unreachable",
			})
	}
	out["warnings"] = warnings
	return out, nil
}

func (c *Cloud) database(name string) (*Database, *failure) {
	n := slices.IndexFunc(c.databases, func(d *Database) bool { return d.Name == name })
	if n < 0 {
		return nil, newFailure(http.StatusNotFound, "instanceDoesNotExist", "The Cloud SQL instance does not exist.")
	}
	return c.databases[n], nil
}

func (c *Cloud) getDatabase(q request) (any, *failure) {
	d, f := c.database(q.args[1])
	if f != nil {
		return nil, f
	}
	return d.render(), nil
}

// patchDatabase refuses a second operation, an old version of the settings, and a stop of an instance with or of
// replicas. The state stays RUNNABLE.
func (c *Cloud) patchDatabase(q request) (any, *failure) {
	d, f := c.database(q.args[1])
	if f != nil {
		return nil, f
	}
	settings := objectOf(q.body, "settings")
	policy, _ := settings["activationPolicy"].(string)
	switch {
	case slices.ContainsFunc(d.operations, func(o *databaseOperation) bool { return o.status != "DONE" }):
		return nil, newFailure(http.StatusConflict, "operationInProgress", "Operation failed because another "+
			"operation was already in progress.")
	case settings["settingsVersion"] != strconv.FormatInt(d.version, 10):
		return nil, newFailure(http.StatusPreconditionFailed, "staleData", "Input or retrieved data is out of date.")
	case policy == "NEVER" && (d.ReplicaOf != "" || len(d.Replicas) > 0):
		return nil, newFailure(http.StatusBadRequest, "invalidOperation", "The instance cannot be stopped: it is "+
			"replicated.")
	}
	d.Policy = policy
	d.version++
	o := c.beginOperation(d, "UPDATE")
	return o.render(), nil
}

func (o *databaseOperation) render() map[string]any {
	out := map[string]any{"name": "op-1", "operationType": o.kind, "status": o.status}
	if o.code != "" {
		out["error"] = map[string]any{"errors": []any{map[string]string{"code": o.code, "message": o.message}}}
	}
	return out
}

func (c *Cloud) listDatabaseOperations(q request) (any, *failure) {
	d, f := c.database(q.URL.Query().Get("instance"))
	if f != nil {
		return nil, f
	}
	items := []any{}
	for _, o := range d.operations {
		items = append(items, o.render())
	}
	return map[string]any{"items": items}, nil
}
