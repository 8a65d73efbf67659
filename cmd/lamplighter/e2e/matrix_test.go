package e2e

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/membership"
)

// cast is a service with a user for each role.
type cast struct {
	*testenv.Env
	t     *testing.T
	clock *testenv.Ahead
	owner *testenv.Client
	asked int

	let, kept int // how often somebody was let in, and kept out
}

func assemble(t *testing.T) *cast {
	t.Helper()
	c := &cast{t: t, clock: &testenv.Ahead{}}
	c.Env = testenv.Start(t, testenv.Setup{Clock: c.clock})
	c.owner = c.NewOwner("owner@example.com")
	return c
}

// join makes a member with grants, given by the owner through the API.
func (c *cast) join(email string, grants ...grant.Grant) *testenv.Client {
	c.t.Helper()
	u, err := auth.CreateVerifiedUser(c.t.Context(), c.Platform, email, testenv.Password, "Test")
	if err != nil {
		c.t.Fatal(err)
	}
	owner := identity.Caller{Org: c.owner.Org, User: "usr_1", Email: "owner@example.com"}
	if err = membership.New(c.Platform).JoinOrganisation(identity.WithCaller(c.t.Context(), owner), c.owner.Org, u,
		nil); err != nil {
		c.t.Fatal(err)
	}
	if len(grants) > 0 {
		c.owner.LogIn("owner@example.com", c.owner.Org) // whose token has run out, after so many minutes
	}
	for _, g := range grants {
		c.minute()
		c.owner.Call(http.MethodPost, "/assignments",
			map[string]string{"email": email, "roleID": g.Role, "scope": g.Scope}, nil)
	}
	out := c.NewClient()
	out.LogIn(email, c.owner.Org)
	return out
}

// minute sets the clock ahead before the organization's minute limit is reached.
func (c *cast) minute() {
	if c.asked++; c.asked%80 == 0 {
		c.clock.Advance(time.Minute)
	}
}

