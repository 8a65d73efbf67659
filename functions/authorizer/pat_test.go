package authorizer

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// tokenFixture is a user with a personal access token: an operator in org, a viewer in otherOrg, which is younger.
type tokenFixture struct {
	*apitest.Fixture
	secret string
	hash   string
	f      Function
}

func newTokenFixture(t *testing.T) *tokenFixture {
	t.Helper()
	k := &tokenFixture{Fixture: apitest.New(t), secret: identity.NewPAT()}
	k.hash = apitest.Value(identity.ParsePAT(k.secret))(k)
	k.f = Handler(k.Platform)
	k.Put(identity.UserKey(user), identity.User{ID: user, Email: "ada@example.com", Epoch: 2})
	k.joinOrg(org, grant.Operator)
	k.joinOrg(otherOrg, grant.Viewer)
	now := k.Clock.Now()
	k.Put(identity.PATKey(k.hash), identity.PAT{
		ID: "pat_1", User: user, Name: "nightly", Epoch: 2, Created: now, Expires: now.AddDate(0, 0, 90),
		Used: now.Unix(),
	})
	return k
}

func (k *tokenFixture) joinOrg(org, role string) {
	k.Helper()
	k.Put(identity.OrganisationKey(org), identity.Organisation{ID: org})
	k.Put(identity.MembershipKey(user, org), identity.Membership{Org: org, Joined: k.Platform.Clock.Now()})
	k.Put(identity.MemberKey(org, user), identity.Member{
		User: user, Grants: []grant.Grant{{Role: role, Scope: grant.OrgScope}},
	})
}

// session returns the header of a session of the user's in org.
func (k *tokenFixture) session() string {
	k.Helper()
	k.Put(identity.SessionKey(sid), identity.Session{
		ID: sid, User: user, Org: org, Epoch: 2, State: identity.SessionLive,
		Absolute: k.Platform.Clock.Now().Add(24 * time.Hour).Unix(),
	})
	return signToken(k.Fixture, org)
}

// request is one with the token, for the organizations.
func (k *tokenFixture) request(orgs ...string) Request {
	r := newRequest("Bearer " + k.secret)
	r.MultiValueHeaders["x-organisation-id"] = orgs
	return r
}

// caller is who comes in.
func (k *tokenFixture) caller(orgs ...string) identity.Caller {
	k.Helper()
	got := apitest.Value(k.f(k.Context(), k.request(orgs...)))(k)
	c, err := identity.NewDecoder().Decode(got.Context)
	if err != nil || c.User != user || c.Method != identity.MethodPAT || c.Session != "" ||
		c.Email != "ada@example.com" {
		k.Errorf("caller %+v, %v", c, err)
	}
	return c
}

