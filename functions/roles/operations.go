// Package roles is the operation group Roles & Permissions: what can be permitted, the roles that an organization makes of
// it, and who holds which role where.
package roles

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

const (
	roles       = "/roles"
	role        = roles + "/{roleID}"
	assignments = "/assignments"
	reading     = "roles:read"
	writing     = "roles:write"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Roles & Permissions")
	s := &service{p, membership.New(p), inventory.New(p), teams.New(p.Table)}
	s.roleOperations(g)
	s.assignmentOperations(g)
	rest.Handle(g, rest.Op{
		ID: "listPolicies", Method: http.MethodGet, Path: "/policies", SignedIn: true,
		Summary:     "List what can be permitted",
		Description: "The catalogue of policies, all of it. Each operation names the one that it demands as x-policy.",
	}, listPolicies)
	rest.Handle(g, rest.Op{
		ID: "listPermissions", Method: http.MethodGet, Path: "/permissions", SignedIn: true,
		Summary: "List what the caller may do",
		Description: "In the current organization, at this moment: each policy with each scope on which the caller " +
			"holds it, in the order of GET /policies. " +
			"Wildcards are spelled out. A policy that is held on the whole organization is there once; narrower " +
			"grants of it add nothing.",
	}, listPermissions)
	return g
}

type service struct {
	p         *platform.Platform
	people    membership.People
	inventory *inventory.Store
	teams     teams.Store
}

func (s *service) roleOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listRoles", Method: http.MethodGet, Path: roles, Policy: reading,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:     "List roles",
		Description: "System roles first, from the one that permits least; then the organization's own, by name.",
	}, s.listRoles)
	rest.Handle(g, rest.Op{
		ID: "createRole", Method: http.MethodPost, Path: roles, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Create a role",
		Description: "At most 50 an organization. Names are unique without regard to case. Nobody makes a role that " +
			"permits what they do not " +
			"hold on the whole organization.",
	}, s.createRole)
	rest.Handle(g, rest.Op{
		ID: "getRole", Method: http.MethodGet, Path: role, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary: "Read a role",
	}, s.getRole)
	rest.Handle(g, rest.Op{
		ID: "updateRole", Method: http.MethodPut, Path: role, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a role",
		Description: "Changes only the fields present; policies replaces all policies. It acts on the next request " +
			"of everybody who has the role. " +
			"System roles do not change. Nobody changes a role that they have themselves, or one that permits, " +
			"before or after, what they do not hold.",
	}, s.updateRole)
	rest.Handle(g, rest.Op{
		ID: "deleteRole", Method: http.MethodDelete, Path: role, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a role",
		Description: "While it is assigned to somebody, or promised to somebody who is invited or signs on for the " +
			"first time, the answer is 409.",
	}, s.deleteRole)
}

func (s *service) assignmentOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listAssignments", Method: http.MethodGet, Path: assignments, Policy: reading,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:     "List who has which role where",
		Description: "Oldest first. A filter that fits nothing gives an empty list.",
	}, s.listAssignments)
	rest.Handle(g, rest.Op{
		ID: "createAssignment", Method: http.MethodPost, Path: assignments, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Assign a role to a user",
		Description: "On the whole organization, on what a team owns, or on one resource. At most 40 a user; the " +
			"same role on the same scope twice is 409. " +
			"Nobody gives what they do not hold on that scope, and nobody gives anything to themselves.",
	}, s.createAssignment)
	rest.Handle(g, rest.Op{
		ID: "deleteAssignment", Method: http.MethodDelete, Path: assignments + "/{assignmentID}", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Revoke an assignment",
		Description: "Acts on the user's next request. The last owner stays (409). Nobody revokes what they have " +
			"themselves, or anything of " +
			"somebody who holds more than they do.",
	}, s.deleteAssignment)
}
