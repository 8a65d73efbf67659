package gcptwin

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Managed is a resource of one of the newer APIs: a workstation or its parents, a Workbench instance, a cluster of
// Dataproc, an instance of AlloyDB. Path is its name: "projects/p/locations/l/instances/i". Body holds its fields
// besides name and state.
type Managed struct {
	Service, Path string
	State         string
	Body          map[string]any

	next string
	etag int
}

// UID is the full name.
func (m *Managed) UID() string { return "//" + m.Service + "/" + m.Path }

// AddManaged adds a resource; "" is the state of one that runs.
func (c *Cloud) AddManaged(m Managed) *Managed {
	if m.State == "" {
		m.State = managedStates[m.Service].on
	}
	c.ChangeLocked(func() { c.managed = append(c.managed, &m) })
	return &m
}

// AddWorkstation adds a workstation to a cluster and a configuration, which are made when they are not there.
func (c *Cloud) AddWorkstation(region, name string) *Managed {
	const service = "workstations.googleapis.com"
	cluster := "projects/" + Project + "/locations/" + region + "/workstationClusters/desks"
	config := cluster + "/workstationConfigs/small"
	for _, path := range []string{cluster, config} {
		if c.findManaged(path) == nil {
			c.AddManaged(Managed{
				Service: service, Path: path,
				Body: map[string]any{"host": map[string]any{
					"gceInstance": map[string]any{"machineType": "e2-standard-4"},
				}},
			})
		}
	}
	return c.AddManaged(Managed{
		Service: service, Path: config + "/workstations/" + name,
		Body: map[string]any{"createTime": "2026-03-01T16:00:00Z"},
	})
}

// AddWorkbench adds an instance of Workbench.
func (c *Cloud) AddWorkbench(zone, name string) *Managed {
	return c.AddManaged(Managed{
		Service: "notebooks.googleapis.com", Path: "projects/" + Project + "/locations/" + zone + "/instances/" + name,
		Body: map[string]any{
			"createTime": "2026-03-01T16:00:00Z",
			"gceSetup":   map[string]any{"machineType": "e2-standard-4"},
		},
	})
}

// AddSparkCluster adds a cluster of Dataproc. Secondary workers and local SSDs keep it from being stopped.
func (c *Cloud) AddSparkCluster(region, name string, secondary, localSSDs int) *Managed {
	return c.AddManaged(Managed{
		Service: "dataproc.googleapis.com", Path: "projects/" + Project + "/regions/" + region + "/clusters/" + name,
		Body: map[string]any{"projectId": Project, "clusterName": name, "config": map[string]any{
			"masterConfig": map[string]any{"numInstances": 1, "machineTypeUri": "n2-standard-4"},
			"workerConfig": map[string]any{
				"numInstances": 2, "machineTypeUri": "n2-standard-4",
				"diskConfig": map[string]any{"numLocalSsds": localSSDs},
			},
			"secondaryWorkerConfig": map[string]any{"numInstances": secondary},
		}},
	})
}

// AddAlloyInstance adds an instance of AlloyDB; kind is PRIMARY, READ_POOL or SECONDARY.
func (c *Cloud) AddAlloyInstance(region, cluster, name, kind string) *Managed {
	return c.AddManaged(Managed{
		Service: "alloydb.googleapis.com",
		Path:    "projects/" + Project + "/locations/" + region + "/clusters/" + cluster + "/instances/" + name,
		Body: map[string]any{
			"createTime": "2026-03-01T16:00:00Z", "instanceType": kind, "activationPolicy": "ALWAYS",
			"machineConfig": map[string]any{"cpuCount": 2, "machineType": "n2-highmem-2"},
		},
	})
}

// states are a service's words for running, off and changing resources.
type states struct{ on, off, starting, stopping string }

var managedStates = map[string]states{
	"workstations.googleapis.com": {"STATE_RUNNING", "STATE_STOPPED", "STATE_STARTING", "STATE_STOPPING"},
	"notebooks.googleapis.com":    {"ACTIVE", "STOPPED", "STARTING", "STOPPING"},
	"dataproc.googleapis.com":     {"RUNNING", "STOPPED", "STARTING", "STOPPING"},
	"alloydb.googleapis.com":      {"READY", "STOPPED", "STOPPED", "STOPPING"},
}

