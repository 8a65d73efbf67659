package organisations

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/testkit/apitest"
)

// fixture knows the organization that as is about.
type fixture struct {
	*apitest.Fixture
	org string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	h := &fixture{Fixture: apitest.New(t, Operations)}
	for _, user := range []string{"usr_ada", "usr_eve"} {
		h.Put(identity.UserKey(user), identity.User{ID: user, Verified: true})
	}
	return h
}

// newOrganization returns a fixture with an organization that ada made.
func newOrganization(t *testing.T) *fixture {
	t.Helper()
	h := newFixture(t)
	h.org = h.newOrganisation("usr_ada", "Engines")
	return h
}

// createAs has the user make an organization as the body says.
func (h *fixture) createAs(user, body string) apitest.Answer {
	h.Helper()
	return h.Call(identity.Caller{User: user, Method: identity.MethodToken}, "POST /organisations", body)
}

// newOrganisation is create, which must succeed; it returns the id.
func (h *fixture) newOrganisation(user, name string) string {
	h.Helper()
	return apitest.Data[identity.Organisation](h.createAs(user, `{"name":"`+name+`"}`)).ID
}

// listAs returns the user's organizations.
func (h *fixture) listAs(user string) []identity.Organisation {
	h.Helper()
	return apitest.Data[[]identity.Organisation](h.Call(identity.Caller{User: user, Method: identity.MethodToken},
		"GET /organisations"))
}

// as makes a request with a role in the organization: "pat owner" with a personal access token, "eve's admin" as a
// user other than the creator, "vouched admin" in a session of single sign-on.
func (h *fixture) as(role, request, body string) apitest.Answer {
	h.Helper()
	role, pat := strings.CutPrefix(role, "pat ")
	role, eve := strings.CutPrefix(role, "eve's ")
	role, vouched := strings.CutPrefix(role, "vouched ")
	c := apitest.Caller(h.org, "ada", role)
	if c.SSO = vouched; pat {
		c.Method, c.Session = identity.MethodPAT, ""
	}
	if eve {
		c.User = "usr_eve"
	}
	return h.Call(c, request, body)
}

func (h *fixture) current() map[string]any {
	h.Helper()
	return apitest.Data[map[string]any](h.as("viewer", "GET /organisation", ""))
}
