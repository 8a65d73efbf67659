package gcptwin

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// AddPlain adds a resource at the path of its address ("/compute/v1/projects/…"), which a PATCH merges, a POST to its
// list makes again, and a DELETE removes.
func (c *Cloud) AddPlain(path string, body map[string]any) {
	c.ChangeLocked(func() {
		if c.plain == nil {
			c.plain = map[string]map[string]any{}
		}
		c.plain[path] = clonePlain(body)
	})
}

// Plain returns a copy of the resource at a path; nil if there is none.
func (c *Cloud) Plain(path string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plain[path] == nil {
		return nil
	}
	return clonePlain(c.plain[path])
}

func clonePlain(body map[string]any) map[string]any {
	raw, err := json.Marshal(body)
	out := map[string]any{}
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err) // of a test's own literal
	}
	return out
}

// plainOp returns the operation of a request for a plain resource, "" for another request.
func (c *Cloud) plainOp(q request) string {
	path := q.URL.Path
	at, last := path[:max(strings.LastIndex(path, "/"), 0)], path[strings.LastIndex(path, "/")+1:]
	collection := at[strings.LastIndex(at, "/")+1:]
	word := map[string]string{
		http.MethodGet: "get", http.MethodPatch: "update", http.MethodDelete: "delete",
	}[q.Method]
	switch {
	case c.plain[path] != nil && word != "":
		return plainGroup(path) + "." + collection + "." + word
	case q.Method == http.MethodPost && c.plain != nil:
		return c.plainPost(q, at, last)
	case c.plain != nil && word != "" && q.op == q.Method+" "+path:
		return plainGroup(path) + "." + collection + "." + word
	}
	return ""
}

// plainPost returns the operation of a POST to a plain resource, or to the list of one; "" for another request.
func (c *Cloud) plainPost(q request, at, last string) string {
	up := at[:max(strings.LastIndex(at, "/"), 0)]
	switch {
	case c.plain[at] != nil:
		return plainGroup(at) + "." + up[strings.LastIndex(up, "/")+1:] + "." + last
	case q.body["name"] != nil && q.op == "POST "+q.URL.Path:
		return plainGroup(at) + "." + last + ".create"
	}
	return ""
}

// plainGroup returns the service of an address, as permissions name it.
func plainGroup(path string) string {
	service, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return service
}

func (c *Cloud) answerPlain(q request) (any, *failure) {
	path := q.URL.Path
	at, last := path[:strings.LastIndex(path, "/")], path[strings.LastIndex(path, "/")+1:]
	switch {
	case q.Method == http.MethodPost && c.plain[at] != nil:
		return c.callPlain(q, at, last)
	case q.Method == http.MethodPost:
		name, _ := q.body["name"].(string)
		c.plain[path+"/"+name] = clonePlain(q.body)
		return doneOperation(), nil
	case c.plain[path] == nil:
		return nil, missingFailure("%s", path)
	case q.Method == http.MethodDelete:
		delete(c.plain, path)
		return doneOperation(), nil
	case q.Method == http.MethodPatch:
		mergePlain(c.plain[path], q.body)
		return doneOperation(), nil
	}
	return c.plain[path], nil
}

func doneOperation() any {
	return map[string]any{"name": "operation-1", "status": "DONE", "done": true}
}

// callPlain makes a call of one resource.
func (c *Cloud) callPlain(q request, at, call string) (any, *failure) {
	own := c.plain[at]
	switch call {
	case "setLabels":
		if q.body["labelFingerprint"] != own["labelFingerprint"] {
			return nil, newFailure(http.StatusPreconditionFailed, "conditionNotMet", "Labels fingerprint either "+
				"invalid or resource labels have changed")
		}
		own["labels"] = q.body["labels"]
		own["labelFingerprint"] = text(own, "labelFingerprint") + "x"
	case "setMachineType":
		own["machineType"] = "https://www.googleapis.com/compute/v1/projects/" + Project + "/" + text(q.body,
			"machineType")
	case "createSnapshot":
		snapshot := maps.Clone(q.body)
		snapshot["status"] = "READY"
		c.plain["/compute/v1/projects/"+Project+"/global/snapshots/"+text(q.body, "name")] = snapshot
	default:
		return nil, missingFailure("%s", call)
	}
	return doneOperation(), nil
}

func text(m map[string]any, name string) string {
	s, _ := m[name].(string)
	return s
}

// mergePlain changes the objects of a definition, and leaves what a change does not name.
func mergePlain(into, change map[string]any) {
	for name, v := range change {
		inner, is := v.(map[string]any)
		if was, had := into[name].(map[string]any); is && had {
			mergePlain(was, inner)
			continue
		}
		into[name] = v
	}
}