func (m *Managed) settle() {
	if m.next != "" {
		m.State, m.next = m.next, ""
	}
}

func (m *Managed) render() map[string]any {
	out := map[string]any{"name": m.Path, "state": m.State, "etag": strconv.Itoa(m.etag)}
	maps.Copy(out, m.Body)
	if m.Service == "dataproc.googleapis.com" {
		delete(out, "state")
		out["status"] = map[string]any{"state": m.State}
	}
	return out
}

func (c *Cloud) findManaged(path string) *Managed {
	n := slices.IndexFunc(c.managed, func(m *Managed) bool { return m.Path == path })
	if n < 0 {
		return nil
	}
	return c.managed[n]
}

// managedPath is the name in a path: without the version, and without the verb.
func managedPath(q request) string {
	_, path, _ := strings.Cut(strings.TrimPrefix(q.URL.Path, "/"), "/")
	path, _, _ = strings.Cut(path, ":")
	return path
}

// listManaged answers the resources directly in a collection; "-" stands for any parent.
func (c *Cloud) listManaged(q request) (any, *failure) {
	want := strings.Split(managedPath(q), "/")
	var found []any
	for _, m := range c.managed {
		have := strings.Split(m.Path, "/")
		if len(have) != len(want)+1 {
			continue
		}
		if sameButDashes(want, have[:len(want)]) {
			found = append(found, m.render())
		}
	}
	from, to, next := c.cutPage(q, len(found), "pageSize")
	return map[string]any{want[len(want)-1]: found[from:to], "nextPageToken": next}, nil
}

func sameButDashes(want, have []string) bool {
	for i := range want {
		if want[i] != have[i] && want[i] != "-" {
			return false
		}
	}
	return true
}

func (c *Cloud) managedOf(q request) (*Managed, *failure) {
	m := c.findManaged(managedPath(q))
	if m == nil {
		return nil, newFailure(http.StatusNotFound, "NOT_FOUND", "Resource '%s' was not found", managedPath(q))
	}
	return m, nil
}

func (c *Cloud) getManaged(q request) (any, *failure) {
	m, f := c.managedOf(q)
	if f != nil {
		return nil, f
	}
	return m.render(), nil
}

// turnManaged starts or stops a resource that is in the state for it.
func (c *Cloud) turnManaged(q request) (any, *failure) {
	m, f := c.managedOf(q)
	if f != nil {
		return nil, f
	}
	words := managedStates[m.Service]
	from, during, to := words.on, words.stopping, words.off
	if strings.HasSuffix(q.URL.Path, ":start") {
		from, during, to = words.off, words.starting, words.on
	}
	if m.State != from {
		return nil, newFailure(
			http.StatusBadRequest, "FAILED_PRECONDITION", "%s is in state %s, it must be in state %s", m.Path, m.State,
			from)
	}
	m.State, m.next = during, to
	m.etag++
	return map[string]any{"name": "operations/o-1", "done": false}, nil
}

// patchAlloy sets the activation policy of the version that was read.
func (c *Cloud) patchAlloy(q request) (any, *failure) {
	m, f := c.managedOf(q)
	if f != nil {
		return nil, f
	}
	if e, _ := q.body["etag"].(string); e != "" && e != strconv.Itoa(m.etag) {
		return nil, newFailure(http.StatusConflict, "ABORTED", "the instance was changed meanwhile")
	}
	policy, ok := q.body["activationPolicy"].(string)
	if !ok || q.URL.Query().Get("updateMask") != "activationPolicy" || m.next != "" {
		return nil, newFailure(http.StatusBadRequest, "FAILED_PRECONDITION", "the instance cannot be updated so now")
	}
	words := managedStates[m.Service]
	m.Body["activationPolicy"] = policy
	m.State, m.next = words.stopping, words.off
	if policy == "ALWAYS" {
		m.State, m.next = words.starting, words.on
	}
	m.etag++
	return map[string]any{"name": "operations/o-1", "done": false}, nil
}

// SetManagedState puts a resource into a state.
func (c *Cloud) SetManagedState(uid, state string) {
	c.ChangeLocked(func() {
		for _, m := range c.managed {
			if m.UID() == uid {
				m.State, m.next = state, ""
			}
		}
	})
}
