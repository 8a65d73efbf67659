package azuretwin

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// AddPlain adds a resource of a type without states of its own, which a PATCH merges, a PUT replaces or makes again,
// and a DELETE removes.
func (c *Cloud) AddPlain(armType, name, region string, body map[string]any) *Resource {
	r := c.addResource(armType, name, region, body)
	c.ChangeLocked(func() {
		if r.Plain = true; !slices.Contains(c.plain, armType) {
			c.plain = append(c.plain, armType)
		}
	})
	return r
}

// LockDeletion puts a lock on a resource that forbids its deletion.
func (c *Cloud) LockDeletion(r *Resource, name string) {
	c.ChangeLocked(func() {
		if c.locks == nil {
			c.locks = map[string]string{}
		}
		c.locks[r.UID()] = name
	})
}

// Has reports whether the resource of an id is there.
func (c *Cloud) Has(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.findResource(id) != nil
}

// BodyOf returns a copy of the body of the resource of an id.
func (c *Cloud) BodyOf(id string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.findResource(id)
	if r == nil {
		return nil
	}
	return cloneBody(r.Body)
}

const locksSuffix = "/providers/microsoft.authorization/locks"

// onPlain answers requests for locks and for plain resources; false for others.
func (c *Cloud) onPlain(q request) (answer, *failure, bool) {
	path := strings.ToLower(q.path)
	if of, isList := strings.CutSuffix(path, locksSuffix); isList {
		value := []any{}
		if name := c.locks[of]; name != "" {
			value = append(value, map[string]any{
				"name": name, "properties": map[string]any{"level": "CanNotDelete"},
			})
		}
		a, f := okAnswer(map[string]any{"value": value})
		return a, f, true
	}
	r := c.findResource(q.path)
	switch {
	case r != nil && r.Plain && q.Method != http.MethodGet:
		a, f := c.changePlain(q, r)
		return a, f, true
	case r == nil && q.Method == http.MethodPut && c.isPlain(path):
		a, f := c.makePlain(q)
		return a, f, true
	}
	return answer{}, nil, false
}

// isPlain reports whether a path is of a plain type.
func (c *Cloud) isPlain(path string) bool { return c.plainType(path) != "" }

func (c *Cloud) plainType(path string) string {
	_, name, _ := strings.Cut(path, "/providers/")
	parts := strings.Split(name, "/")
	words := parts[:1:1]
	for i := 1; i < len(parts); i += 2 {
		words = append(words, parts[i])
	}
	for _, t := range append(c.plain, typeSnapshot) {
		if strings.EqualFold(t, strings.Join(words, "/")) {
			return t
		}
	}
	return ""
}

const typeSnapshot = "Microsoft.Compute/snapshots"

func (c *Cloud) changePlain(q request, r *Resource) (answer, *failure) {
	switch q.Method {
	case http.MethodDelete:
		if c.locks[r.UID()] != "" {
			return answer{}, newFailure(http.StatusConflict, "ScopeLocked", "The scope cannot perform delete "+
				"operation because following scope(s) are locked: '%s'.", r.ID)
		}
		c.resources = slices.DeleteFunc(c.resources, func(o *Resource) bool { return o == r })
	case http.MethodPatch:
		merge(r.Body, q.body)
		if tags, sent := q.body["tags"].(map[string]any); sent {
			r.Body["tags"] = maps.Clone(tags)
		}
	case http.MethodPut:
		maps.Copy(r.Body, q.body)
	default:
		return answer{}, newFailure(http.StatusMethodNotAllowed, "MethodNotAllowed", "%s is not allowed", q.Method)
	}
	return okAnswer(r.Body)
}

// merge changes the objects of a definition, and leaves what a change does not name.
func merge(into, change map[string]any) {
	for name, v := range change {
		inner, is := v.(map[string]any)
		if was, had := into[name].(map[string]any); is && had {
			merge(was, inner)
			continue
		}
		into[name] = v
	}
}

// makePlain makes a resource, unless what it is a copy of is gone.
func (c *Cloud) makePlain(q request) (answer, *failure) {
	creation := objectOf(objectOf(q.body, "properties"), "creationData")
	if source := textOf(creation, "sourceResourceId"); source != "" && c.findResource(source) == nil {
		return answer{}, newFailure(http.StatusNotFound, "ResourceNotFound", "The source '%s' was not found.", source)
	}
	r := &Resource{ID: q.URL.Path, Type: c.plainType(strings.ToLower(q.path)), Plain: true, Body: cloneBody(q.body)}
	r.Body["id"], r.Body["name"] = r.ID, r.ID[strings.LastIndex(r.ID, "/")+1:]
	r.Properties()["provisioningState"] = "Succeeded"
	c.resources = append(c.resources, r)
	return answer{status: http.StatusCreated, body: r.Body}, nil
}
