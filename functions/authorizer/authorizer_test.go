package authorizer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	user = "usr_01k8z3v5y0e6m9x2q4t7r1c8bd"
	org  = "org_01k8z3v5y0e6m9x2q4t7r1c8bd"
	sid  = "session1"

	otherOrg = "org_01k8z3v5y0e6m9x2q4t7r1c8be"
)

// enterOrg makes the user, a session and, in org, the membership of an operator, and answers the header of a request.
func enterOrg(fx *apitest.Fixture, org string) string {
	fx.Helper()
	now := fx.Platform.Clock.Now()
	fx.Put(identity.UserKey(user), identity.User{ID: user, Email: "ada@example.com", Verified: true})
	fx.Put(identity.SessionKey(sid), identity.Session{
		ID: sid, User: user, Org: org, State: identity.SessionLive, Absolute: now.Add(24 * time.Hour).Unix(),
		Created: now,
	})
	if org != "" {
		fx.Put(identity.MemberKey(org, user), identity.Member{User: user, Grants: apitest.Roles(grant.Operator)})
	}
	return signToken(fx, org)
}

func signToken(fx *apitest.Fixture, org string) string {
	fx.Helper()
	return signTokenOf(fx, user, sid, org)
}

func signTokenOf(fx *apitest.Fixture, user, session, org string) string {
	fx.Helper()
	now := fx.Platform.Clock.Now()
	token, err := fx.Tokens.Sign(context.Background(), token.Claims{
		User: user, Org: org, Session: session, ID: "jti_1", Issued: now, Expires: now.Add(token.TTL),
	})
	fx.Must(err)
	return "Bearer " + token
}

// newRequest is one with these values of the header Authorization.
func newRequest(authorization ...string) Request {
	return Request{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:eu-west-1:123456789012:api/dev/GET/actions",
		MultiValueHeaders: map[string][]string{"Authorization": authorization, "Host": {"api.example.com"}},
	}
}

func askFunction(f Function, header string) (events.APIGatewayCustomAuthorizerResponse, error) {
	return f(context.Background(), newRequest(header))
}

// verdictOf is "Allow", "Deny" or the text of the error.
func verdictOf(f Function, header string) string { return judgeRequest(f, newRequest(header)) }

func judgeRequest(f Function, r Request) string {
	got, err := f(context.Background(), r)
	if err != nil {
		return err.Error()
	}
	return got.PolicyDocument.Statement[0].Effect
}

func TestTheCallerIsHandedOn(t *testing.T) {
	fx := apitest.New(t)
	got := apitest.Value(askFunction(Handler(fx.Platform), enterOrg(fx, org)))(fx)
	s := got.PolicyDocument.Statement
	if got.PrincipalID != user || len(s) != 1 || s[0].Effect != "Allow" ||
		!slices.Equal(s[0].Resource, []string{"*"}) ||
		!slices.Equal(s[0].Action, []string{"execute-api:Invoke"}) || got.PolicyDocument.Version != "2012-10-17" {
		t.Errorf("answer %+v", got)
	}
	c := apitest.Value(identity.NewDecoder().Decode(got.Context))(fx)
	if c.User != user || c.Org != org || c.Email != "ada@example.com" || c.Session != sid ||
		c.Method != identity.MethodToken {
		t.Errorf("caller %+v", c)
	}
	if !identity.Allows(c, "actions:execute") || identity.Allows(c, "budgets:write") {
		t.Errorf("grants %+v", c.Grants)
	}
}

func TestAUserWithoutAnOrganizationComesInWithoutGrants(t *testing.T) {
	fx := apitest.New(t)
	got := apitest.Value(askFunction(Handler(fx.Platform), enterOrg(fx, "")))(fx)
	if c, err := identity.NewDecoder().Decode(got.Context); err != nil || c.User != user || c.Org != "" ||
		len(c.Grants) != 0 {
		t.Errorf("caller %+v, %v", c, err)
	}
}