// say makes a request, and returns the status and the body of its answer.
func (c *cast) say(as *testenv.Client, method, path, body string) (int, string) {
	c.t.Helper()
	c.minute()
	r := httptest.NewRequestWithContext(c.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+as.Token)
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// check 41: each caller may do exactly the operations that their role permits, as Cedar decides. Every operation is
// called with each system role, with a role of the organization's own, as a member without a role, and as the owner
// of one team. The answer shows whether the policy was checked against the caller, even if the request has other
// errors.
func TestOperationsByRoles(t *testing.T) {
	t.Parallel()
	c := assemble(t)
	var own struct{ ID string }
	c.owner.Call(http.MethodPost, "/roles",
		map[string]any{"name": "Mixed", "policies": []string{"actions:*", "roles:read", "cloud-accounts:write"}}, &own)
	var team struct{ ID string }
	c.owner.Call(http.MethodPost, "/teams", map[string]any{"name": "Web"}, &team)
	onAll := func(role string) []grant.Grant { return []grant.Grant{{Role: role, Scope: grant.OrgScope}} }
	members := map[string][]grant.Grant{
		"nobody": nil, "mixed": onAll(own.ID), "scoped": {{Role: grant.Owner, Scope: grant.TeamScope + team.ID}},
	}
	for _, r := range grant.SystemRoles() {
		members[r.Name] = onAll(r.Name)
	}
	var told rest.List[struct {
		ID       string
		Policies []string
	}]
	c.owner.Call(http.MethodGet, "/roles", nil, &told)
	roles := map[string][]string{}
	for _, r := range told.Items {
		roles[r.ID] = r.Policies
	}
	for name, grants := range members {
		as := c.join("the-"+name+"@example.com", grants...)
		o := newOracle(t, roles, grants)
		for _, op := range probe.DeclaredOperations() {
			if !op.Public {
				c.matrix(name, as, op, o.may(op))
			}
		}
	}
	if c.let < 200 || c.kept < 100 {
		t.Errorf("let in %d times and kept out %d times: that is not every operation as every role", c.let, c.kept)
	}
}

// matrix asks one operation as one caller.
func (c *cast) matrix(name string, as *testenv.Client, op rest.Op, may bool) {
	c.t.Helper()
	if op.ID == "logOut" || op.ID == "leaveOrganisation" { // everybody may, and is gone then
		return
	}
	body := ""
	if op.Method != http.MethodGet && op.Method != http.MethodDelete {
		body = "{}"
	}
	status, got := c.say(as, op.Method, probe.ExamplePath(op), body)
	if may {
		c.let++
	} else {
		c.kept++
	}
	denied := status == http.StatusForbidden && strings.Contains(got, "permission denied: "+op.Policy+" is needed")
	switch {
	case status == http.StatusUnauthorized, status == http.StatusMethodNotAllowed, status == http.StatusTooManyRequests,
		status >= 500:
		c.t.Errorf("%s as %s: %d %s", op.ID, name, status, got)
	case denied == may:
		c.t.Errorf("%s as %s: %d %s, and may %v", op.ID, name, status, got, may)
	}
}

// check 41: a withdrawn role or grant is gone on the next request, also for a session token or a program's token that
// was accepted before.
func TestARevokedRoleActsOnTheNextRequest(t *testing.T) {
	t.Parallel()
	c := assemble(t)
	var own struct{ ID string }
	c.owner.Call(http.MethodPost, "/roles", map[string]any{"name": "Looker", "policies": []string{"actions:read"}},
		&own)
	eve := c.join("eve@example.com", grant.Grant{Role: own.ID, Scope: grant.OrgScope})
	program := c.NewClient()
	var made struct{ Token string }
	eve.Call(http.MethodPost, "/personal-access-tokens", map[string]any{"name": "ci"}, &made)
	program.Token = made.Token
	both := func(what string, want ...int) {
		t.Helper()
		for kind, as := range map[string]*testenv.Client{"session": eve, "program": program} {
			if status, body := c.say(as, http.MethodGet, "/actions", ""); !slices.Contains(want, status) {
				t.Errorf("%s, %s: %d %s", what, kind, status, body)
			}
		}
	}
	both("with the role", http.StatusOK)
	role := "/roles/" + own.ID
	c.owner.Call(http.MethodPut, role, map[string]any{"policies": []string{"budgets:read"}}, nil)
	both("after the role has changed", http.StatusForbidden)
	c.owner.Call(http.MethodPut, role, map[string]any{"policies": []string{"actions:read"}}, nil)
	both("after it has changed back", http.StatusOK)
	var list rest.List[struct{ ID string }]
	c.owner.Call(http.MethodGet, "/assignments?email=eve@example.com", nil, &list)
	c.owner.Call(http.MethodDelete, "/assignments/"+list.Items[0].ID, nil, nil)
	both("after the assignment is revoked", http.StatusForbidden)
	c.owner.Call(http.MethodPost, "/assignments",
		map[string]string{"email": "eve@example.com", "roleID": "viewer", "scope": "org"}, nil)
	both("with another role", http.StatusOK)
	c.owner.Call(http.MethodDelete, "/users/eve@example.com", nil, nil)
	both("after they were removed", http.StatusUnauthorized, http.StatusForbidden)
}

// check 43, through the whole service: no operation makes an admin an owner.
func TestNoWayFromAdminToOwner(t *testing.T) {
	t.Parallel()
	c := assemble(t)
	adam := c.join("adam@example.com", grant.Grant{Role: grant.Admin, Scope: grant.OrgScope})
	c.join("eve@example.com")
	for _, try := range []struct{ method, path, body string }{
		{http.MethodPost, "/assignments", `{"email":"adam@example.com","roleID":"owner","scope":"org"}`},
		{http.MethodPost, "/assignments", `{"email":"eve@example.com","roleID":"owner","scope":"org"}`},
		{http.MethodPost, "/roles", `{"name":"Mine","policies":["*:*"]}`},
		{http.MethodPost, "/roles", `{"name":"Mine","policies":["organisation:delete"]}`},
		{http.MethodPut, "/roles/admin", `{"policies":["*:*"]}`},
		{http.MethodPut, "/roles/owner", `{"policies":[]}`},
		{http.MethodPost, "/users", `{"email":"mine@example.com","role":"owner"}`},
		{http.MethodPatch, "/users/adam@example.com", `{"role":"owner"}`},
		{http.MethodPatch, "/users/eve@example.com", `{"role":"owner"}`},
		{http.MethodPatch, "/users/owner@example.com", `{"role":"viewer"}`},
		{http.MethodDelete, "/users/owner@example.com", ``},
	} {
		if status, body := c.say(adam, try.method, try.path, try.body); status != http.StatusForbidden &&
			status != http.StatusBadRequest {
			t.Errorf("%s %s %s: %d %s", try.method, try.path, try.body, status, body)
		}
	}
	if status, body := c.say(adam, http.MethodPatch, "/users/me",
		`{"name":"Adam","role":"owner","grants":[{"role":"owner","scope":"org"}]}`); status != http.StatusOK {
		t.Errorf("own profile: %d %s", status, body)
	}
	if status, body := c.say(adam, http.MethodDelete, "/organisation?confirm=x", ""); status != http.StatusForbidden {
		t.Errorf("an admin deletes the organization: %d %s", status, body)
	}
}
