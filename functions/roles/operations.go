// Package roles is the operation group Roles & Permissions: the policies, the roles of an organization, and the
// assignments of roles to users on scopes.
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
		Catalogue:   true,
		Summary:     "List the policies",
		Description: "All policies. Each operation names its policy as x-policy.",
	}, listPolicies)
	rest.Handle(g, rest.Op{
		ID: "listPermissions", Method: http.MethodGet, Path: "/permissions", SignedIn: true,
		Statuses: []int{http.StatusForbidden}, Summary: "List the permissions of the caller or of a member",
		Description: "The policies of the caller, or of the member with email, in the current organization, each " +
			"with its scopes, in the order " +
			"of GET /policies. Wildcards are expanded. A policy held on the whole organization is listed once, " +
			"without narrower grants. Listed is only what works: a policy whose operations need a grant on the whole " +
			"organization is left out on teams and resources.",
	}, s.listPermissions)
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
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:  "List roles",
		Description: "System roles first, beginning with the one that permits least; then the organization's own " +
			"roles, by name. sort_by sorts all of them by name, createdAt or updatedAt; system roles are older than " +
			"all others.",
	}, s.listRoles)
	rest.Handle(g, rest.Op{
		ID: "createRole", Method: http.MethodPost, Path: roles, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Create a role",
		Description: "At most 50 an organization. Names are unique, ignoring case. The caller must hold all " +
			"policies of the role on the whole organization.",
	}, s.createRole)
	rest.Handle(g, rest.Op{
		ID: "getRole", Method: http.MethodGet, Path: role, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary: "Read a role",
	}, s.getRole)
	rest.Handle(g, rest.Op{
		ID: "updateRole", Method: http.MethodPut, Path: role, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a role",
		Description: "Changes only the fields present; policies replaces all policies. It applies from the next " +
			"request of every user with the role. System roles cannot be changed. A caller cannot change a role " +
			"that they have, or one with policies, before or after, that they do not hold.",
	}, s.updateRole)
	rest.Handle(g, rest.Op{
		ID: "deleteRole", Method: http.MethodDelete, Path: role, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Delete a role",
		Description: "While it is assigned to a user, or promised to an invited person or to a first single " +
			"sign-on, the answer is 409.",
	}, s.deleteRole)
}

func (s *service) assignmentOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listAssignments", Method: http.MethodGet, Path: assignments, Policy: reading,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound},
		Summary:     "List the assignments of roles",
		Description: "Oldest first. A filter without a match gives an empty list.",
	}, s.listAssignments)
	rest.Handle(g, rest.Op{
		ID: "createAssignment", Method: http.MethodPost, Path: assignments, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Assign a role to a user",
		Description: "On the whole organization, on a team's resources, or on one resource. At most 40 a user. The " +
			"same role on the same scope twice is 409. A caller cannot give policies that they do not hold on that " +
			"scope, or give a role to themselves.",
	}, s.createAssignment)
	rest.Handle(g, rest.Op{
		ID: "deleteAssignment", Method: http.MethodDelete, Path: assignments + "/{assignmentID}", Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Revoke an assignment",
		Description: "It applies from the user's next request. The last owner stays (409). A caller cannot revoke " +
			"their own roles, or roles of a user who holds more than they do.",
	}, s.deleteAssignment)
}
