package kubernetestwin

import (
	"encoding/json"
	"net/http"
	"strings"
)

// createObject adds an object that is not there yet.
func (c *Cluster) createObject(q request) (any, *failure) {
	var o fields
	if err := json.Unmarshal(q.body, &o); err != nil {
		return nil, newFailure(http.StatusBadRequest, "BadRequest", "error decoding: %s", err)
	}
	meta := valueAt(o, "metadata")
	if c.objects[q.resource][placeName(q.ns, textOf(meta["name"]))] != nil {
		return nil, newFailure(
			http.StatusConflict, "AlreadyExists", "%s %q already exists",
			strings.TrimSuffix(q.resource+"."+q.group, "."), textOf(meta["name"]))
	}
	if f := invalidAutoscaler(q.resource, o); f != nil {
		return nil, f
	}
	meta["namespace"] = q.ns
	c.addObject(q.resource, o)
	return o, nil
}

// deleteObject removes an object, if it is still the one whose uid the body names.
func (c *Cluster) deleteObject(q request, o fields) (any, *failure) {
	var options fields
	_ = json.Unmarshal(q.body, &options) // no body is no condition
	if uid := valueAt(options, "preconditions")["uid"]; uid != nil && uid != valueAt(o, "metadata")["uid"] {
		return nil, newFailure(http.StatusConflict, "Conflict", "Precondition failed: UID in precondition: %v, UID "+
			"in object meta: %v", uid, valueAt(o, "metadata")["uid"])
	}
	is := valueAt(o, "metadata")["resourceVersion"]
	if v := valueAt(options, "preconditions")["resourceVersion"]; v != nil && v != is {
		return nil, newFailure(http.StatusConflict, "Conflict", "Precondition failed: ResourceVersion in "+
			"precondition: %v, ResourceVersion in object meta: %v", v, is)
	}
	delete(c.objects[q.resource], q.place())
	return fields{"kind": "Status", "apiVersion": "v1", "status": "Success"}, nil
}

// invalidAutoscaler refuses an autoscaler as an API server does. It gives an autoscaler without metrics the default
// metric.
func invalidAutoscaler(resource string, o fields) *failure {
	if resource != "horizontalpodautoscalers" {
		return nil
	}
	spec := valueAt(o, "spec")
	least, most := numberOf(spec["minReplicas"], 1), numberOf(spec["maxReplicas"], 0)
	if least < 1 || most < least {
		return newFailure(http.StatusUnprocessableEntity, "Invalid",
			"spec.minReplicas: Invalid value: %d: must be from 1 to maxReplicas %d", least, most)
	}
	if spec["metrics"] == nil {
		spec["metrics"] = []any{fields{
			"type":     "Resource",
			"resource": fields{"name": "cpu", "target": fields{"type": "Utilization", "averageUtilization": 80}},
		}}
	}
	return nil
}
