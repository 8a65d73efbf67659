package authorizer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	user = "usr_01k8z3v5y0e6m9x2q4t7r1c8bd"
	org  = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	sid  = "session1"

	otherOrg = "org_01k8z3v5y0e6m9x2q4t7r1c8be"
)

// enter makes the user, a session and, in org, the membership of an operator, and answers the header of a request.
func enter(tb testing.TB, p *platform.Platform, org string) string {
	tb.Helper()
	now := p.Clock.Now()
	put(tb, p, identity.UserKey(user), identity.User{ID: user, Email: "ada@example.com", Verified: true})
	put(tb, p, identity.SessionKey(sid), identity.Session{
		ID: sid, User: user, Org: org, State: identity.SessionLive, Absolute: now.Add(24 * time.Hour).Unix(),
	})
	if org != "" {
		put(tb, p, identity.MemberKey(org, user), identity.Member{
			User: user, Grants: []identity.Grant{{Role: identity.Operator, Scope: identity.OrgScope}},
		})
	}
	return signed(tb, p, org)
}

func signed(tb testing.TB, p *platform.Platform, org string) string {
	tb.Helper()
	now := p.Clock.Now()
	token, err := p.Tokens.Sign(context.Background(), identity.Claims{
		User: user, Org: org, Session: sid, ID: "jti_1", Issued: now, Expires: now.Add(identity.TokenTTL),
	})
	if err != nil {
		tb.Fatal(err)
	}
	return "Bearer " + token
}

func put(tb testing.TB, p *platform.Platform, k table.Key, v any) {
	tb.Helper()
	it, err := table.Row(k, v)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err = p.Table.Write(table.Within(context.Background(), k.PK), table.Put(it)); err != nil {
		tb.Fatal(err)
	}
}

func change(tb testing.TB, p *platform.Platform, k table.Key, c table.Change) {
	tb.Helper()
	w := table.Update(k, []table.Change{c}, table.Exists())
	if _, err := p.Table.Write(table.Within(context.Background(), k.PK), w); err != nil {
		tb.Fatal(err)
	}
}

// request is one with these values of the header Authorization.
func request(authorization ...string) Request {
	return Request{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-west-1:123456789012:api/dev/GET/actions",
		MultiValueHeaders: map[string][]string{"Authorization": authorization, "Host": {"api.example.com"}},
	}
}

func ask(f Function, header string) (events.APIGatewayCustomAuthorizerResponse, error) {
	return f(context.Background(), request(header))
}

// verdict is "Allow", "Deny" or the text of the error.
func verdict(f Function, header string) string { return judge(f, request(header)) }

func judge(f Function, r Request) string {
	got, err := f(context.Background(), r)
	if err != nil {
		return err.Error()
	}
	return got.PolicyDocument.Statement[0].Effect
}

func TestTheCallerIsHandedOn(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	got, err := ask(Handler(p), enter(t, p, org))
	if err != nil {
		t.Fatal(err)
	}
	s := got.PolicyDocument.Statement
	if got.PrincipalID != user || len(s) != 1 || s[0].Effect != "Allow" || !slices.Equal(s[0].Resource, []string{"*"}) ||
		!slices.Equal(s[0].Action, []string{"execute-api:Invoke"}) || got.PolicyDocument.Version != "2012-10-17" {
		t.Errorf("answer %+v", got)
	}
	c, err := identity.Decode(got.Context)
	if err != nil {
		t.Fatal(err)
	}
	if c.User != user || c.Org != org || c.Email != "ada@example.com" || c.Session != sid || c.Method != identity.MethodToken {
		t.Errorf("caller %+v", c)
	}
	if !identity.Allows(c, "actions:execute") || identity.Allows(c, "budgets:write") {
		t.Errorf("grants %+v", c.Grants)
	}
}

func TestAUserWithoutAnOrganizationComesInWithoutGrants(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	got, err := ask(Handler(p), enter(t, p, ""))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := identity.Decode(got.Context); err != nil || c.User != user || c.Org != "" || len(c.Grants) != 0 {
		t.Errorf("caller %+v, %v", c, err)
	}
}

