package awstwin

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Collected is a resource of a service with few resources: a WorkSpace, a service of App Runner, an instance of
// Lightsail or a canary. State "" is the service's word for running. Mode is a WorkSpace's running mode.
type Collected struct {
	Service, ID, Region string
	State, Mode         string

	next string
}

// AddCollected adds a resource, also to the index.
func (c *Cloud) AddCollected(r Collected) *Collected {
	if r.State == "" {
		r.State = collectedWords[r.Service].on
	}
	c.ChangeLocked(func() { c.collected = append(c.collected, &r) })
	c.AddIndexed(Indexed{ARN: r.ARN(), Region: r.Region, Type: collectedWords[r.Service].native})
	return &r
}

// collectedWords are each service's words for the states (running, off, starting, stopping), and the index's word for
// the type.
var collectedWords = map[string]struct{ on, off, starting, stopping, native, resource string }{
	"workspaces": {"AVAILABLE", "STOPPED", "STARTING", "STOPPING", "workspaces:workspace", "workspace/"},
	"apprunner": {
		"RUNNING", "PAUSED", "OPERATION_IN_PROGRESS", "OPERATION_IN_PROGRESS", "apprunner:service",
		"service/shop/",
	},
	"lightsail":  {"running", "stopped", "pending", "stopping", "lightsail:Instance", "Instance/0f0f-"},
	"synthetics": {"RUNNING", "STOPPED", "STARTING", "STOPPING", "synthetics:canary", "canary:"},
}

// ARN returns the ARN of the resource.
func (r *Collected) ARN() string {
	return "arn:aws:" + r.Service + ":" + r.Region + ":" + Account + ":" + collectedWords[r.Service].resource + r.ID
}

func (r *Collected) settleState() {
	if r.next != "" {
		r.State, r.next = r.next, ""
	}
}

func (r *Collected) json() map[string]any {
	switch r.Service {
	case "workspaces":
		return map[string]any{
			"WorkspaceId": r.ID, "State": r.State,
			"WorkspaceProperties": map[string]any{"RunningMode": r.Mode},
		}
	case "apprunner":
		return map[string]any{
			"ServiceArn": r.ARN(), "ServiceName": "shop", "Status": r.State,
			"CreatedAt": 1767323045.0,
		}
	case "lightsail":
		return map[string]any{
			"arn": r.ARN(), "name": r.ID, "bundleId": "nano_3_0", "createdAt": 1767323045.0,
			"state": map[string]any{"name": r.State, "code": 16},
		}
	default:
		return map[string]any{
			"Name": r.ID, "Status": map[string]any{"State": r.State},
			"EngineArn": "arn:aws:lambda:" + r.Region + ":" + Account + ":function:cwsyn-" + r.ID + ":1",
		}
	}
}

// collectedHere returns the named resources of the service and region; all of them without names.
func (c *Cloud) collectedHere(q request, names ...string) []*Collected {
	return slices.DeleteFunc(slices.Clone(c.collected), func(r *Collected) bool {
		return r.Service != q.service || r.Region != q.region || len(names) > 0 && !slices.Contains(names, r.ID) &&
			!slices.Contains(names, r.ARN())
	})
}

// listCollected returns the list operation of a service, with the names of its list and page parameters.
func listCollected(list, size, token, next string) func(*Cloud, request) (any, *failure) {
	return func(c *Cloud, q request) (any, *failure) {
		named := q.getList("WorkspaceIds")
		found := c.collectedHere(q, named...)
		from, to, more := c.cutPage(q, len(found), size, token)
		if len(named) > 0 {
			from, to, more = 0, len(found), ""
		}
		all := []map[string]any{}
		for _, r := range found[from:to] {
			all = append(all, r.json())
		}
		return withToken(map[string]any{list: all}, next, more), nil
	}
}

func (c *Cloud) oneCollected(q request, name string) (*Collected, *failure) {
	found := c.collectedHere(q, name)
	if len(found) == 0 || name == "" {
		return nil, newFailure(http.StatusNotFound, "ResourceNotFoundException", "%s was not found", name)
	}
	return found[0], nil
}

