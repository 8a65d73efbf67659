package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// Each policy is checked with each system role: 200 or 403, and the 403 names the missing policy.
func TestRoles_AreCheckedBeforeTheHandler(t *testing.T) {
	g := rest.NewGroup("Test")
	for _, p := range grant.Policies() {
		name := strings.ReplaceAll(p.ID, ":", "-")
		rest.Handle(g, rest.Op{
			ID: name, Method: http.MethodGet, Path: "/" + name,
			Summary: p.Description, Policy: p.ID,
		},
			func(context.Context, *struct{}) (string, error) { return "in", nil })
	}
	handler, _ := rest.Mount(&platform.Platform{}, g)
	ask := func(c identity.Caller, policy string) (int, string) {
		r := httptest.NewRequest(http.MethodGet, "/"+strings.ReplaceAll(policy, ":", "-"), http.NoBody)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(identity.WithCaller(r.Context(), c)))
		return w.Code, w.Body.String()
	}
	for _, role := range grant.SystemRoles() {
		c := identity.Caller{
			Org: "org_1", User: "usr_1",
			Grants: grant.ResolveGrants([]grant.Grant{{Role: role.Name, Scope: grant.OrgScope}}),
		}
		scoped := c
		scoped.Grants = grant.ResolveGrants([]grant.Grant{{Role: role.Name, Scope: "team:team_1"}})
		for _, p := range grant.Policies() {
			want := http.StatusForbidden
			if identity.Allows(c, p.ID) {
				want = http.StatusOK
			}
			if got, body := ask(c, p.ID); got != want || want == http.StatusForbidden && !strings.Contains(body, p.ID) {
				t.Errorf("%s on %s: %d %s", role.Name, p.ID, got, body)
			}
			if got, body := ask(scoped, p.ID); got != http.StatusForbidden {
				t.Errorf("%s of a team on %s: %d %s", role.Name, p.ID, got, body)
			}
		}
	}
	nowhere := identity.Caller{User: "usr_1"}
	if got, body := ask(nowhere, "actions:read"); got != http.StatusForbidden ||
		!strings.Contains(body, "POST /organisations") || !strings.Contains(body, "tenantID") {
		t.Errorf("without an organization: %d %s", got, body)
	}
}

// row 18 of issue 21: a denial names the scopes of the caller's grants.
func TestDenial_NamesTheScopesOfTheGrants(t *testing.T) {
	g := rest.NewGroup("Test")
	rest.Handle(g, rest.Op{ID: "act", Method: http.MethodGet, Path: "/act", Summary: "Act", Policy: "actions:read"},
		func(context.Context, *struct{}) (string, error) { return "in", nil })
	handler, _ := rest.Mount(&platform.Platform{}, g)
	for scopes, want := range map[string]string{
		"team:team_1":                              "reach only team:team_1",
		"team:team_1 resource:res_1":               "reach only team:team_1 and resource:res_1",
		"resource:res_1 team:team_1 team:team_2":   "reach only team:team_1, team:team_2 and resource:res_1",
		"team:a team:b team:c team:d resource:res": "reach only team:a, team:b, team:c and 2 more",
	} {
		c := identity.Caller{Org: "org_1", User: "usr_1"}
		for scope := range strings.FieldsSeq(scopes) {
			c.Grants = append(c.Grants, grant.Grant{Role: grant.Viewer, Scope: scope})
		}
		c.Grants = grant.ResolveGrants(c.Grants)
		r, w := httptest.NewRequest(http.MethodGet, "/act", http.NoBody), httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(identity.WithCaller(r.Context(), c)))
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), want+`"`) {
			t.Errorf("%s: %d %s", scopes, w.Code, w.Body)
		}
	}
}

// A personal access token is refused by an operation that requires a session, regardless of its user's grants (check
// 12).
func TestATokenOfAProgramIsKeptOutOfWhatWantsASession(t *testing.T) {
	g := rest.NewGroup("Test")
	in := func(context.Context, *struct{}) (string, error) { return "in", nil }
	rest.Handle(g, rest.Op{ID: "signedIn", Method: http.MethodPost, Path: "/signed-in", SignedIn: true, Session: true},
		in)
	rest.Handle(g, rest.Op{
		ID: "policed", Method: http.MethodPost, Path: "/policed",
		Policy: "organisation:delete", Session: true,
	}, in)
	handler, _ := rest.Mount(&platform.Platform{}, g)
	owner := identity.Caller{
		Org: "org_1", User: "usr_1",
		Grants: grant.ResolveGrants([]grant.Grant{{Role: grant.Owner, Scope: grant.OrgScope}}),
	}
	for session, want := range map[string]int{"": http.StatusForbidden, "sid": http.StatusOK} {
		for _, path := range []string{"/signed-in", "/policed"} {
			owner.Session = session
			r := httptest.NewRequest(http.MethodPost, path, http.NoBody)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r.WithContext(identity.WithCaller(r.Context(), owner)))
			if w.Code != want || want == http.StatusForbidden &&
				!strings.Contains(w.Body.String(), "POST /auth/login") {
				t.Errorf("%s with session %q: %d %s", path, session, w.Code, w.Body)
			}
		}
	}
}
