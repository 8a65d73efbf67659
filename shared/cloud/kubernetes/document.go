package kubernetes

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	k8sjson "sigs.k8s.io/json"

	"lamplighter.dev/shared/cloud"
)

// document is an object of the API with all of its fields. Whole numbers are int64.
type document map[string]any

func decodeDocument(raw []byte) (document, error) {
	var d document
	if err := k8sjson.UnmarshalCaseSensitivePreserveInts(raw, &d); err != nil {
		return nil, cloud.ErrInvalid("the definition of an object cannot be read: %s", err)
	}
	return d, nil
}

// clone copies a document by way of JSON, which holds all of it.
func (d document) clone() document {
	out, err := decodeDocument(encodeSnapshot(d))
	if err != nil {
		return document{}
	}
	return out
}

// path names a field. A "[]" on it stands for each item of a list of objects with a name, such as containers.
type path []string

const eachItem = "[]"

// at returns the value of a field, nil if there is none. The path has no lists.
func (d document) at(p ...string) any { return nestedValue(d, p...) }

func (d document) text(p ...string) string {
	s, _ := d.at(p...).(string)
	return s
}

func (d document) number(p ...string) int64 {
	n, _ := d.at(p...).(int64)
	return n
}

// put sets a field, and makes the objects on its way. A nil value removes the field.
func (d document) put(value any, p ...string) {
	m := map[string]any(d)
	for _, name := range p[:len(p)-1] {
		next, is := m[name].(map[string]any)
		if !is {
			if value == nil {
				return
			}
			next = map[string]any{}
			m[name] = next
		}
		m = next
	}
	if value == nil {
		delete(m, p[len(p)-1])
		return
	}
	m[p[len(p)-1]] = value
}

// items returns the objects of a list.
func (d document) items(p ...string) []document {
	list, _ := d.at(p...).([]any)
	out := make([]document, 0, len(list))
	for _, item := range list {
		m, _ := item.(map[string]any)
		out = append(out, m)
	}
	return out
}

// copyField gives a field the value that it has in another object; what that does not have is removed. Items of lists
// that only one of the two has stay as they are.
func copyField(into, from map[string]any, p path) {
	name := p[0]
	if len(p) == 1 {
		if v, there := from[name]; there {
			into[name] = v
		} else {
			delete(into, name)
		}
		return
	}
	if p[1] == eachItem {
		copyItems(into[name], from[name], p[2:])
		return
	}
	source, there := from[name].(map[string]any)
	under, is := into[name].(map[string]any)
	if !is {
		if !there {
			return
		}
		under = map[string]any{}
		into[name] = under
	}
	if copyField(under, source, p[1:]); !there && len(under) == 0 {
		delete(into, name)
	}
}

func copyItems(into, from any, p path) {
	sources, _ := from.([]any)
	named := map[any]map[string]any{}
	for _, item := range sources {
		if m, is := item.(map[string]any); is {
			named[m["name"]] = m
		}
	}
	list, _ := into.([]any)
	for _, item := range list {
		if m, _ := item.(map[string]any); m != nil && named[m["name"]] != nil {
			copyField(m, named[m["name"]], p)
		}
	}
}

// only returns an object with nothing but some fields of a document, and the names of the items of lists.
func (d document) only(fields []path) document {
	out := document{}
	for _, p := range fields {
		keepField(out, d, p)
	}
	return out
}

func keepField(into, from map[string]any, p path) {
	name := p[0]
	v, there := from[name]
	switch {
	case !there:
	case len(p) == 1:
		into[name] = v
	case p[1] == eachItem:
		into[name] = keepItems(into[name], v, p[2:])
	default:
		source, _ := v.(map[string]any)
		under, is := into[name].(map[string]any)
		if !is {
			under = map[string]any{}
			into[name] = under
		}
		keepField(under, source, p[1:])
	}
}

// keepItems adds a field to the kept items of a list. kept has none or as many items as the list.
func keepItems(kept, list any, p path) []any {
	items, _ := list.([]any)
	out, _ := kept.([]any)
	for i, item := range items {
		m, _ := item.(map[string]any)
		if i == len(out) {
			out = append(out, map[string]any{"name": m["name"]})
		}
		into, _ := out[i].(map[string]any)
		keepField(into, m, p)
	}
	return out
}

// differenceTo returns the merge patch that makes a document another one; it is empty if they are the same.
func (d document) differenceTo(next document) map[string]any { return mapDifference(d, next) }

func mapDifference(from, to map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range to {
		was, had := from[name]
		if had && reflect.DeepEqual(was, v) {
			continue
		}
		before, isMap := was.(map[string]any)
		after, areMaps := v.(map[string]any)
		if isMap && areMaps {
			out[name] = mapDifference(before, after)
			continue
		}
		out[name] = v
	}
	for name := range from {
		if _, stays := to[name]; !stays {
			out[name] = nil
		}
	}
	return out
}

// definition returns what makes an object again: without what the cluster sets, and the mark of a change.
func (d document) definition() document {
	out := d.clone()
	delete(out, "status")
	meta, _ := out["metadata"].(map[string]any)
	for _, name := range []string{
		"managedFields", "resourceVersion", "uid", "creationTimestamp", "generation",
		"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds",
	} {
		delete(meta, name)
	}
	out.put(nil, "metadata", "labels", cloud.MarkTag)
	if labels, _ := meta["labels"].(map[string]any); len(labels) == 0 {
		delete(meta, "labels")
	}
	return out
}

// isSameBut reports whether two reads of an object differ in nothing but what controllers report of it.
func (d document) isSameBut(other document) bool {
	return reflect.DeepEqual(d.asWanted(), other.asWanted())
}

// asWanted is an object without its status and the marks of its versions.
func (d document) asWanted() document {
	out := maps.Clone(d)
	delete(out, "status")
	meta, _ := d["metadata"].(map[string]any)
	meta = maps.Clone(meta)
	delete(meta, "resourceVersion")
	delete(meta, "managedFields")
	delete(meta, "generation")
	notes, _ := meta["annotations"].(map[string]any)
	meta["annotations"] = withoutCounts(notes)
	out["metadata"] = meta
	return out
}

// countingNotes are the annotations in which controllers count the templates that a workload has had.
var countingNotes = []string{"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"}

// withoutCounts returns annotations without those in which controllers count.
func withoutCounts(notes map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range notes {
		if !slices.Contains(countingNotes, name) {
			out[name] = v
		}
	}
	return out
}

// json returns the document as it is stored.
func (d document) json() json.RawMessage { return encodeSnapshot(d) }