// readCollected returns the describe operation for one resource, which is in the element part of the answer.
func readCollected(part string, name func(request) string) func(*Cloud, request) (any, *failure) {
	return func(c *Cloud, q request) (any, *failure) {
		r, f := c.oneCollected(q, name(q))
		if f != nil {
			return nil, f
		}
		return map[string]any{part: r.json()}, nil
	}
}

// turnCollected returns the operation that starts or stops a resource. It refuses a resource in another state.
func turnCollected(start bool, name func(request) string) func(*Cloud, request) (any, *failure) {
	return func(c *Cloud, q request) (any, *failure) {
		r, f := c.oneCollected(q, name(q))
		if f == nil {
			f = r.turn(start)
		}
		if f != nil {
			return nil, f
		}
		return map[string]any{"Service": r.json(), "operations": []any{}}, nil
	}
}

func (r *Collected) turn(start bool) *failure {
	w := collectedWords[r.Service]
	from, during, to := w.on, w.stopping, w.off
	if start {
		from, during, to = w.off, w.starting, w.on
	}
	if r.State != from {
		return newFailure(http.StatusBadRequest, "InvalidResourceStateException", "%s is in state %s", r.ID, r.State)
	}
	r.State, r.next = during, to
	return nil
}

// turnDesktops returns the operation that starts or stops several desktops. Its answer lists those that it refused.
func turnDesktops(start bool, field string) func(*Cloud, request) (any, *failure) {
	return func(c *Cloud, q request) (any, *failure) {
		failed := []any{}
		asked, _ := q.body[field].([]any)
		for _, one := range asked {
			m, _ := one.(map[string]any)
			id, _ := m["WorkspaceId"].(string)
			r, f := c.oneCollected(q, id)
			switch {
			case f == nil && r.Mode == "ALWAYS_ON":
				f = newFailure(0, "OperationNotSupportedException", "The running mode of %s does not allow this", id)
			case f == nil:
				f = r.turn(start)
			}
			if f != nil {
				failed = append(failed,
					map[string]any{"WorkspaceId": id, "ErrorCode": f.code, "ErrorMessage": f.message})
			}
		}
		return map[string]any{"FailedRequests": failed}, nil
	}
}

func named(field string) func(request) string {
	return func(q request) string { return q.getString(field) }
}

// inPath returns the name of the canary in the path: /canary/<name>/start.
func inPath(q request) string {
	if len(q.path) < 2 {
		return ""
	}
	return q.path[1]
}

// canaryOp returns the operation of Synthetics for a method and path.
func canaryOp(path []string) string {
	switch {
	case path[0] == "canaries":
		return "DescribeCanaries"
	case strings.HasSuffix(path[len(path)-1], "start") && len(path) == 3:
		return "StartCanary"
	case len(path) == 3:
		return "StopCanary"
	}
	return "GetCanary"
}

func init() {
	maps.Copy(operations, map[string]func(*Cloud, request) (any, *failure){
		"workspaces:DescribeWorkspaces": listCollected("Workspaces", "Limit", "NextToken", "NextToken"),
		"workspaces:StartWorkspaces":    turnDesktops(true, "StartWorkspaceRequests"),
		"workspaces:StopWorkspaces":     turnDesktops(false, "StopWorkspaceRequests"),
		"apprunner:ListServices":        listCollected("ServiceSummaryList", "MaxResults", "NextToken", "NextToken"),
		"apprunner:DescribeService":     readCollected("Service", named("ServiceArn")),
		"apprunner:PauseService":        turnCollected(false, named("ServiceArn")),
		"apprunner:ResumeService":       turnCollected(true, named("ServiceArn")),
		"lightsail:GetInstances":        listCollected("instances", "", "pageToken", "nextPageToken"),
		"lightsail:StartInstance":       turnCollected(true, named("instanceName")),
		"lightsail:StopInstance":        turnCollected(false, named("instanceName")),
		"synthetics:DescribeCanaries":   listCollected("Canaries", "MaxResults", "NextToken", "NextToken"),
		"synthetics:GetCanary":          readCollected("Canary", inPath),
		"synthetics:StartCanary":        turnCollected(true, inPath),
		"synthetics:StopCanary":         turnCollected(false, inPath),
	})
}
