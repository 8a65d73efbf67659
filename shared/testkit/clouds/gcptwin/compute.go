package gcptwin

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

const computeURL = "https://www.googleapis.com/compute/v1/projects/" + Project + "/"

// Created is when everything in the twin was made.
const Created = "2026-03-01T08:00:00.000-08:00"

// zones are those of the regions; us-down1 is not up.
var zones = map[string][]string{
	"europe-west1": {"europe-west1-b", "europe-west1-c", "europe-west1-d"},
	"us-central1":  {"us-central1-a", "us-central1-b"},
	"us-down1":     {"us-down1-a"},
}

// Instance is a Compute Engine instance.
type Instance struct {
	Name, Zone, Status string
	Group              string // the managed instance group that made it
	LocalSSDs          int
	Labels             map[string]string
	Policies           []string // names of resource policies
	NoCapacity         bool     // a start fails, later, for want of machines
	started            string   // ids of requests that were done
}

// UID is the full name of the instance.
func (i *Instance) UID() string {
	return "//compute.googleapis.com/projects/" + Project + "/zones/" + i.Zone + "/instances/" + i.Name
}

// AddInstance adds an instance; it runs unless its status says otherwise.
func (c *Cloud) AddInstance(i Instance) *Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	i.Status = cmp.Or(i.Status, "RUNNING")
	c.instances = append(c.instances, &i)
	return &i
}

// AddPolicy adds a resource policy of the region; it is a schedule of instances, or one of snapshots.
func (c *Cloud) AddPolicy(name string, schedule bool) {
	c.ChangeLocked(func() {
		if c.policies == nil {
			c.policies = map[string]bool{}
		}
		c.policies[name] = schedule
	})
}

func (i *Instance) settle() {
	switch i.Status {
	case "STOPPING":
		i.Status = "TERMINATED"
	case "SUSPENDING":
		i.Status = "SUSPENDED"
	case "PROVISIONING", "STAGING":
		if i.Status = "RUNNING"; i.NoCapacity {
			i.Status = "TERMINATED"
		}
	}
}

func (i *Instance) fields() map[string]string {
	return map[string]string{"name": i.Name, "zone": computeURL + "zones/" + i.Zone}
}

func (i *Instance) render() map[string]any {
	out := map[string]any{
		"kind": "compute#instance", "id": "7", "name": i.Name, "zone": computeURL + "zones/" + i.Zone,
		"status":      i.Status,
		"machineType": computeURL + "zones/" + i.Zone + "/machineTypes/e2-medium", "creationTimestamp": Created,
		"labels":   i.Labels,
		"selfLink": computeURL + "zones/" + i.Zone + "/instances/" + i.Name, "lastStopTimestamp": Created,
	}
	disks := []any{map[string]any{"type": "PERSISTENT", "boot": true}}
	for range i.LocalSSDs {
		disks = append(disks, map[string]any{"type": "SCRATCH"})
	}
	out["disks"] = disks
	if i.Group != "" {
		made := "projects/" + ProjectNumber + "/zones/" + i.Zone + "/instanceGroupManagers/" + i.Group
		out["metadata"] = map[string]any{"items": []any{map[string]string{"key": "created-by", "value": made}}}
	}
	region := i.Zone[:strings.LastIndex(i.Zone, "-")]
	policies := []string{}
	for _, p := range i.Policies {
		policies = append(policies, computeURL+"regions/"+region+"/resourcePolicies/"+p)
	}
	out["resourcePolicies"] = policies
	return out
}

func (c *Cloud) listRegions(request) (any, *failure) {
	var items []any
	for name := range zones {
		status := "UP"
		if name == "us-down1" {
			status = "DOWN"
		}
		items = append(items, map[string]any{"name": name, "status": status})
	}
	return map[string]any{"items": items}, nil
}

// getRegion answers a region with its zones.
func (c *Cloud) getRegion(q request) (any, *failure) {
	links := []string{}
	for _, z := range zones[q.args[1]] {
		links = append(links, "https://www.googleapis.com/compute/v1/projects/"+Project+"/zones/"+z)
	}
	return map[string]any{"name": q.args[1], "status": "UP", "zones": links}, nil
}

// aggregateList answers an aggregated list: a page of things, by their scopes.
func (c *Cloud) aggregateList(q request, name string, scopes []string, things []map[string]any) any {
	from, to, next := c.cutPage(q, len(things), "maxResults")
	items := map[string]map[string]any{}
	for _, z := range zones["europe-west1"] {
		items["zones/"+z] = map[string]any{"warning": map[string]any{"code": "NO_RESULTS_ON_PAGE"}}
	}
	for i := from; i < to; i++ {
		s := items[scopes[i]]
		if s == nil || s["warning"] != nil {
			s = map[string]any{}
			items[scopes[i]] = s
		}
		list, _ := s[name].([]map[string]any)
		s[name] = append(list, things[i])
	}
	out := map[string]any{"items": items}
	if next != "" {
		out["nextPageToken"] = next
	}
	if len(c.Unreachable) > 0 && q.URL.Query().Get("returnPartialSuccess") == "true" {
		out["unreachables"] = c.Unreachable
	}
	return out
}

// unreachableFailure fails a listing that wants all or nothing.
func (c *Cloud) unreachableFailure(q request) *failure {
	if len(c.Unreachable) > 0 && q.URL.Query().Get("returnPartialSuccess") != "true" {
		return newFailure(http.StatusServiceUnavailable, "backendError", "%s did not answer", c.Unreachable[0])
	}
	return nil
}

