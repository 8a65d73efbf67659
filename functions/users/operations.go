// Package users is the part of the operation group Users & Teams that is about people: who belongs to an organization, who
// is invited, what they may do everywhere in it, and everybody's own profile.
package users

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/membership"
)

const (
	all     = "/users"
	one     = "/users/{email}"
	own     = "/users/me"
	reading = "users:read"
	writing = "users:write"
)

// Operations returns the operations about people.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Users & Teams")
	s := service{membership.New(p)}
	s.userOperations(g)
	s.ownOperations(g)
	return g
}

type service struct{ membership.People }

func (s service) userOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listUsers", Method: http.MethodGet, Path: all, Policy: reading, Statuses: []int{http.StatusBadRequest},
		Summary: "List users",
		Description: "Members in the order in which their accounts were made, then those who are invited, by " +
			"address. search finds parts of addresses, " +
			"without regard to case.",
	}, s.listUsers)
	rest.Handle(g, rest.Op{
		ID: "inviteUser", Method: http.MethodPost, Path: all, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Invite somebody",
		Description: "Mails an invitation that is good for 7 days. Whoever logs in with the address, or signs up " +
			"with it, becomes a member with the role, " +
			"if the inviter may still give that role then. To invite an address again replaces the invitation and " +
			"mails another one. " +
			"Nobody can give a role that holds more than they do: 403. A member already: 409. At most 50 invitations " +
			"an hour are sent for an " +
			"organization, and 5 a day to one address: 403 says when to try again. At most 500 invitations can " +
			"wait: 409.",
	}, s.inviteUser)
	rest.Handle(g, rest.Op{
		ID: "getUser", Method: http.MethodGet, Path: one, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary:     "Read a user",
		Description: "A member, or somebody who is invited.",
	}, s.getUser)
	rest.Handle(g, rest.Op{
		ID: "updateUser", Method: http.MethodPatch, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a user",
		Description: "Changes only the fields present. role replaces the roles on the whole organization; those on " +
			"teams and resources stay. " +
			"status disabled keeps the user out of this organization at once, active lets them in again. name can be " +
			"changed while the user is invited. " +
			"Nobody changes themselves, nor somebody who holds more than they do, nor gives more than they hold: " +
			"403. The last owner stays: 409.",
	}, s.changeUser)
	rest.Handle(g, rest.Op{
		ID: "removeUser", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Remove a user",
		Description: "Ends the membership, with all roles in this organization, or the invitation. It acts at once; " +
			"the account stays. " +
			"Nobody removes somebody who holds more than they do: 403. The last owner stays: 409.",
	}, s.removeUser)
}

func (s service) ownOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getOwnProfile", Method: http.MethodGet, Path: own, SignedIn: true, Summary: "Read one's own profile",
	}, s.getProfile)
	rest.Handle(g, rest.Op{
		ID: "updateOwnProfile", Method: http.MethodPatch, Path: own, SignedIn: true,
		Statuses: []int{http.StatusBadRequest}, Summary: "Change one's own profile",
		Description: "The name. The address cannot be changed.",
	}, s.updateProfile)
	rest.Handle(g, rest.Op{
		ID: "leaveOrganisation", Method: http.MethodDelete, Path: own, SignedIn: true,
		Statuses:    []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		Summary:     "Leave the organization",
		Description: "Ends the caller's membership in the organization that they work in. The last owner stays: 409.",
	}, s.leaveOrganisation)
}
