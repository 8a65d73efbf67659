package azuretwin

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Resource is a resource of the twin. Body is its answer to a GET. Power is of machines alone, which show it in their
// instance view.
type Resource struct {
	ID, Type     string
	Body         map[string]any
	Power        string
	Metrics      map[string][]float64 // by name, a value for each bucket of a request; a negative one is a gap
	MetricErrors map[string]string    // by name, the error code in the place of a metric
	Locked       bool                 // by a lock ReadOnly
	Plain        bool                 // see AddPlain
	Endpoint     string               // of the API server of a cluster
	Authority    []byte               // PEM
	Fails        *failure             // the next verb is accepted, and fails
	failed       *failure             // the last one did
	next         func()               // sets the final state
	settledPower string               // the state before the verb that is under way
}

// UID is the id in lower case.
func (r *Resource) UID() string { return strings.ToLower(r.ID) }

// Properties is the part of the body that is the type's own.
func (r *Resource) Properties() map[string]any { return objectOf(r.Body, "properties") }

func objectOf(m map[string]any, name string) map[string]any {
	p, ok := m[name].(map[string]any)
	if !ok {
		p = map[string]any{}
		m[name] = p
	}
	return p
}

// FailNext makes the next verb on the resource be accepted and fail later, as a start does where there is no room.
func (c *Cloud) FailNext(r *Resource, code, message string) {
	c.ChangeLocked(func() { r.Fails = newFailure(http.StatusConflict, code, "%s", message) })
}

// addResource puts a resource in, with everything in its body as JSON has it.
func (c *Cloud) addResource(armType, path, location string, body map[string]any) *Resource {
	c.mu.Lock()
	defer c.mu.Unlock()
	parts := strings.Split(path, "/")
	r := &Resource{
		ID:   fmt.Sprintf("/subscriptions/%s/resourceGroups/Group-1/providers/%s", Subscription, named(armType, parts)),
		Type: armType, Body: cloneBody(body),
	}
	r.Body["id"], r.Body["name"], r.Body["type"] = r.ID, parts[len(parts)-1], armType
	if location != "" {
		r.Body["location"] = location
	}
	c.resources = append(c.resources, r)
	return r
}

// named puts names into a type: Microsoft.Sql/servers/databases and s1/db make Microsoft.Sql/servers/s1/databases/db.
func named(armType string, names []string) string {
	parts := strings.Split(armType, "/")
	words := parts[:1:1]
	for i, p := range parts[1:] {
		words = append(words, p, names[i])
	}
	return strings.Join(words, "/")
}

func cloneBody(m map[string]any) map[string]any {
	raw, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("the twin cannot copy %+v: %v", m, err))
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil || out == nil {
		out = map[string]any{}
	}
	return out
}

func (c *Cloud) findResource(id string) *Resource {
	for _, r := range c.resources {
		if strings.EqualFold(r.ID, id) {
			return r
		}
	}
	return nil
}

// SettleAll completes all changes under way; then autoscalers act.
func (c *Cloud) SettleAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.resources {
		if r.next != nil {
			next := r.next
			r.next = nil
			next()
		}
	}
	for _, o := range c.ops {
		o.done = true
	}
	c.autoscale()
}

// autoscale brings scale sets into the bounds of their enabled settings.
func (c *Cloud) autoscale() {
	for _, s := range c.resources {
		if s.Type != typeSetting || s.Properties()["enabled"] != true {
			continue
		}
		target := c.findResource(fmt.Sprint(s.Properties()["targetResourceUri"]))
		if target == nil || target.next != nil {
			continue
		}
		sku, least, most := objectOf(target.Body, "sku"), bound(s, "minimum"), bound(s, "maximum")
		n, _ := sku["capacity"].(float64)
		sku["capacity"] = max(least, min(n, most))
	}
}

// bound is a bound of the setting's first profile.
func bound(s *Resource, name string) float64 {
	profiles, _ := s.Properties()["profiles"].([]any)
	profile, _ := profiles[0].(map[string]any)
	var n float64
	if _, err := fmt.Sscan(fmt.Sprint(objectOf(profile, "capacity")[name]), &n); err != nil {
		panic(fmt.Sprintf("setting %s: %s: %v", s.ID, name, err))
	}
	return n
}

