package gcptwin

import (
	"fmt"
	"net/http"
	"strings"
)

// Unit is an organization ("organizations/1") or a folder ("folders/2"). Parent is that of a folder.
type Unit struct{ Name, Title, Parent string }

// Member is a project in an organization or a folder. It is empty, except Project, which has the twin's resources.
type Member struct {
	ID, Title, Parent string
	State             string // empty is ACTIVE
	Labels            map[string]string
	Refuses           bool // the credentials have no role in it
	Lacks             bool // they have a role that allows none of the calls
}

// AddUnits adds organizations and folders.
func (c *Cloud) AddUnits(units ...Unit) {
	c.ChangeLocked(func() { c.units = append(c.units, units...) })
}

// AddMembers adds projects to organizations and folders.
func (c *Cloud) AddMembers(members ...Member) {
	c.ChangeLocked(func() {
		for _, m := range members {
			c.members = append(c.members, &m)
		}
	})
}

// ChangeMember changes a project that was added.
func (c *Cloud) ChangeMember(id string, change func(*Member)) {
	c.ChangeLocked(func() { change(c.member(id)) })
}

// member finds a project that was added; nil when there is none.
func (c *Cloud) member(id string) *Member {
	for _, m := range c.members {
		if m.ID == id {
			return m
		}
	}
	return nil
}

func (m *Member) state() string {
	if m.State == "" {
		return "ACTIVE"
	}
	return m.State
}

func (m *Member) row() map[string]any {
	number := ProjectNumber
	if m.ID != Project {
		number = fmt.Sprintf("7%011d", len(m.ID))
	}
	return map[string]any{
		"name": "projects/" + number, "parent": m.Parent, "projectId": m.ID, "state": m.state(), "displayName": m.Title,
		"labels": m.Labels,
	}
}

func (m *Member) answer() (any, *failure) {
	if m.Refuses {
		return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission")
	}
	return m.row(), nil
}

// foreign answers requests for a project that was added, which is empty.
func (c *Cloud) foreign(q request) (any, *failure, bool) {
	if len(q.args) == 0 || q.args[0] == Project || q.op == "resourcemanager.projects.get" {
		return nil, nil, false
	}
	m := c.member(q.args[0])
	switch {
	case m == nil:
		return nil, nil, false
	case m.Refuses:
		return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission"), true
	case m.Lacks && q.op == "resourcemanager.projects.testIamPermissions":
		return map[string]any{}, nil, true
	case q.op == "compute.regions.list", q.op == "resourcemanager.projects.testIamPermissions":
		return nil, nil, false
	}
	return map[string]any{}, nil, true
}

// getUnit answers for an organization or a folder.
func (c *Cloud) getUnit(q request) (any, *failure) {
	name := strings.TrimPrefix(q.URL.Path, "/v3/")
	for _, u := range c.units {
		if u.Name == name {
			return map[string]any{"name": u.Name, "displayName": u.Title, "parent": u.Parent, "state": "ACTIVE"}, nil
		}
	}
	return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission")
}

// listProjects lists the projects directly in the parent. On request it includes those that are being deleted.
func (c *Cloud) listProjects(q request) (any, *failure) {
	var all []any
	for _, m := range c.members {
		if m.Parent == q.URL.Query().Get("parent") &&
			(m.state() == "ACTIVE" || q.URL.Query().Get("showDeleted") == "true") {
			all = append(all, m.row())
		}
	}
	return c.listed(q, "projects", all)
}

func (c *Cloud) listFolders(q request) (any, *failure) {
	var all []any
	for _, u := range c.units {
		if u.Parent != "" && u.Parent == q.URL.Query().Get("parent") {
			all = append(all,
				map[string]any{"name": u.Name, "displayName": u.Title, "parent": u.Parent, "state": "ACTIVE"})
		}
	}
	return c.listed(q, "folders", all)
}

// listed is a page of a list.
func (c *Cloud) listed(q request, name string, all []any) (any, *failure) {
	if q.URL.Query().Get("parent") == "" {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "The parent must be given.")
	}
	from, to, next := c.cut(q, len(all), "pageSize")
	return map[string]any{name: all[from:to], "nextPageToken": next}, nil
}

// FillOrganisation adds the organization organizations/1: the folder Production with the twin's own project, one of a
// folder in it and one that refuses, and the folder Sandbox with one that is open and one that is being deleted.
func (c *Cloud) FillOrganisation() {
	c.AddUnits(Unit{Name: "organizations/1", Title: "acme.example"},
		Unit{Name: "folders/2", Title: "Production", Parent: "organizations/1"},
		Unit{Name: "folders/3", Title: "Shop", Parent: "folders/2"},
		Unit{Name: "folders/4", Title: "Sandbox", Parent: "organizations/1"})
	c.AddMembers(
		Member{ID: Project, Title: "Main", Parent: "folders/2", Labels: map[string]string{"env": "prod"}},
		Member{ID: "acme-shop", Title: "Shop", Parent: "folders/3", Labels: map[string]string{"env": "prod"}},
		Member{ID: "acme-vault", Title: "Vault", Parent: "folders/2", Refuses: true},
		Member{ID: "acme-playground", Title: "Playground", Parent: "folders/4"},
		Member{ID: "acme-last-year", Title: "Last year", Parent: "folders/4", State: "DELETE_REQUESTED"},
	)
}
