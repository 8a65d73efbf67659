package kubernetestwin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"strings"
)

// patchObject merges the body into the object (RFC 7386), if the object is still the version that the body names.
func (c *Cluster) patchObject(q request, o fields) (any, *failure) {
	var p fields
	if err := json.Unmarshal(q.body, &p); err != nil {
		return nil, newFailure(http.StatusBadRequest, "BadRequest", "error decoding patch: %s", err)
	}
	meta := valueAt(o, "metadata")
	if v := valueAt(p, "metadata")["resourceVersion"]; v != nil && v != meta["resourceVersion"] {
		return nil, newFailure(http.StatusConflict, "Conflict",
			"Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the "+
				"latest version and try again",
			strings.TrimSuffix(q.resource+"."+q.group, "."), q.name)
	}
	if q.sub == "scale" { // of a scale, only the replicas are the object's
		p = fields{"spec": fields{"replicas": valueAt(p, "spec")["replicas"]}}
	}
	next := mergePatch(cloneFields(o), p).(fields)
	if n := numberOf(valueAt(next, "spec")["replicas"], 0); n < 0 {
		return nil, newFailure(http.StatusUnprocessableEntity, "Invalid", "%s %q is invalid: spec.replicas: Invalid "+
			"value: %d: must be greater than or equal to 0", q.resource, q.name, n)
	}
	if f := invalidAutoscaler(q.resource, next); f != nil {
		return nil, f
	}
	if sameJSON(next, o) {
		return scaleOf(q, o), nil // a change that changes nothing makes no version
	}
	recordManager(next, o, q.query.Get("fieldManager"))
	specChanged := !sameJSON(next["spec"], o["spec"])
	clear(o)
	maps.Copy(o, next)
	if specChanged {
		c.countGeneration(o)
	} else {
		c.touchObject(o)
	}
	return scaleOf(q, o), nil
}

// scaleOf returns the object, or its scale subresource if the request is for that.
func scaleOf(q request, o fields) any {
	if q.sub != "scale" {
		return o
	}
	meta := valueAt(o, "metadata")
	return fields{
		"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": fields{"replicas": wantedReplicas(o)},
		"metadata": fields{
			"name": meta["name"], "namespace": meta["namespace"],
			"resourceVersion": meta["resourceVersion"],
		},
	}
}

// mergePatch is a JSON merge patch.
func mergePatch(into, patch any) any {
	p, ok := patch.(fields)
	if !ok {
		return patch
	}
	out, ok := into.(fields)
	if !ok {
		out = fields{}
	}
	for k, v := range p {
		if v == nil {
			delete(out, k)
		} else {
			out[k] = mergePatch(out[k], v)
		}
	}
	return out
}

// valueAt returns the object at a path; an empty one if there is none.
func valueAt(o fields, path ...string) fields {
	for _, p := range path {
		next, _ := o[p].(fields)
		o = next
	}
	if o == nil {
		return fields{}
	}
	return o
}

// numberOf reads a number, however JSON or a test spelled it.
func numberOf(v any, absent int64) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	default:
		return absent
	}
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

func placeName(ns, name string) string {
	if ns == "" {
		return name
	}
	return ns + "/" + name
}

// cloneFields copies by way of JSON, but for generations, which stay numbers of Go.
func cloneFields(o fields) fields {
	if o == nil {
		return nil
	}
	b, _ := json.Marshal(o) // maps of JSON
	var out fields
	_ = json.Unmarshal(b, &out)
	if meta, ok := out["metadata"].(fields); ok {
		meta["generation"] = numberOf(meta["generation"], 1)
	}
	return out
}

// sameJSON reports whether two values have the same JSON.
func sameJSON(a, b any) bool {
	var x, y any
	p, _ := json.Marshal(a)
	q, _ := json.Marshal(b)
	_, _ = json.Unmarshal(p, &x), json.Unmarshal(q, &y)
	return reflect.DeepEqual(x, y)
}

// Named returns an object of the namespace, with labels that its selector selects, and so many replicas.
func Named(ns, name string, replicas int) map[string]any {
	return fields{
		"metadata": fields{"namespace": ns, "name": name, "labels": fields{"app": name}},
		"spec": fields{
			"replicas": replicas, "selector": fields{"matchLabels": fields{"app": name}},
			"template": fields{"metadata": fields{"labels": fields{"app": name}}},
		},
	}
}

// Targeting returns an autoscaler of the namespace that scales the Deployment of its name.
func Targeting(ns, name string, spec map[string]any) map[string]any {
	spec["scaleTargetRef"] = fields{"kind": "Deployment", "name": name, "apiVersion": "apps/v1"}
	return fields{"metadata": fields{"namespace": ns, "name": name}, "spec": spec}
}

// Annotations returns the annotations of an object.
func Annotations(o map[string]any) map[string]string {
	out := map[string]string{}
	for k, v := range valueAt(o, "metadata", "annotations") {
		out[k] = fmt.Sprint(v)
	}
	return out
}

// Replicas returns how many replicas an object wants.
func Replicas(o map[string]any) int64 { return wantedReplicas(o) }
