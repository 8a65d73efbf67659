// Package teams is the part of the operation group Users & Teams for teams: their members and their resources. A role
// on a team applies to the team's resources.
package teams

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/teams"
)

const (
	teamsPath = "/teams"
	teamPath  = teamsPath + "/{teamID}"
	members   = teamPath + "/members"
	resources = teamPath + "/resources"
	reading   = "teams:read"
	writing   = "teams:write"
)

// reaches describes in the interface description the effect of giving resources to a team.
const reaches = " A role on a team applies to the team's resources. If there are roles on the team, giving it a " +
	"resource needs the policies of these roles on the whole organization, else 403."

// Operations returns the operations about teams.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Users & Teams")
	s := &service{p, teams.New(p.Table), inventory.New(p), membership.New(p)}
	s.teamOperations(g)
	s.memberOperations(g)
	s.resourceOperations(g)
	return g
}

type service struct {
	p         *platform.Platform
	teams     teams.Store
	inventory *inventory.Store
	people    membership.People
}

var (
	found    = []int{http.StatusNotFound}
	listed   = []int{http.StatusBadRequest, http.StatusNotFound}
	changing = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
)

func (s *service) teamOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTeams", Method: http.MethodGet, Path: teamsPath, Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List teams",
		Description: "With counts, and the first 100 members and resources of each team; read one team to get all. " +
			"A caller with a grant on teams sees these teams.",
	}, s.listTeams)
	rest.Handle(g, rest.Op{
		ID: "createTeam", Method: http.MethodPost, Path: teamsPath, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a team",
		Description: "members are addresses of members of the organization. Membership of a team grants nothing; " +
			"roles on the team do (POST /assignments). At most 500 teams an organization, 1,000 members and 10,000 " +
			"resources a team. A resource may belong to several teams. Names are unique, ignoring case.",
	}, s.createTeam)
	rest.Handle(g, rest.Op{
		ID: "getTeam", Method: http.MethodGet, Path: teamPath, Policy: reading, Scoped: true, Statuses: found,
		Summary: "Read a team",
		Description: "Members sorted by address, resources by id. Users who have left the organization, and " +
			"resources that have left the inventory, are not included.",
	}, s.getTeam)
	rest.Handle(g, rest.Op{
		ID: "updateTeam", Method: http.MethodPut, Path: teamPath, Policy: writing, Statuses: changing,
		Summary: "Change a team",
		Description: "Changes only the fields present. members and resources replace all of them; null removes all." +
			reaches,
	}, s.updateTeam)
	rest.Handle(g, rest.Op{
		ID: "deleteTeam", Method: http.MethodDelete, Path: teamPath, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a team",
		Description: "Its members and resources stay. While the team is in use the answer is 409 and lists the " +
			"uses by id and name: assignments on it, showback rules that give it a share, and budgets, " +
			"subscriptions, webhooks and integrations for it.",
	}, s.deleteTeam)
}

func (s *service) memberOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTeamMembers", Method: http.MethodGet, Path: members, Policy: reading, Scoped: true, Statuses: listed,
		Summary: "List the members of a team", Description: "Sorted by address.",
	}, s.listMembers)
	rest.Handle(g, rest.Op{
		ID: "addTeamMember", Method: http.MethodPost, Path: members, Policy: writing, Statuses: changing,
		Summary: "Add a member to a team",
		Description: "The address must belong to a member of the organization: else 404. A member of the team " +
			"stays one. Membership grants nothing.",
	}, s.addMember)
	rest.Handle(g, rest.Op{
		ID: "removeTeamMember", Method: http.MethodDelete, Path: members + "/{email}", Policy: writing,
		Statuses: changing,
		Summary:  "Remove a member from a team", Description: "They stay in the organization, with their roles.",
	}, s.removeMember)
}

func (s *service) resourceOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTeamResources", Method: http.MethodGet, Path: resources, Policy: reading, Scoped: true,
		Statuses:    listed,
		Summary:     "List the resources of a team",
		Description: "Sorted by name. GET /resources with team_id returns all their fields.",
	}, s.listResources)
	rest.Handle(g, rest.Op{
		ID: "addTeamResources", Method: http.MethodPost, Path: resources, Policy: writing, Statuses: changing,
		Summary: "Give resources to a team",
		Description: "By the ids of this service. If one does not exist, the answer is 404 and none is given." +
			reaches,
	}, s.addResources)
	rest.Handle(g, rest.Op{
		ID: "removeTeamResource", Method: http.MethodDelete, Path: resources + "/{resourceID}", Policy: writing,
		Statuses:    changing,
		Summary:     "Remove a resource from a team",
		Description: "It stays in the inventory, and in other teams.",
	}, s.removeResource)
}

// TeamInput names the team of a request. It is exported because the framework ignores unexported embedded structs.
type TeamInput struct {
	TeamID string `path:"teamID" maxLength:"64" doc:"The team"`
}
