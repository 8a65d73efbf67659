package authorizer

import (
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/testkit/apitest"
)

func BenchmarkAuthorize(b *testing.B) {
	fx := apitest.New(b)
	header := enterOrg(fx, org)
	fx.Put(identity.AccessKey(org), identity.Access{Members: 1, Roles: map[string]identity.CustomRole{
		"role_1": {ID: "role_1", Name: "on call", Policies: []string{"actions:read", "actions:execute"}},
	}})
	f := Handler(fx.Platform)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%perMinute == 0 {
			fx.Clock.Advance(time.Minute) // else the minute is used up
		}
		if n%(10*perMinute) == 0 { // else the token ends
			b.StopTimer()
			header = signToken(fx, org)
			fx.Put(identity.SessionKey(sid),
				identity.Session{
					ID: sid, User: user, Org: org, State: identity.SessionLive,
					Absolute: fx.Clock.Now().Add(24 * time.Hour).Unix(),
				})
			b.StartTimer()
		}
		if got := verdictOf(f, header); got != "Allow" {
			b.Fatal(got)
		}
	}
}
