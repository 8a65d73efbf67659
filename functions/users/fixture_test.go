package users

import (
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity/grant"
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
