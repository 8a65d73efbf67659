// Package users is the part of the operation group Users & Teams for people: the members of an organization,
// invitations, their roles on the whole organization, and the caller's own profile.
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
	s.receivedOperations(g)
	return g
}

type service struct{ membership.People }

func (s service) userOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listUsers", Method: http.MethodGet, Path: all, Policy: reading, Statuses: []int{http.StatusBadRequest},
		Summary: "List users",
		Description: "Members in the order of their accounts' creation, then invited people by address. sort_by " +
			"sorts all of them by email, name, status or joinedAt, where invited people are first. search finds " +
			"parts of addresses and names, ignoring case; of an invited person the name that the inviter gave.",
	}, s.listUsers)
	rest.Handle(g, rest.Op{
		ID: "inviteUser", Method: http.MethodPost, Path: all, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Invite a person",
		Description: "Mails an invitation that is valid for 7 days. The person becomes a member with the role when " +
			"they accept it (POST /invitations/{invitationID}/accept) with an account of this address, if the " +
			"inviter may still give that role then; before, nothing tells whether the address has an account. " +
			"Inviting an address again replaces the invitation and mails another one. A role that permits more than " +
			"the caller may is 403; an address of a member is 409. At most 50 invitations an hour are sent for an " +
			"organization; one inviter sends 5 a day to one address, all inviters together 50: else 403, which says " +
			"when to try again. At most 500 invitations can be pending: else 409.",
	}, s.inviteUser)
	rest.Handle(g, rest.Op{
		ID: "getUser", Method: http.MethodGet, Path: one, Policy: reading, Statuses: []int{http.StatusNotFound},
		Summary:     "Read a user",
		Description: "A member, or an invited person.",
	}, s.getUser)
	rest.Handle(g, rest.Op{
		ID: "updateUser", Method: http.MethodPatch, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}, Summary: "Change a user",
		Description: "Changes only the fields present. role replaces the roles on the whole organization; roles on " +
			"teams and resources stay. status disabled keeps the user out of this organization at once, active " +
			"lets them in again. name can be changed while the user is invited. A caller cannot change themselves, " +
			"change a user who holds more than they do, or give more than they hold: 403. The last owner stays: " +
			"409.",
	}, s.changeUser)
	rest.Handle(g, rest.Op{
		ID: "removeUser", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict}, Summary: "Remove a user",
		Description: "Ends the membership with all roles in this organization, or the invitation, at once. The " +
			"account stays. A caller cannot remove a user who holds more than they do: 403. The last owner stays: " +
			"409.",
	}, s.removeUser)
}

func (s service) ownOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getOwnProfile", Method: http.MethodGet, Path: own, SignedIn: true, Summary: "Read the caller's profile",
	}, s.getProfile)
	rest.Handle(g, rest.Op{
		ID: "updateOwnProfile", Method: http.MethodPatch, Path: own, SignedIn: true,
		Statuses: []int{http.StatusBadRequest}, Summary: "Change the caller's profile",
		Description: "Changes the fields present. The address cannot be changed.",
	}, s.updateProfile)
	rest.Handle(g, rest.Op{
		ID: "leaveOrganisation", Method: http.MethodDelete, Path: own, SignedIn: true,
		Statuses:    []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict},
		Summary:     "Leave the organization",
		Description: "Ends the caller's membership in the current organization. The last owner stays: 409.",
	}, s.leaveOrganisation)
}
