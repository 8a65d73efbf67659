package gcptwin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Group is a managed instance group, of a zone or of a region.
type Group struct {
	Name, Zone, Region string // one of zone and region
	Size               int64
	Up                 int64 // instances that it has
	Stateful           bool
	GKE                bool
	NoCapacity         bool // it never gets more instances
	Scaler             *Scaler
}

// Scaler is the autoscaler of a group, of the same name.
type Scaler struct {
	Min, Max    int64
	Mode        string
	Description string
	CPU         float64 // utilization target; 0 without a rule for it
	Cooldown    int64
}

func (g *Group) scope() string {
	if g.Zone != "" {
		return "zones/" + g.Zone
	}
	return "regions/" + g.Region
}

// UID is the full name of the group.
func (g *Group) UID() string {
	return "//compute.googleapis.com/projects/" + Project + "/" + g.scope() + "/instanceGroupManagers/" + g.Name
}

// AddGroup adds a group, which has arrived at its size.
func (c *Cloud) AddGroup(g Group) *Group {
	c.mu.Lock()
	defer c.mu.Unlock()
	g.Up = g.Size
	c.groups = append(c.groups, &g)
	return &g
}

func (g *Group) settle() {
	if s := g.Scaler; s != nil && s.Mode == "ON" && g.Size > 0 {
		g.Size = min(max(g.Size, s.Min), s.Max)
	}
	if g.Up > g.Size || !g.NoCapacity {
		g.Up = g.Size
	}
}

func (g *Group) render() map[string]any {
	base := g.Name + "-vm"
	if g.GKE {
		base = strings.TrimSuffix(g.Name, "-grp")
	}
	actions := map[string]any{
		"none": min(g.Up, g.Size), "creating": max(g.Size-g.Up, 0),
		"deleting": max(g.Up-g.Size, 0),
	}
	status := map[string]any{"isStable": g.Up == g.Size, "stateful": map[string]any{"hasStatefulConfig": g.Stateful}}
	if g.Scaler != nil {
		status["autoscaler"] = computeURL + g.scope() + "/autoscalers/" + g.Name
	}
	out := map[string]any{
		"name": g.Name, "baseInstanceName": base, "targetSize": g.Size, "currentActions": actions, "status": status,
		"creationTimestamp": Created,
		"instanceTemplate":  computeURL + "global/instanceTemplates/web-1",
		"selfLink":          computeURL + g.scope() + "/instanceGroupManagers/" + g.Name,
	}
	if g.Zone != "" {
		out["zone"] = computeURL + "zones/" + g.Zone
	} else {
		out["region"] = computeURL + "regions/" + g.Region
	}
	return out
}

func (g *Group) renderScaler() map[string]any {
	out := map[string]any{
		"name": g.Name, "target": computeURL + g.scope() + "/instanceGroupManagers/" + g.Name,
		"description": g.Scaler.Description, "status": "ACTIVE",
	}
	policy := map[string]any{
		"minNumReplicas": g.Scaler.Min, "maxNumReplicas": g.Scaler.Max, "mode": g.Scaler.Mode,
		"coolDownPeriodSec": g.Scaler.Cooldown,
	}
	if out["autoscalingPolicy"] = policy; g.Scaler.CPU > 0 {
		policy["cpuUtilization"] = map[string]any{"utilizationTarget": g.Scaler.CPU, "predictiveMethod": "NONE"}
	}
	if g.NoCapacity {
		out["statusDetails"] = []any{map[string]string{
			"type":    "ZONE_RESOURCE_STOCKOUT",
			"message": "The zone has no machines of this type left",
		}}
	}
	return out
}

func (g *Group) fields() map[string]string {
	if g.Zone == "" {
		return map[string]string{"name": g.Name, "region": computeURL + "regions/" + g.Region}
	}
	return map[string]string{"name": g.Name, "zone": computeURL + "zones/" + g.Zone}
}

// aggregateThe lists the groups that render accepts, as render returns them.
func (c *Cloud) aggregateThe(q request, name string, render func(*Group) map[string]any) (any, *failure) {
	if f := c.unreachableFailure(q); f != nil {
		return nil, f
	}
	var scopes []string
	var things []map[string]any
	for _, g := range c.groups {
		if r := render(g); r != nil && matchesFilter(q, g.fields()) {
			scopes, things = append(scopes, g.scope()), append(things, r)
		}
	}
	return c.aggregateList(q, name, scopes, things), nil
}

func scalerOf(g *Group) map[string]any {
	if g.Scaler == nil {
		return nil
	}
	return g.renderScaler()
}

func (c *Cloud) aggregateGroups(q request) (any, *failure) {
	return c.aggregateThe(q, "instanceGroupManagers", (*Group).render)
}

func (c *Cloud) aggregateScalers(q request) (any, *failure) {
	return c.aggregateThe(q, "autoscalers", scalerOf)
}