// renderResource returns the answer to a GET: a cluster includes its pools, a machine includes its instance view on
// request.
func (c *Cloud) renderResource(r *Resource, expanded bool) map[string]any {
	body := cloneBody(r.Body)
	switch {
	case r.Type == typeCluster:
		pools := []any{}
		for _, p := range c.resources {
			if p.Type == typePool && strings.HasPrefix(p.UID(), r.UID()+"/") {
				profile := maps.Clone(p.Properties())
				profile["name"] = p.Body["name"]
				pools = append(pools, profile)
			}
		}
		objectOf(body, "properties")["agentPoolProfiles"] = pools
	case r.Type == typeMachine && expanded:
		statuses := []any{map[string]any{"code": "ProvisioningState/succeeded", "level": "Info"}}
		if r.failed != nil {
			statuses[0] = map[string]any{
				"code": "ProvisioningState/failed/" + r.failed.code, "level": "Error",
				"message": r.failed.message,
			}
		}
		if r.Power != "" {
			statuses = append(statuses, map[string]any{"code": "PowerState/" + r.Power, "level": "Info"})
		}
		objectOf(body, "properties")["instanceView"] = map[string]any{"statuses": statuses}
	}
	return body
}

// answerOperation answers for a long-running one.
func (c *Cloud) answerOperation(q request) (answer, *failure) {
	var n int
	if _, err := fmt.Sscan(q.path[strings.LastIndex(q.path, "/")+1:], &n); err != nil || n < 0 || n >= len(c.ops) {
		return answer{}, newFailure(http.StatusNotFound, "NotFound", "There is no operation %s.", q.path)
	}
	o := c.ops[n]
	switch {
	case !o.done:
		return answer{
			status: http.StatusOK, header: map[string]string{"Retry-After": "5"},
			body: map[string]any{"status": "InProgress"},
		}, nil
	case o.failure != nil:
		return okAnswer(map[string]any{
			"status": "Failed",
			"error":  map[string]any{"code": o.failure.code, "message": o.failure.message},
		})
	default:
		return okAnswer(map[string]any{"status": "Succeeded"})
	}
}

// acceptedAnswer is the answer to an act that takes time.
func (c *Cloud) acceptedAnswer(q request, r *Resource, next func()) answer {
	o := &operation{resource: r}
	c.ops = append(c.ops, o)
	fails := r.Fails
	before := cloneBody(r.Body)
	power := r.Power
	r.Fails, r.failed, o.failure = nil, nil, fails
	r.next = func() {
		if fails != nil {
			r.failed, r.Body = fails, before
			if r.Power = power; r.Power != "" {
				r.Power = r.settledPower
			}
			r.Properties()["provisioningState"] = "Failed"
			return
		}
		next()
	}
	namespace, _, _ := strings.Cut(r.Type, "/")
	link := fmt.Sprintf("https://%s/subscriptions/%s/providers/%s/locations/westeurope/operations/%d?api-version=%s",
		q.Host, Subscription, namespace, len(c.ops)-1, q.URL.Query().Get("api-version"))
	return answer{
		status: http.StatusAccepted,
		header: map[string]string{"Azure-AsyncOperation": link, "Location": link, "Retry-After": "10"},
	}
}

func (c *Cloud) onResource(q request) (answer, *failure) {
	if a, f, own := c.onPlain(q); own {
		return a, f
	}
	if r := c.findResource(q.path); r != nil {
		switch q.Method {
		case http.MethodGet:
			return okAnswer(c.renderResource(r, q.URL.Query().Get("$expand") == "instanceView"))
		case http.MethodPut, http.MethodPatch:
			return c.changeResource(q, r)
		case http.MethodDelete:
			return c.deleteSetting(r)
		}
	} else if q.Method == http.MethodPut &&
		strings.Contains(strings.ToLower(q.path), strings.ToLower("/"+typeSetting+"/")) {
		return c.makeSetting(q)
	}
	at := strings.LastIndex(q.path, "/")
	if r := c.findResource(q.path[:at]); r != nil && q.Method == http.MethodPost && slices.Contains(types, r.Type) {
		return c.actOn(q, r, q.path[at+1:])
	}
	return answer{}, newFailure(http.StatusNotFound, "ResourceNotFound", "The Resource '%s' under resource group "+
		"'Group-1' was not found.", q.URL.Path)
}
