package authorizer

import (
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// admitted is the caller of a request with the header, or the refusal.
func admitted(fx *apitest.Fixture, header string) (identity.Caller, string) {
	fx.Helper()
	got, err := askFunction(Handler(fx.Platform), header)
	if err != nil {
		return identity.Caller{}, err.Error()
	}
	return apitest.Value(identity.NewDecoder().Decode(got.Context))(fx), got.PolicyDocument.Statement[0].Effect
}

// A session without a second factor is in no organization until it proves one, but it is not refused: its user can set
// one up in it.
func TestRequireMFA_Sessions(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	fx.Put(identity.AccessKey(org), identity.Access{RequireMFA: true})
	proved := table.Set("proved", fx.Clock.Now().Unix())
	for _, c := range []struct {
		name string
		do   func()
		in   bool
	}{
		{"without a second factor", func() {}, false},
		{"with one that the session has not proved", func() {
			fx.Change(identity.UserKey(user), table.Set("totp", true))
		}, false},
		{"proved", func() { fx.Change(identity.SessionKey(sid), proved) }, true},
		{"removed since", func() { fx.Change(identity.UserKey(user), table.Remove("totp")) }, false},
		{"with a passkey", func() { fx.Change(identity.UserKey(user), table.Set("passkeys", 1)) }, true},
		{"by the organization's own provider", func() {
			fx.Change(identity.UserKey(user), table.Remove("passkeys"))
			fx.Change(identity.SessionKey(sid), table.Remove("proved"), table.Set("sso", org))
		}, true},
		{"by its provider no more", func() { fx.Change(identity.SessionKey(sid), table.Remove("sso")) }, false},
		{"the demand is over", func() { fx.Put(identity.AccessKey(org), identity.Access{}) }, true},
	} {
		c.do()
		got, verdict := admitted(fx, header)
		if verdict != "Allow" || got.User != user {
			t.Errorf("%s: %s %+v", c.name, verdict, got)
		}
		in := got.Org == org && got.Barred == "" && identity.Allows(got, "actions:execute")
		out := got.Org == "" && got.Barred == org && len(got.Grants) == 0
		if in != c.in || out == c.in {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestRequireMFA_PersonalAccessTokens(t *testing.T) {
	fx := apitest.New(t)
	enterOrg(fx, org)
	fx.Put(identity.MembershipKey(user, org), identity.Membership{Org: org})
	fx.Put(identity.AccessKey(org), identity.Access{RequireMFA: true})
	for name, c := range map[string]struct {
		made, has bool
		sso       string
		in        bool
	}{
		"of a session without a second factor":   {false, false, "", false},
		"of before the second factor":            {false, true, "", false},
		"of a session with one":                  {true, true, "", true},
		"of a user who has removed it":           {true, false, "", false},
		"of a session of single sign-on":         {false, false, org, true},
		"of a session of single sign-on, and so": {true, true, org, true},
	} {
		secret := identity.NewPAT()
		hash := apitest.Value(identity.ParsePAT(secret))(t)
		fx.Put(identity.PATKey(hash), identity.PAT{
			ID: "pat_1", User: user, MFA: c.made, SSO: c.sso, Created: fx.Clock.Now(),
			Expires: fx.Clock.Now().Add(time.Hour),
		})
		fx.Change(identity.UserKey(user), table.Set("totp", c.has))
		got, verdict := admitted(fx, "Bearer "+secret)
		if verdict != "Allow" || (got.Org == org) != c.in || (got.Barred == org) == c.in {
			t.Errorf("%s: %s %+v", name, verdict, got)
		}
	}
}

func TestSecondFactor_IsFreshForTenMinutes(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	want := func(when string, factor identity.SecondFactor) {
		t.Helper()
		if got, verdict := admitted(fx, header); got.SecondFactor != factor || got.Org != org {
			t.Errorf("%s: %s %+v, want %q", when, verdict, got, factor)
		}
	}
	want("without one", identity.NoFactor)
	fx.Change(identity.UserKey(user), table.Set("totp", true))
	want("never proved", identity.StaleFactor)
	fx.Change(identity.SessionKey(sid), table.Set("proved", fx.Clock.Now().Unix()))
	want("now", identity.FreshFactor)
	fx.Clock.Advance(identity.StepUpWindow)
	want("ten minutes later", identity.FreshFactor)
	fx.Clock.Advance(time.Second)
	want("a second later", identity.StaleFactor)
}

func TestPendingSessions_AreRefused(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	fx.Change(identity.SessionKey(sid), table.Set("pending", true))
	if _, verdict := admitted(fx, header); verdict != "Unauthorized" {
		t.Errorf("got %s", verdict)
	}
}

// The demand and the second factor cost no further round trip.
func TestRequireMFA_CostsNoRead(t *testing.T) {
	fx := apitest.New(t)
	header := enterOrg(fx, org)
	fx.Put(identity.AccessKey(org), identity.Access{RequireMFA: true})
	fx.Change(identity.UserKey(user), table.Set("totp", true))
	fx.Change(identity.SessionKey(sid), table.Set("proved", fx.Clock.Now().Unix()))
	ctx, meter := table.WithMeter(t.Context())
	if _, err := Handler(fx.Platform)(ctx, newRequest(header)); err != nil || meter.Usage().RoundTrips != 2 {
		t.Errorf("%d round trips, %v", meter.Usage().RoundTrips, err)
	}
}