func (c *Cloud) listRegionGroups(q request) (any, *failure) {
	return c.listOfRegion(q, (*Group).render), nil
}

func (c *Cloud) listRegionScalers(q request) (any, *failure) { return c.listOfRegion(q, scalerOf), nil }

func (c *Cloud) listOfRegion(q request, render func(*Group) map[string]any) any {
	var things []map[string]any
	for _, g := range c.groups {
		if r := render(g); r != nil && g.Zone == "" && g.Region == q.args[1] {
			things = append(things, r)
		}
	}
	from, to, next := c.cutPage(q, len(things), "maxResults")
	out := map[string]any{"items": things[from:to]}
	if next != "" {
		out["nextPageToken"] = next
	}
	return out
}

func (c *Cloud) group(q request, name string) (*Group, *failure) {
	n := slices.IndexFunc(c.groups, func(g *Group) bool {
		return g.Name == name && (g.Zone == q.args[1] || g.Zone == "" && g.Region == q.args[1])
	})
	if n < 0 {
		return nil, missingFailure("projects/%s/%s/instanceGroupManagers/%s", q.args[0], q.args[1], name)
	}
	return c.groups[n], nil
}

func (c *Cloud) getGroup(q request) (any, *failure) {
	g, f := c.group(q, q.args[2])
	if f != nil {
		return nil, f
	}
	return g.render(), nil
}

func (c *Cloud) getScaler(q request) (any, *failure) {
	g, f := c.group(q, q.args[2])
	if f != nil || g.Scaler == nil {
		return nil, missingFailure("autoscalers/%s", q.args[2])
	}
	return g.renderScaler(), nil
}

// resizeGroup refuses while an autoscaler is on.
func (c *Cloud) resizeGroup(q request) (any, *failure) {
	g, f := c.group(q, q.args[2])
	if f != nil {
		return nil, f
	}
	if g.Scaler != nil && g.Scaler.Mode != "OFF" {
		return nil, newFailure(http.StatusPreconditionFailed, "conditionNotMet", "Resize is forbidden while the "+
			"instance group manager is autoscaled.")
	}
	var n int64
	if _, err := fmt.Sscan(q.URL.Query().Get("size"), &n); err != nil {
		return nil, newFailure(http.StatusBadRequest, "required", "Required parameter: size")
	}
	g.Size = n
	return c.groupOperation(g, "resize", nil), nil
}

// patchScaler changes a scaler; that has its effect when the operation ends.
func (c *Cloud) patchScaler(q request) (any, *failure) {
	g, f := c.group(q, q.URL.Query().Get("autoscaler"))
	if f != nil || g.Scaler == nil {
		return nil, missingFailure("autoscalers/%s", q.URL.Query().Get("autoscaler"))
	}
	return c.groupOperation(g, "patch", func() { g.Scaler.merge(q.body) }), nil
}

// merge changes the fields of the body.
func (s *Scaler) merge(body map[string]any) {
	policy := objectOf(body, "autoscalingPolicy")
	if d, ok := body["description"].(string); ok {
		s.Description = d
	}
	if m, ok := policy["mode"].(string); ok {
		s.Mode = m
	}
	for name, to := range map[string]*int64{
		"minNumReplicas": &s.Min, "maxNumReplicas": &s.Max,
		"coolDownPeriodSec": &s.Cooldown,
	} {
		if n, ok := numberOf(policy, name); ok {
			*to = n
		}
	}
	if cpu, named := policy["cpuUtilization"]; named {
		s.CPU = 0
		if rule, ok := cpu.(map[string]any); ok {
			s.CPU, _ = rule["utilizationTarget"].(float64)
		}
	}
}

// insertScaler makes the autoscaler of a group that has none.
func (c *Cloud) insertScaler(q request) (any, *failure) {
	target, _ := q.body["target"].(string)
	g, f := c.group(q, target[strings.LastIndex(target, "/")+1:])
	if f != nil {
		return nil, f
	}
	if g.Scaler != nil {
		return nil, newFailure(http.StatusConflict, "alreadyExists", "The resource already exists")
	}
	s := &Scaler{}
	s.merge(q.body)
	return c.groupOperation(g, "insert", func() { g.Scaler = s }), nil
}

func (c *Cloud) deleteScaler(q request) (any, *failure) {
	g, f := c.group(q, q.args[2])
	if f != nil || g.Scaler == nil {
		return nil, missingFailure("autoscalers/%s", q.args[2])
	}
	return c.groupOperation(g, "delete", func() { g.Scaler = nil }), nil
}

func (c *Cloud) groupOperation(g *Group, kind string, apply func()) any {
	o := &operation{
		name: fmt.Sprint("operation-", c.nextNumber()), scope: g.scope(), kind: kind, target: g.UID(),
		apply: apply,
	}
	c.operations = append(c.operations, o)
	return o.render()
}
