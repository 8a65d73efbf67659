package organisations

import (
	"slices"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/testkit/apitest"
)

// demandsMFA reports what the authorizer reads.
func (h *fixture) demandsMFA() bool {
	h.Helper()
	return apitest.Read[identity.Access](h.Fixture, identity.AccessKey(h.org)).RequireMFA
}

func TestRequireMFA_TheAuthorizerSeesTheSettingAtOnce(t *testing.T) {
	h := newOrganization(t)
	for _, c := range []struct {
		body string
		want bool
	}{
		{`{"currency":"EUR"}`, false},
		{`{"requireMFA":true}`, true},
		{`{"currency":"USD"}`, true},
		{`{"requireMFA":null}`, false},
		{`{"requireMFA":true,"name":"Looms"}`, true},
		{`{"requireMFA":false}`, false},
	} {
		h.as("owner", "PUT /organisation", c.body).Want(200)
		if got := h.demandsMFA(); got != c.want || h.current()["requireMFA"] != c.want {
			t.Errorf("%s: %v, shown %v", c.body, got, h.current()["requireMFA"])
		}
	}
}

// An owner with a second factor, one without, a disabled one, and a viewer.
func TestRequireMFA_OwnersWithoutASecondFactorAreTold(t *testing.T) {
	h := newOrganization(t)
	h.Put(identity.UserKey("usr_ada"), identity.User{ID: "usr_ada", Email: "ada@example.com", TOTP: true})
	for _, m := range []struct {
		name, role string
		disabled   bool
	}{{"bob", grant.Owner, false}, {"cleo", grant.Owner, true}, {"dan", "viewer", false}} {
		u := h.User(m.name)
		h.Put(identity.MemberKey(h.org, u.ID), identity.Member{
			User: u.ID, Email: u.Email, Grants: apitest.Roles(m.role), Disabled: m.disabled,
		})
	}
	h.as("owner", "PUT /organisation", `{"requireMFA":true}`).Want(200)
	h.as("owner", "PUT /organisation", `{"requireMFA":true}`).Want(200) // nothing new
	var told []string
	for _, m := range h.Mails() {
		if m.Template != mail.SecondFactorDemanded || m.Data["organisation"] != "Engines" {
			t.Errorf("mail %+v", m)
		}
		told = append(told, m.To)
	}
	if !slices.Equal(told, []string{"bob@example.com"}) {
		t.Errorf("told were %v", told)
	}
}

func TestStepUp_OfTheOrganization(t *testing.T) {
	h := newOrganization(t)
	c := apitest.Caller(h.org, "ada", "owner")
	for _, request := range []string{`DELETE /organisation {"confirm":"no"}`, `PUT /organisation {"requireMFA":true}`} {
		c.SecondFactor = identity.StaleFactor
		h.Call(c, request).Want(403, "a second factor is needed", "POST /auth/refresh")
		h.Call(c, `PUT /organisation {"currency":"EUR"}`).Want(200)
	}
	c.SecondFactor = identity.FreshFactor
	h.Call(c, `DELETE /organisation {"confirm":"no"}`).Want(400, "confirm")
	h.Call(c, `PUT /organisation {"requireMFA":true}`).Want(200)
}