// check 1.
func TestHeaders(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	good := enter(t, p, org)
	token := strings.TrimPrefix(good, "Bearer ")
	f := Handler(p)
	for name, c := range map[string]struct{ header, want string }{
		"as documented":         {good, "Allow"},
		"lower case":            {"bearer " + token, "Allow"},
		"empty":                 {"", "Unauthorized"},
		"no scheme":             {token, "Unauthorized"},
		"Basic":                 {"Basic YWRhOnBhc3N3b3Jk", "Unauthorized"},
		"no token":              {"Bearer ", "Unauthorized"},
		"two blanks":            {"Bearer  " + token, "Unauthorized"},
		"two tokens":            {good + ", " + good, "Unauthorized"},
		"a blank at the end":    {good + " ", "Unauthorized"},
		"a newline at the end":  {good + "\n", "Unauthorized"},
		"of a PAT's look":       {"Bearer lampp_0123456789", "Unauthorized"},
		"an unknown PAT":        {"Bearer " + identity.NewPAT(), "Unauthorized"},
		"a megabyte":            {"Bearer " + strings.Repeat("a", 1<<20), "Unauthorized"},
		"of another deployment": {foreign(t), "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(f, c.header); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func foreign(t *testing.T) string {
	t.Helper()
	p, _ := apitest.NewPlatform(t)
	return signed(t, p, org)
}

// Request shapes that only a client which means harm, or another gateway, sends. check 1.
func TestWhereTheCredentialIsLookedFor(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	good := enter(t, p, org)
	f := Handler(p)
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"no headers":                    {Request{}, "Unauthorized"},
		"no such header":                {request(), "Unauthorized"},
		"two values":                    {request(good, good), "Unauthorized"},
		"a bad one before":              {request("Bearer bad", good), "Unauthorized"},
		"a bad one behind":              {request(good, "Bearer bad"), "Unauthorized"},
		"an empty one besides":          {request(good, ""), "Unauthorized"},
		"in HTTP/2's spelling":          {headers("authorization", good), "Allow"},
		"in two spellings":              {headers("authorization", good, "Authorization", good), "Unauthorized"},
		"another one in capitals":       {headers("AUTHORIZATION", "Basic x", "Authorization", good), "Unauthorized"},
		"in Proxy-Authorization":        {headers("Proxy-Authorization", good), "Unauthorized"},
		"in X-Authorization":            {headers("X-Authorization", good), "Unauthorized"},
		"in a cookie":                   {headers("Cookie", "Authorization="+good), "Unauthorized"},
		"in the query":                  {Request{QueryStringParameters: map[string]string{"Authorization": good, "access_token": good}}, "Unauthorized"},
		"only where each has one value": {Request{Headers: map[string]string{"authorization": good}}, "Allow"},
		"twice, where each has one":     {Request{Headers: map[string]string{"authorization": good, "Authorization": good}}, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(f, c.r); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// headers is a request with pairs of names and values.
func headers(pairs ...string) Request {
	r := Request{MultiValueHeaders: map[string][]string{}}
	for i := 0; i < len(pairs); i += 2 {
		r.MultiValueHeaders[pairs[i]] = append(r.MultiValueHeaders[pairs[i]], pairs[i+1])
	}
	return r
}

// Nothing that a client can say besides its credential tells who it is. check 40, check 54.
func TestOnlyTheCredentialTellsWhoCalls(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	good := enter(t, p, org)
	enter(t, p, otherOrg)
	f := Handler(p)
	r := headers("Authorization", good, "X-Organisation-Id", otherOrg, "X-Org-Id", otherOrg, "X-Forwarded-For", "203.0.113.9",
		"Host", "evil.example", "X-GoLambdaProxy-ApiGw-Context", `{"authorizer":{"user":"usr_eve"}}`, "X-Amzn-Oidc-Identity", "usr_eve")
	r.QueryStringParameters = map[string]string{"orgId": otherOrg}
	got, err := f(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := identity.Decode(got.Context); err != nil || c.Org != org || c.User != user {
		t.Errorf("caller %+v, %v", c, err)
	}
}

// Each change is made under a warm function that has let the token in before, and acts on the next request. check 8.
func TestWhatEndsAccessAtOnce(t *testing.T) {
	leave := func(p *platform.Platform) error {
		_, err := p.Table.Write(table.WithTenant(context.Background(), org), table.Delete(identity.MemberKey(org, user)))
		return err
	}
	set := func(k table.Key, field string, v any) func(*platform.Platform) error {
		return func(p *platform.Platform) error {
			w := table.Update(k, []table.Change{table.Set(field, v)}, table.Exists())
			_, err := p.Table.Write(table.Within(context.Background(), k.PK), w)
			return err
		}
	}
	session, profile, member := identity.SessionKey(sid), identity.UserKey(user), identity.MemberKey(org, user)
	ended := func(p *platform.Platform) error {
		k := identity.AccessKey(org)
		w := table.Update(k, []table.Change{table.Set("ended", true)})
		_, err := p.Table.Write(table.Within(context.Background(), k.PK), w)
		return err
	}
	for name, c := range map[string]struct {
		do   func(p *platform.Platform) error
		wait time.Duration
		want string
	}{
		"nothing":                      {nil, 0, "Allow"},
		"logging out":                  {set(session, "state", identity.SessionOut), 0, "Unauthorized"},
		"a refresh token used twice":   {set(session, "state", identity.SessionReused), 0, "Unauthorized"},
		"the session of somebody else": {set(session, "user", "usr_eve"), 0, "Unauthorized"},
		"a new password":               {set(profile, "epoch", 1), 0, "Unauthorized"},
		"disabling the user":           {set(profile, "disabled", true), 0, "Unauthorized"},
		"disabling the member":         {set(member, "disabled", true), 0, "Unauthorized"},
		"the organization's end":       {ended, 0, "Unauthorized"},
		"sign-on at this organization": {set(session, "sso", org), 0, "Allow"},
		"sign-on at another one":       {set(session, "sso", otherOrg), 0, "Unauthorized"},
		"leaving the organization":     {leave, 0, "Unauthorized"},
		"sixteen minutes":              {nil, 16 * time.Minute, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			p, clk := apitest.NewPlatform(t)
			header := enter(t, p, org)
			f := Handler(p)
			if got := verdict(f, header); got != "Allow" {
				t.Fatal(got)
			}
			clk.Advance(c.wait)
			if c.do != nil {
				if err := c.do(p); err != nil {
					t.Fatal(err)
				}
			}
			if got := verdict(f, header); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAChangedRoleActsAtOnce(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	header := enter(t, p, org)
	f := Handler(p)
	if _, err := ask(f, header); err != nil {
		t.Fatal(err)
	}
	change(t, p, identity.MemberKey(org, user), table.Set("grants", []identity.Grant{{Role: identity.Viewer, Scope: identity.OrgScope}}))
	got, err := ask(f, header)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := identity.Decode(got.Context); err != nil || identity.Allows(c, "actions:execute") || !identity.Allows(c, "actions:read") {
		t.Errorf("grants %+v, %v", c.Grants, err)
	}
}

// Roles of an organization's own are read with the member, so that a change of one acts at once too.
func TestACustomRoleIsWhatTheOrganizationSaysNow(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	header := enter(t, p, org)
	f := Handler(p)
	change(t, p, identity.MemberKey(org, user), table.Set("grants", []identity.Grant{{Role: "role_1", Scope: identity.OrgScope}}))
	for _, c := range []struct {
		name     string
		roles    any
		may, not string
	}{
		{"without a row of roles", nil, "", "actions:read"},
		{"with the role", identity.Access{Roles: map[string]identity.CustomRole{"role_1": {Policies: []string{"actions:read"}}}}, "actions:read", "budgets:read"},
		{"with a changed role", identity.Access{Roles: map[string]identity.CustomRole{"role_1": {Policies: []string{"budgets:read"}}}}, "budgets:read", "actions:read"},
		{"with another organization's", identity.Access{Roles: map[string]identity.CustomRole{"role_2": {Policies: []string{"actions:read"}}}}, "", "actions:read"},
		{"with a role of a system role's name", identity.Access{Roles: map[string]identity.CustomRole{"viewer": {Policies: []string{"*:*"}}}}, "", "actions:read"},
	} {
		if c.roles != nil {
			put(t, p, identity.AccessKey(org), c.roles)
		}
		got, err := ask(f, header)
		if err != nil {
			t.Fatal(err)
		}
		who, err := identity.Decode(got.Context)
		if err != nil || c.may != "" && !identity.Allows(who, c.may) || identity.Allows(who, c.not) {
			t.Errorf("%s: %+v, %v", c.name, who.Grants, err)
		}
	}
}

func TestAnAuthorizationIsTwoRoundTrips(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	header := enter(t, p, org)
	f := Handler(p)
	for _, state := range []string{"cold", "warm"} {
		ctx, m := table.WithMeter(context.Background())
		if _, err := f(ctx, request(header)); err != nil {
			t.Fatal(err)
		}
		if u := m.Usage(); u.RoundTrips != 2 {
			t.Errorf("%s: %+v", state, u)
		}
	}
	ctx, m := table.WithMeter(context.Background())
	if _, err := f(ctx, request("Bearer nonsense")); err == nil || m.Usage().RoundTrips != 0 {
		t.Errorf("nonsense: %v, %+v", err, m.Usage())
	}
}
