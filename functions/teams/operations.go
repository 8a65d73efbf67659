// Package teams is the part of the operation group Users & Teams that is about teams: who belongs to one, and which
// resources it owns, which is how far a role on the team reaches.
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

// reaches tells in the interface description what owning means.
const reaches = " What a team owns, a role on the team reaches: who gives a resource to a team on which roles are " +
	"held must hold " +
	"on the whole organization what these roles hold (403)."

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
		Description: "With counts, and of each team the first 100 members and resources; read one team for all. A " +
			"grant on teams shows these.",
	}, s.listTeams)
	rest.Handle(g, rest.Op{
		ID: "createTeam", Method: http.MethodPost, Path: teamsPath, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a team",
		Description: "Members are addresses of members of the organization; to be one grants nothing: roles on the " +
			"team do (POST /assignments). " +
			"At most 500 teams an organization, 1,000 members and 10,000 resources a team; a resource may belong to " +
			"several. " +
			"Names are unique without regard to case.",
	}, s.createTeam)
	rest.Handle(g, rest.Op{
		ID: "getTeam", Method: http.MethodGet, Path: teamPath, Policy: reading, Scoped: true, Statuses: found,
		Summary: "Read a team",
		Description: "Members by address, resources by id. Who has left the organization, and what has left the " +
			"inventory, is not among them any more.",
	}, s.getTeam)
	rest.Handle(g, rest.Op{
		ID: "updateTeam", Method: http.MethodPut, Path: teamPath, Policy: writing, Statuses: changing,
		Summary: "Change a team",
		Description: "Changes only the fields present. members and resources replace all of them, null leaves none." +
			reaches,
	}, s.updateTeam)
	rest.Handle(g, rest.Op{
		ID: "deleteTeam", Method: http.MethodDelete, Path: teamPath, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a team",
		Description: "Its members and resources stay. The answer is 409 while the team is in use, and lists the uses " +
			"by id and name: assignments on it, showback " +
			"rules that give it a share, and budgets, subscriptions, webhooks and integrations for it.",
	}, s.deleteTeam)
}

func (s *service) memberOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTeamMembers", Method: http.MethodGet, Path: members, Policy: reading, Scoped: true, Statuses: listed,
		Summary: "List the members of a team", Description: "By address.",
	}, s.listMembers)
	rest.Handle(g, rest.Op{
		ID: "addTeamMember", Method: http.MethodPost, Path: members, Policy: writing, Statuses: changing,
		Summary: "Add a member to a team",
		Description: "A member of the organization: any other address is 404. A member of the team stays one. " +
			"Membership grants nothing.",
	}, s.addMember)
	rest.Handle(g, rest.Op{
		ID: "removeTeamMember", Method: http.MethodDelete, Path: members + "/{email}", Policy: writing,
		Statuses: changing,
		Summary:  "Take a member out of a team", Description: "They stay in the organization, with their roles.",
	}, s.removeMember)
}

func (s *service) resourceOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listTeamResources", Method: http.MethodGet, Path: resources, Policy: reading, Scoped: true,
		Statuses:    listed,
		Summary:     "List the resources of a team",
		Description: "By name. GET /resources with team_id has all there is to know of them.",
	}, s.listResources)
	rest.Handle(g, rest.Op{
		ID: "addTeamResources", Method: http.MethodPost, Path: resources, Policy: writing, Statuses: changing,
		Summary:     "Give resources to a team",
		Description: "By our ids; one that does not exist is 404, and then none is given." + reaches,
	}, s.addResources)
	rest.Handle(g, rest.Op{
		ID: "removeTeamResource", Method: http.MethodDelete, Path: resources + "/{resourceID}", Policy: writing,
		Statuses:    changing,
		Summary:     "Take a resource from a team",
		Description: "It stays in the inventory, and with the other teams that own it.",
	}, s.removeResource)
}

// TeamInput names the team of a request. It is exported so that the framework looks into it where it is embedded.
type TeamInput struct {
	TeamID string `path:"teamID" maxLength:"64" doc:"The team"`
}