func TestATokenActsAsItsUser(t *testing.T) {
	k := newTokenFixture(t)
	for name, c := range map[string]struct {
		wished []string
		org    string
	}{
		"in the oldest organization": {nil, org},
		"where the header says":      {[]string{otherOrg}, otherOrg},
		"in the oldest when named":   {[]string{org}, org},
	} {
		got := k.caller(c.wished...)
		if got.Org != c.org || identity.Allows(got, "actions:execute") != (c.org == org) ||
			!identity.Allows(got, "actions:read") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Without this rule, the owner of an older organization could redirect the requests of an invited user's programs to
// that organization. check 12.
func TestAnInvitationDrawsNoTokenAway(t *testing.T) {
	k := newTokenFixture(t)
	k.Clock.Advance(time.Hour)
	k.joinOrg("org_01k8z3v5y0e6m9x2q4t7r1c8b0", grant.Owner)
	if got := k.caller(); got.Org != org {
		t.Errorf("the token works in %s, an older organization that its user was invited to", got.Org)
	}
}

func TestOrganizationsThatATokenCannotName(t *testing.T) {
	k := newTokenFixture(t)
	stranger := "org_01k8z3v5y0e6m9x2q4t7r1c8bf"
	k.Put(identity.OrganisationKey(stranger), identity.Organisation{ID: stranger})
	for name, wished := range map[string][]string{
		"of others":             {stranger},
		"that nobody has":       {"org_01k8z3v5y0e6m9x2q4t7r1c8bg"},
		"no organization":       {user},
		"an empty one":          {""},
		"two":                   {org, org},
		"a list":                {org + "," + otherOrg},
		"a key of the store":    {"org_01k8z3v5y0e6m9x2q4t7r1c8bd#META"},
		"in another spelling":   {"ORG_01K8Z3V5Y0E6M9X2Q4T7R1C8BD"},
		"with a blank":          {org + " "},
		"a megabyte of letters": {string(slices.Repeat([]byte("a"), 1<<20))},
	} {
		if got := judgeRequest(k.f, k.request(wished...)); got != "Unauthorized" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestATokenOfAUserWithoutAnOrganization(t *testing.T) {
	k := newTokenFixture(t)
	for _, o := range []string{org, otherOrg} {
		for _, key := range []table.Key{identity.MembershipKey(user, o), identity.MemberKey(o, user)} {
			k.Write(table.Delete(key))
		}
	}
	if got := k.caller(); got.Org != "" || len(got.Grants) != 0 {
		t.Errorf("caller %+v", got)
	}
}

// Each change is made under a warm function that has let the token in before, and acts on the next request, whether or
// not the request names the organization. check 12.
func TestWhatEndsATokenAtOnce(t *testing.T) {
	set := func(key func(*tokenFixture) table.Key, field string, v any) func(*tokenFixture) {
		return func(k *tokenFixture) {
			k.Write(table.Update(key(k), []table.Change{table.Set(field, v)}))
		}
	}
	gone := func(key func(*tokenFixture) table.Key) func(*tokenFixture) {
		return func(k *tokenFixture) { k.Write(table.Delete(key(k))) }
	}
	token := func(k *tokenFixture) table.Key { return identity.PATKey(k.hash) }
	profile := func(*tokenFixture) table.Key { return identity.UserKey(user) }
	member := func(*tokenFixture) table.Key { return identity.MemberKey(org, user) }
	access := func(*tokenFixture) table.Key { return identity.AccessKey(org) }
	orgKey := func(*tokenFixture) table.Key { return identity.OrganisationKey(org) }
	for name, c := range map[string]struct {
		do   func(*tokenFixture)
		want string
	}{
		"nothing":     {func(*tokenFixture) {}, "Allow"},
		"revoking it": {gone(token), "Unauthorized"},
		"its last day": {func(k *tokenFixture) {
			k.Clock.Advance(90 * 24 * time.Hour)
		}, "Unauthorized"},
		"the day before it": {func(k *tokenFixture) {
			k.Clock.Advance(90*24*time.Hour - time.Second)
		}, "Allow"},
		"a reset of the password":                {set(profile, "epoch", 3), "Unauthorized"},
		"disabling the user":                     {set(profile, "disabled", true), "Unauthorized"},
		"the user's end":                         {gone(profile), "Unauthorized"},
		"disabling the member":                   {set(member, "disabled", true), "Unauthorized"},
		"removing the member":                    {gone(member), "Unauthorized"},
		"the organization's end":                 {set(access, "ended", true), "Unauthorized"},
		"sign-on of its own":                     {set(orgKey, "ssoDomains", []string{"example.com"}), "Unauthorized"},
		"sign-on of its own for other addresses": {set(orgKey, "ssoDomains", []string{"example.org"}), "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTokenFixture(t)
			for _, wished := range [][]string{nil, {org}} {
				k.caller(wished...)
			}
			c.do(k)
			for _, wished := range [][]string{nil, {org}} {
				if got := judgeRequest(k.f, k.request(wished...)); got != c.want {
					t.Errorf("%v: %s", wished, got)
				}
				if got := judgeRequest(Handler(k.Platform), k.request(wished...)); got != c.want {
					t.Errorf("a cold one, %v: %s", wished, got)
				}
			}
		})
	}
}

// check 12: who made the token and lost a policy since has lost it for the token as well.
func TestATokenHasTheRoleOfTheMoment(t *testing.T) {
	k := newTokenFixture(t)
	if !identity.Allows(k.caller(), "actions:execute") {
		t.Fatal("an operator's token does not operate")
	}
	k.Change(identity.MemberKey(org, user),
		table.Set("grants", []grant.Grant{{Role: grant.Viewer, Scope: grant.OrgScope}}))
	if c := k.caller(); identity.Allows(c, "actions:execute") || !identity.Allows(c, "actions:read") {
		t.Errorf("grants %+v", c.Grants)
	}
}

func TestATokenOfASingleSignOnSession(t *testing.T) {
	k := newTokenFixture(t)
	k.Change(identity.PATKey(k.hash), table.Set("sso", otherOrg))
	k.Change(identity.OrganisationKey(otherOrg), table.Set("ssoDomains", []string{"example.com"}))
	if got := k.caller(); got.Org != otherOrg {
		t.Errorf("without a header it is in %s", got.Org)
	}
	for name, c := range map[string]struct {
		wished []string
		want   string
	}{
		"in its organization": {[]string{otherOrg}, "Allow"},
		"in another one":      {[]string{org}, "Unauthorized"},
		"without a header":    {nil, "Allow"},
	} {
		if got := judgeRequest(k.f, k.request(c.wished...)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// An owner gets in where everybody else needs the organization's own sign-on: somebody must be able to mend it.
func TestAnOwnersTokenWhereSingleSignOnIsDemanded(t *testing.T) {
	k := newTokenFixture(t)
	k.Change(identity.OrganisationKey(org), table.Set("ssoDomains", []string{"example.com"}))
	k.serveOrg(org, grant.Owner)
	if got := judgeRequest(k.f, k.request()); got != "Allow" {
		t.Error(got)
	}
}

// serveOrg changes the role of the user in an organization.
func (k *tokenFixture) serveOrg(org, role string) {
	k.Helper()
	k.Change(identity.MemberKey(org, user), table.Set("grants", []grant.Grant{{Role: role, Scope: grant.OrgScope}}))
}

// check 12: a wrong checksum is refused without a look at the store.
func TestRoundTripsOfAToken(t *testing.T) {
	k := newTokenFixture(t)
	wrong := "Bearer " + k.secret[:41] + "!"
	for _, c := range []struct {
		name  string
		r     Request
		trips int
	}{
		{"a wrong checksum", newRequest(wrong), 0},
		{"a JWT's look", newRequest("Bearer " + k.secret + ".a.b"), 0},
		{"two organizations", k.request(org, otherOrg), 0},
		{"unknown", newRequest("Bearer " + identity.NewPAT()), 1},
		{"cold, with an organization", k.request(org), 3},
		{"warm, with an organization", k.request(org), 2},
		{"warm, with another organization", k.request(otherOrg), 2},
		{"warm, without", k.request(), 3},
	} {
		ctx, m := table.WithMeter(t.Context())
		_, err := k.f(ctx, c.r)
		if u := m.Usage(); u.RoundTrips != c.trips || (err == nil) != (c.trips > 1) {
			t.Errorf("%s: %+v, %v", c.name, u, err)
		}
	}
	ctx, m := table.WithMeter(t.Context())
	if _, err := Handler(k.Platform)(ctx, k.request()); err != nil || m.Usage().RoundTrips != 4 {
		t.Errorf("cold, without: %+v, %v", m.Usage(), err)
	}
}

// check 69: a token and a session of one organization share its minute.
func TestTokensAndSessionsShareAMinute(t *testing.T) {
	k := newTokenFixture(t)
	session := k.session()
	for i := range perMinute {
		r := k.request()
		if i%2 == 0 {
			r = newRequest(session)
		}
		if got := judgeRequest(k.f, r); got != "Allow" {
			t.Fatalf("request %d: %s", i+1, got)
		}
	}
	for name, c := range map[string]struct {
		r    Request
		want string
	}{
		"the session":                       {newRequest(session), "Deny"},
		"the token":                         {k.request(), "Deny"},
		"the token in another organization": {k.request(otherOrg), "Allow"},
	} {
		if got := judgeRequest(k.f, c.r); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestTheLastUseIsNotedHourly(t *testing.T) {
	k := newTokenFixture(t)
	used := func() time.Time {
		t.Helper()
		return time.Unix(apitest.Read[identity.PAT](k.Fixture, identity.PATKey(k.hash)).Used, 0).UTC()
	}
	k.Clock.Advance(time.Hour - time.Second)
	if k.caller(); !used().Equal(apitest.Start) {
		t.Errorf("noted within the hour: %s", used())
	}
	k.Clock.Advance(time.Second)
	if k.caller(); !used().Equal(apitest.Start.Add(time.Hour)) {
		t.Errorf("not noted after it: %s", used())
	}
	t.Run("and not by who is denied", func(t *testing.T) {
		for range perMinute {
			judgeRequest(k.f, k.request())
		}
		k.Clock.Advance(2 * time.Hour)
		session := k.session()
		for range perMinute + 1 {
			judgeRequest(k.f, newRequest(session))
		}
		if got := judgeRequest(k.f, k.request()); got != "Deny" || used().Equal(k.Platform.Clock.Now()) {
			t.Errorf("%s, used %s", got, used())
		}
	})
}

// Noting the use never stops a request, and never brings a revoked token back.
func TestTheLastUseIsNotWorthARequest(t *testing.T) {
	k := newTokenFixture(t)
	k.caller(org)
	whole := k.Table
	for name, harm := range map[string]table.Injection{
		"when the write fails":         {Harm: table.FailBefore, PK: identity.PATPrefix, Method: table.WriteMethod},
		"when its reply is lost":       {Harm: table.FailAfter, PK: identity.PATPrefix, Method: table.WriteMethod},
		"when the store is throttling": {Harm: table.Throttle, PK: identity.PATPrefix, Method: table.WriteMethod},
	} {
		k.Clock.Advance(2 * time.Hour)
		faulty := table.NewFaultyStore(whole, k.Clock, harm)
		k.Table = faulty
		if got := judgeRequest(k.f, k.request(org)); got != "Allow" {
			t.Errorf("%s: %s", name, got)
		}
		if faulty.CallCount() != 3 {
			t.Errorf("%s: %d calls, and the third should have been harmed", name, faulty.CallCount())
		}
	}
	k.Table = whole
	a := &authorizer{Platform: k.Platform}
	note := a.preparePATUse(k.hash, identity.PAT{ID: "pat_1"})
	key := identity.PATKey(k.hash)
	apitest.Value(whole.Write(table.Within(t.Context(), key.PK), table.Delete(key)))(t)
	note(t.Context())
	if found, err := whole.BatchGet(table.Within(t.Context(), key.PK), key); err != nil || len(found) != 0 {
		t.Errorf("a revoked token is back: %v, %v", found, err)
	}
}

func BenchmarkAuthorizePAT(b *testing.B) {
	fx := apitest.New(b)
	enterOrg(fx, org)
	secret := identity.NewPAT()
	hash := apitest.Value(identity.ParsePAT(secret))(fx)
	now := fx.Clock.Now()
	fx.Put(identity.PATKey(hash), identity.PAT{ID: "pat_1", User: user, Expires: now.AddDate(10, 0, 0)})
	f := Handler(fx.Platform)
	r := headerRequest("Authorization", "Bearer "+secret, "X-Organisation-Id", org)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%perMinute == 0 {
			fx.Clock.Advance(time.Minute) // else the minute is used up
		}
		if got := judgeRequest(f, r); got != "Allow" {
			b.Fatal(got)
		}
	}
}
