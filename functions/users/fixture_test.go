package users

import (
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
)

const here = apitest.Org

// fixture is an organization with ada as its owner.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{apitest.New(t, Operations)}
	s.Join(here, "ada", grant.Owner)
	return s
}

// as makes a request as a member: "PATCH /users/{}" is about the address who.
func (s *fixture) as(name, request, who, body string) apitest.Answer {
	s.Helper()
	return s.Call(s.Authorized(here, name), strings.Replace(request, "{}", url.PathEscape(who), 1), body)
}

// invitationsOf returns the invitations that a user without an organization sees.
func (s *fixture) invitationsOf(name string) rest.List[ReceivedInvitation] {
	s.Helper()
	s.User(name)
	return apitest.Data[rest.List[ReceivedInvitation]](s.Call(apitest.Caller("", name), "GET /invitations"))
}

// acceptInvitation accepts the only invitation of a user without an organization.
func (s *fixture) acceptInvitation(name string) {
	s.Helper()
	all := s.invitationsOf(name)
	if all.Total != 1 {
		s.Fatalf("%s has %d invitations", name, all.Total)
	}
	apitest.Data[ReceivedInvitation](
		s.Call(apitest.Caller("", name), "POST /invitations/"+all.Items[0].ID+"/accept"))
}
