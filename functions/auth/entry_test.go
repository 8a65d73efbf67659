package auth

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestASignInToAnOrganization(t *testing.T) {
	const first, second = "org_01k8z3v5y0e6m9x2q4t7r1c8bd", "org_01k8z3v5y0e6m9x2q4t7r1c8be"
	in := newProviderFixture(t)
	user := userOf(in.signIn("google"))["id"].(string)
	in.belongTo(user, first, "First")
	in.belongTo(user, second, "Second")
	enter := func(status int, org string) map[string]any {
		t.Helper()
		begun := in.want(200, "GET", "/auth/google/url?tenantID="+org, nil)
		return in.comeBack(status, "google", in.google.Visit(t, begun["url"].(string), "alice"))
	}
	if s := in.sessionOf(enter(200, second)); s.Org != second {
		t.Errorf("entered %q", s.Org)
	}
	if s := in.sessionOf(enter(200, "")); s.Org != first {
		t.Errorf("without a wish %q", s.Org)
	}
	enter(403, "org_01k8z3v5y0e6m9x2q4t7r1c8bf")
	in.want(400, "GET", "/auth/google/url?tenantID="+strings.Repeat("o", 65), nil)
}

// An organization that demands its own identity provider is entered neither by password nor by Google.
func TestSingleSignOnThatIsDemanded(t *testing.T) {
	const org = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	for name, c := range map[string]struct {
		grants []grant.Grant
		status int
	}{
		"keeps a member out":        {nil, 403},
		"lets an owner mend things": {[]grant.Grant{{ID: "g", Role: grant.Owner, Scope: grant.OrgScope}}, 200},
	} {
		t.Run(name, func(t *testing.T) {
			in := newProviderFixture(t)
			u := apitest.Value(CreateVerifiedUser(t.Context(), in.Platform, "alice@example.com", password, "Alice"))(in)
			in.google.Edit(func(c map[string]any) { c["hd"] = "example.com" })
			in.belongTo(u.ID, org, "Strict")
			in.demandSSO(org, u, c.grants)
			in.want(c.status, "POST", "/auth/login",
				map[string]any{"email": u.Email, "password": password, "tenantID": org})
			begun := in.want(200, "GET", "/auth/google/url?tenantID="+org, nil)
			in.comeBack(c.status, "google", in.google.Visit(t, begun["url"].(string), "alice"))
			if c.status == http.StatusForbidden { // without a wish for it, the person gets in, but not into it
				if s := in.sessionOf(in.signIn("google")); s.Org != "" {
					t.Errorf("entered %q", s.Org)
				}
			}
		})
	}
}

// demandSSO makes the organization require single sign-on for u's domain. u is a member of it.
func (in *providerFixture) demandSSO(org string, u identity.User, grants []grant.Grant) {
	in.Helper()
	in.Put(identity.MemberKey(org, u.ID), identity.Member{User: u.ID, Email: u.Email, Grants: grants})
	_, domain, _ := strings.Cut(u.Email, "@")
	in.Change(identity.OrganisationKey(org), table.Set("ssoDomains", []string{domain}))
}

// TestLogIn_RoundTrips compares the round trips with docs/data-model.md, without the audit row.
func TestLogIn_RoundTrips(t *testing.T) {
	in := newProviderFixture(t)
	in.register()
	arrive := func(person string) func(ctx context.Context) error {
		back := in.goOut("google", person)
		return func(ctx context.Context) error {
			_, err := in.s.finishOAuth(ctx,
				&completeOAuthInput{
					Provider: "google", Code: back.Get("code"), State: back.Get("state"),
					Issuer: back.Get("iss"),
				})
			return err
		}
	}
	in.belongTo(userOf(in.logIn())["id"].(string), "org_01k8z3v5y0e6m9x2q4t7r1c8bd", "Engines")
	in.logIn() // stores how many organizations there are
	for _, c := range []struct {
		name string
		want int
		do   func(ctx context.Context) error
	}{
		{"log-in", 14, func(ctx context.Context) error {
			b := &logInInput{}
			b.Body.Email, b.Body.Password = ada, password
			_, err := remembering(in.s, in.s.logIn)(ctx, b)
			return err
		}},
		{"a code", 5, func(ctx context.Context) error {
			return in.s.mailCode(ctx, passwordReset, ada, mail.ResetPassword)
		}},
		{"begin", 2, func(ctx context.Context) error {
			_, err := in.s.beginOAuth(ctx, &beginOAuthInput{Provider: "google"})
			return err
		}},
		{"finish, the first time", 11, arrive("alice")},
		{"finish", 9, arrive("alice")},
	} {
		if got := in.Meter(func(ctx context.Context) { in.Must(c.do(ctx)) }).RoundTrips; got != c.want {
			t.Errorf("%s: %d round trips, want %d", c.name, got, c.want)
		}
	}
}
