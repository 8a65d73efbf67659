package azuretwin

import (
	"net/http"
	"strings"
)

// Group is a management group. Parent is the id of the group that it lies in, empty at the top.
type Group struct{ ID, Name, Parent string }

// Member is a subscription in a management group. It has regions and no resources, but for Subscription, which has the
// twin's.
type Member struct {
	ID, Name, Group string
	State           string // empty is Enabled
	Tags            map[string]string
	Refuses         bool // the application has no role in it
	Lacks           bool // it has one that allows nothing
}

const groupsPath = "/providers/Microsoft.Management/managementGroups/"

// AddGroups adds management groups.
func (c *Cloud) AddGroups(groups ...Group) {
	c.ChangeLocked(func() { c.groups = append(c.groups, groups...) })
}

// AddMembers adds subscriptions to management groups; from then on the application sees them.
func (c *Cloud) AddMembers(members ...Member) {
	c.ChangeLocked(func() {
		for _, m := range members {
			c.members = append(c.members, &m)
		}
	})
}

// ChangeMember changes a subscription in a management group.
func (c *Cloud) ChangeMember(id string, change func(*Member)) {
	c.ChangeLocked(func() { change(c.memberAt("/subscriptions/" + id)) })
}

// memberAt finds the subscription that a path lies in; nil when it is none that was added.
func (c *Cloud) memberAt(path string) *Member {
	for _, m := range c.members {
		if id := "/subscriptions/" + strings.ToLower(m.ID); path == id || strings.HasPrefix(path, id+"/") {
			return m
		}
	}
	return nil
}

// groupOp names a call about a management group.
func groupOp(path string) string {
	if strings.HasSuffix(path, "/descendants") {
		return "Microsoft.Management/managementGroups/descendants/read"
	}
	return "Microsoft.Management/managementGroups/read"
}

// organisationHandler finds who answers a request about management groups, or about a subscription that was added to
// one.
func (c *Cloud) organisationHandler(q request) (func() (answer, *failure), bool) {
	m := c.memberAt(q.path)
	switch {
	case strings.HasPrefix(q.op, "Microsoft.Management/"):
		return func() (answer, *failure) { return c.group(q) }, true
	case q.path == "/subscriptions" && c.members != nil:
		return func() (answer, *failure) { return c.pageOf(q, c.seen()) }, true
	case m != nil && !strings.HasPrefix(q.path, "/subscriptions/"+Subscription+"/"):
		return func() (answer, *failure) { return c.onMember(q, m) }, true
	}
	return nil, false
}

// group answers requests for a management group and its descendants.
func (c *Cloud) group(q request) (answer, *failure) {
	id, rest, _ := strings.Cut(q.path[len(groupsPath):], "/")
	for _, g := range c.groups {
		if !strings.EqualFold(g.ID, id) {
			continue
		}
		if rest == "descendants" {
			return c.pageOf(q, c.descendants(g.ID))
		}
		return okAnswer(map[string]any{
			"id": groupsPath + g.ID, "type": "Microsoft.Management/managementGroups", "name": g.ID,
			"properties": map[string]any{"tenantId": Tenant, "displayName": g.Name},
		})
	}
	return answer{}, newFailure(http.StatusForbidden, "AuthorizationFailed",
		"The client '%s' does not have authorization to perform action '%s' over scope '%s' or the scope is invalid.",
		Client, q.op, q.URL.Path)
}

// descendants are the groups and subscriptions in a group, and in those.
func (c *Cloud) descendants(id string) []any {
	all := []any{}
	row := func(id, armType, name, title, parent string) any {
		return map[string]any{"id": id, "type": armType, "name": name, "properties": map[string]any{
			"displayName": title, "parent": map[string]any{"id": groupsPath + parent},
		}}
	}
	for _, m := range c.members {
		if m.Group == id {
			all = append(all,
				row("/subscriptions/"+m.ID, "Microsoft.Management/managementGroups/subscriptions", m.ID, m.Name, id))
		}
	}
	for _, g := range c.groups {
		if g.Parent == id {
			all = append(append(all, row(groupsPath+g.ID, "Microsoft.Management/managementGroups", g.ID, g.Name, id)),
				c.descendants(g.ID)...)
		}
	}
	return all
}

func (m *Member) row() map[string]any {
	state := m.State
	if state == "" {
		state = "Enabled"
	}
	return map[string]any{
		"id": "/subscriptions/" + m.ID, "subscriptionId": m.ID, "displayName": m.Name, "state": state,
		"tags": m.Tags,
	}
}

// seen returns the subscriptions that give the application a role.
func (c *Cloud) seen() []any {
	all := []any{}
	for _, m := range c.members {
		if !m.Refuses {
			all = append(all, m.row())
		}
	}
	return all
}

// onMember answers for a subscription in a management group.
func (c *Cloud) onMember(q request, m *Member) (answer, *failure) {
	base := "/subscriptions/" + strings.ToLower(m.ID)
	switch {
	case m.Refuses:
		return answer{}, newFailure(http.StatusForbidden, "AuthorizationFailed",
			"The client '%s' does not have authorization to perform action '%s' over scope '%s' or the scope "+
				"is invalid.", Client, q.op, q.URL.Path)
	case q.path == base:
		return okAnswer(m.row())
	case q.path == base+"/locations":
		return okAnswer(map[string]any{"value": locationList()})
	case q.path == base+"/providers/microsoft.authorization/permissions":
		if m.Lacks {
			return c.pageOf(q, []any{})
		}
		return c.pageOf(q, c.permissionList())
	}
	return c.pageOf(q, []any{})
}

// FillOrganisation adds the management group acme: production with the twin's own subscription, one of a group in it
// and one that refuses, and sandbox with one that is open and one that is disabled.
func (c *Cloud) FillOrganisation() {
	c.AddGroups(Group{ID: "acme", Name: "Acme"}, Group{ID: "production", Name: "Production", Parent: "acme"},
		Group{ID: "shop", Name: "Shop", Parent: "production"}, Group{ID: "sandbox", Name: "Sandbox", Parent: "acme"})
	c.AddMembers(
		Member{ID: Subscription, Name: "Main", Group: "production", Tags: map[string]string{"env": "prod"}},
		Member{
			ID: "22222222-0000-0000-0000-000000000001", Name: "Shop", Group: "shop",
			Tags: map[string]string{"env": "prod"},
		},
		Member{ID: "22222222-0000-0000-0000-000000000002", Name: "Vault", Group: "production", Refuses: true},
		Member{ID: "22222222-0000-0000-0000-000000000003", Name: "Playground", Group: "sandbox"},
		Member{ID: "22222222-0000-0000-0000-000000000004", Name: "Last year", Group: "sandbox", State: "Disabled"},
	)
}