func (c *Cloud) aggregateInstances(q request) (any, *failure) {
	if f := c.unreachableFailure(q); f != nil {
		return nil, f
	}
	var scopes []string
	var things []map[string]any
	for _, i := range c.instances {
		if matchesFilter(q, i.fields()) {
			scopes, things = append(scopes, "zones/"+i.Zone), append(things, i.render())
		}
	}
	return c.aggregateList(q, "instances", scopes, things), nil
}

func (c *Cloud) listInstances(q request) (any, *failure) {
	items := []any{}
	for _, i := range c.instances {
		if i.Zone == q.args[1] && matchesFilter(q, i.fields()) {
			items = append(items, i.render())
		}
	}
	return map[string]any{"items": items}, nil
}

func (c *Cloud) instance(q request) (*Instance, *failure) {
	n := slices.IndexFunc(c.instances, func(i *Instance) bool { return i.Zone == q.args[1] && i.Name == q.args[2] })
	if n < 0 {
		return nil, missingFailure("projects/%s/zones/%s/instances/%s", q.args[0], q.args[1], q.args[2])
	}
	return c.instances[n], nil
}

// change makes an instance go from one of the states to another one; a request id is done once.
func (c *Cloud) change(q request, to string, from ...string) (any, *failure) {
	i, f := c.instance(q)
	if f != nil {
		return nil, f
	}
	id := q.URL.Query().Get("requestId")
	if id != "" && strings.Contains(i.started, id) {
		return c.instanceOperation(q, i), nil
	}
	i.started += id
	if slices.Contains(from, i.Status) {
		i.Status = to
	} else if strings.HasSuffix(i.Status, "ING") && i.Status != "RUNNING" {
		return nil, newFailure(http.StatusBadRequest, "resourceNotReady", "The resource '%s' is not ready", i.Name)
	}
	return c.instanceOperation(q, i), nil
}

func (c *Cloud) instanceOperation(q request, i *Instance) any {
	o := &operation{
		name: fmt.Sprint("operation-", c.nextNumber()), scope: "zones/" + i.Zone,
		kind: q.op[strings.LastIndex(q.op, ".")+1:], target: i.UID(),
	}
	if o.kind != "stop" && i.NoCapacity {
		o.apply = func() {
			o.code, o.message = "ZONE_RESOURCE_POOL_EXHAUSTED",
				"The zone '"+i.Zone+"' does not have enough resources available to fulfill the request."
		}
	}
	c.operations = append(c.operations, o)
	return o.render()
}

// stopInstance refuses an instance with local SSDs unless the request has discardLocalSsd.
func (c *Cloud) stopInstance(q request) (any, *failure) {
	i, f := c.instance(q)
	if f == nil && i.LocalSSDs > 0 && q.URL.Query().Get("discardLocalSsd") == "" {
		return nil, newFailure(http.StatusBadRequest, "badRequest", "You must specify whether to discard local SSD "+
			"data with discardLocalSsd.")
	}
	return c.change(q, "STOPPING", "RUNNING", "SUSPENDED")
}

// startInstance refuses a suspended instance, which must be resumed.
func (c *Cloud) startInstance(q request) (any, *failure) {
	i, f := c.instance(q)
	if f == nil && i.Status == "SUSPENDED" {
		return nil, newFailure(http.StatusBadRequest, "badRequest", "Instance is suspended; use resume.")
	}
	return c.change(q, "PROVISIONING", "TERMINATED")
}

func (c *Cloud) resumeInstance(q request) (any, *failure) {
	return c.change(q, "PROVISIONING", "SUSPENDED")
}

func (c *Cloud) getPolicy(q request) (any, *failure) {
	schedule, ok := c.policies[q.args[2]]
	switch {
	case !ok:
		return nil, missingFailure("projects/%s/regions/%s/resourcePolicies/%s", q.args[0], q.args[1], q.args[2])
	case schedule:
		return map[string]any{"name": q.args[2], "instanceSchedulePolicy": map[string]any{"timeZone": "UTC"}}, nil
	default:
		return map[string]any{"name": q.args[2], "snapshotSchedulePolicy": map[string]any{}}, nil
	}
}

// operation is something under way. It ends when it has been looked at twice, or when everything settles.
type operation struct {
	name, scope, kind, target string
	gke                       bool
	seen                      int
	done                      bool
	code, message             string
	apply                     func() // makes the change at its end
}

func (o *operation) end() {
	if !o.done && o.apply != nil {
		o.apply()
	}
	o.done = true
}

func (o *operation) status() string {
	if o.done {
		return "DONE"
	}
	return "RUNNING"
}

func (o *operation) render() map[string]any {
	out := map[string]any{
		"name": o.name, "status": o.status(), "operationType": o.kind, "targetLink": o.target,
		"insertTime": time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC).Format(time.RFC3339),
	}
	if o.code != "" && o.gke {
		out["error"] = map[string]any{"code": 8, "message": o.message}
	} else if o.code != "" {
		out["error"] = map[string]any{"errors": []any{map[string]string{"code": o.code, "message": o.message}}}
		out["httpErrorStatusCode"] = 503
	}
	return out
}

func (c *Cloud) getOperation(q request) (any, *failure) {
	name := q.args[len(q.args)-1]
	for _, o := range c.operations {
		if o.name == name {
			if o.seen++; o.seen > 1 && !c.Slow {
				o.end()
			}
			return o.render(), nil
		}
	}
	return nil, missingFailure("operations/%s", name)
}

// listOperations lists those of a zone, the newest first.
func (c *Cloud) listOperations(q request) (any, *failure) {
	items := []any{}
	for _, o := range slices.Backward(c.operations) {
		if o.scope == "zones/"+q.args[1] && matchesFilter(q, map[string]string{"operationType": o.kind}) {
			items = append(items, o.render())
		}
	}
	return map[string]any{"items": items}, nil
}