// check 1.
func TestHeaders(t *testing.T) {
	fx := apitest.New(t)
	good := enterOrg(fx, org)
	token := strings.TrimPrefix(good, "Bearer ")
	f := Handler(fx.Platform)
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
		"of another deployment": {foreignToken(t), "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdictOf(f, c.header); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func foreignToken(t *testing.T) string {
	t.Helper()
	fx := apitest.New(t)
	return signToken(fx, org)
}

// Request shapes that only a client which means harm, or another gateway, sends. check 1.
func TestWhereTheCredentialIsLookedFor(t *testing.T) {
	fx := apitest.New(t)
	good := enterOrg(fx, org)
	f := Handler(fx.Platform)
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"no headers":              {Request{}, "Unauthorized"},
		"no such header":          {newRequest(), "Unauthorized"},
		"two values":              {newRequest(good, good), "Unauthorized"},
		"a bad one before":        {newRequest("Bearer bad", good), "Unauthorized"},
		"a bad one behind":        {newRequest(good, "Bearer bad"), "Unauthorized"},
		"an empty one besides":    {newRequest(good, ""), "Unauthorized"},
		"in HTTP/2's spelling":    {headerRequest("authorization", good), "Allow"},
		"in two spellings":        {headerRequest("authorization", good, "Authorization", good), "Unauthorized"},
		"another one in capitals": {headerRequest("AUTHORIZATION", "Basic x", "Authorization", good), "Unauthorized"},
		"in Proxy-Authorization":  {headerRequest("Proxy-Authorization", good), "Unauthorized"},
		"in X-Authorization":      {headerRequest("X-Authorization", good), "Unauthorized"},
		"in a cookie":             {headerRequest("Cookie", "Authorization="+good), "Unauthorized"},
		"in the query": {Request{QueryStringParameters: map[string]string{
			"Authorization": good,
			"access_token":  good,
		}}, "Unauthorized"},
		"only where each has one value": {Request{Headers: map[string]string{"authorization": good}}, "Allow"},
		"twice, where each has one": {Request{Headers: map[string]string{
			"authorization": good,
			"Authorization": good,
		}}, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judgeRequest(f, c.r); got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// headerRequest returns a request with pairs of names and values.
func headerRequest(pairs ...string) Request {
	r := Request{MultiValueHeaders: map[string][]string{}}
	for i := 0; i < len(pairs); i += 2 {
		r.MultiValueHeaders[pairs[i]] = append(r.MultiValueHeaders[pairs[i]], pairs[i+1])
	}
	return r
}

// Nothing that a client can say besides its credential tells who it is. check 40, check 54.
func TestOnlyTheCredentialTellsWhoCalls(t *testing.T) {
	fx := apitest.New(t)
	good := enterOrg(fx, org)
	enterOrg(fx, otherOrg)
	f := Handler(fx.Platform)
	r := headerRequest("Authorization", good, "X-Organisation-Id", otherOrg, "X-Org-Id", otherOrg, "X-Forwarded-For",
		"203.0.113.9",
		"Host", "evil.example", "X-GoLambdaProxy-ApiGw-Context", `{"authorizer":{"user":"usr_eve"}}`,
		"X-Amzn-Oidc-Identity", "usr_eve")
	r.QueryStringParameters = map[string]string{"orgId": otherOrg}
	got := apitest.Value(f(t.Context(), r))(fx)
	if c, err := identity.NewDecoder().Decode(got.Context); err != nil || c.Org != org || c.User != user {
		t.Errorf("caller %+v, %v", c, err)
	}
}

// Each change is made under a warm function that has let the token in before, and acts on the next request. check 8.
func TestWhatEndsAccessAtOnce(t *testing.T) {
	leave := func(fx *apitest.Fixture) { fx.Write(table.Delete(identity.MemberKey(org, user))) }
	set := func(k table.Key, field string, v any) func(*apitest.Fixture) {
		return func(fx *apitest.Fixture) { fx.Change(k, table.Set(field, v)) }
	}
	session, profile, member := identity.SessionKey(sid), identity.UserKey(user), identity.MemberKey(org, user)
	ended := func(fx *apitest.Fixture) { fx.Put(identity.AccessKey(org), identity.Access{Ended: true}) }
	for name, c := range map[string]struct {
		do   func(*apitest.Fixture)
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
			fx := apitest.New(t)
			header := enterOrg(fx, org)
			f := Handler(fx.Platform)
			if got := verdictOf(f, header); got != "Allow" {
				t.Fatal(got)
			}
			fx.Clock.Advance(c.wait)
			if c.do != nil {
				c.do(fx)
			}
			if got := verdictOf(f, header); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestAChangedRoleActsAtOnce(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	apitest.Value(askFunction(f, header))(t)
	fx.Change(identity.MemberKey(org, user),
		table.Set("grants", []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}}))
	got := apitest.Value(askFunction(f, header))(fx)
	if c, err := identity.NewDecoder().Decode(got.Context); err != nil || identity.Allows(c, "actions:execute") ||
		!identity.Allows(c, "actions:read") {
		t.Errorf("grants %+v, %v", c.Grants, err)
	}
}

// Roles of an organization's own are read with the member, so that a change of one acts at once too.
func TestACustomRoleIsWhatTheOrganizationSaysNow(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	fx.Change(identity.MemberKey(org, user),
		table.Set("grants", []grant.Grant{{Role: "role_1", Scope: grant.OrgScope}}))
	for _, c := range []struct {
		name     string
		roles    any
		may, not string
	}{
		{"without a row of roles", nil, "", "actions:read"},
		{
			"with the role",
			identity.Access{Roles: map[string]identity.CustomRole{"role_1": {Policies: []string{"actions:read"}}}},
			"actions:read", "budgets:read",
		},
		{
			"with a changed role",
			identity.Access{Roles: map[string]identity.CustomRole{"role_1": {Policies: []string{"budgets:read"}}}},
			"budgets:read", "actions:read",
		},
		{
			"with another organization's",
			identity.Access{Roles: map[string]identity.CustomRole{"role_2": {Policies: []string{"actions:read"}}}},
			"",
			"actions:read",
		},
		{
			"with a role of a system role's name",
			identity.Access{Roles: map[string]identity.CustomRole{"viewer": {Policies: []string{"*:*"}}}},
			"",
			"actions:read",
		},
	} {
		if c.roles != nil {
			fx.Put(identity.AccessKey(org), c.roles)
		}
		got := apitest.Value(askFunction(f, header))(fx)
		who, err := identity.NewDecoder().Decode(got.Context)
		if err != nil || c.may != "" && !identity.Allows(who, c.may) || identity.Allows(who, c.not) {
			t.Errorf("%s: %+v, %v", c.name, who.Grants, err)
		}
	}
}

func TestAnAuthorizationIsTwoRoundTrips(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	f := Handler(fx.Platform)
	for _, state := range []string{"cold", "warm"} {
		ctx, m := table.WithMeter(context.Background())
		apitest.Value(f(ctx, newRequest(header)))(t)
		if u := m.Usage(); u.RoundTrips != 2 {
			t.Errorf("%s: %+v", state, u)
		}
	}
	ctx, m := table.WithMeter(context.Background())
	if _, err := f(ctx, newRequest("Bearer nonsense")); err == nil || m.Usage().RoundTrips != 0 {
		t.Errorf("nonsense: %v, %+v", err, m.Usage())
	}
}
