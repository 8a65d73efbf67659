package authorizer

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// enterOrgs makes a user with sessions in n organizations, and returns their headers.
func enterOrgs(fx *apitest.Fixture, n int) []string {
	fx.Helper()
	now := fx.Clock.Now()
	fx.Put(identity.UserKey(user), identity.User{
		ID: user, Email: "ada@example.com", Verified: true, Organisations: int64(n),
	})
	fx.Put(identity.SessionKey(sid), identity.Session{
		ID: sid, User: user, State: identity.SessionLive, Absolute: now.Add(24 * time.Hour).Unix(),
	})
	headers := make([]string, n)
	for i := range headers {
		id := fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1c8%02d", i)
		fx.Put(identity.MemberKey(id, user), identity.Member{User: user, Grants: apitest.Roles(grant.Operator)})
		headers[i] = signToken(fx, id)
	}
	return headers
}

// allowed sends requests in turn with each of the headers, and returns how many were allowed.
func allowed(f Function, headers []string, rounds int) int {
	n := 0
	for range rounds {
		for _, h := range headers {
			if verdictOf(f, h) == "Allow" {
				n++
			}
		}
	}
	return n
}

func TestUserLimit_ThreeHundredRequestsAMinuteOverAllOrganizations(t *testing.T) {
	for n, want := range map[int]int{
		1: perMinute, 2: 2 * perMinute, 3: perUserMinute, 4: perUserMinute, 10: perUserMinute,
	} {
		t.Run(fmt.Sprint("in organizations: ", n), func(t *testing.T) {
			fx := apitest.New(t)
			setOffset(fx.Clock, 0)
			headers, f := enterOrgs(fx, n), Handler(fx.Platform)
			for _, minute := range []string{"first", "second"} {
				if got := allowed(f, headers, perMinute+5); got != want {
					t.Errorf("%s minute: %d requests, want %d", minute, got, want)
				}
				setOffset(fx.Clock, 0)
			}
		})
	}
}

func TestUserLimit_IsSharedByAuthorizers(t *testing.T) {
	fx := apitest.New(t)
	setOffset(fx.Clock, 0)
	headers, got := enterOrgs(fx, 5), 0
	for range 12 {
		got += allowed(Handler(fx.Platform), headers, 15)
	}
	if got != perUserMinute {
		t.Errorf("%d requests through twelve authorizers, want %d", got, perUserMinute)
	}
}

// A user who has no request left takes none from an organization, and another member has all of them.
func TestUserLimit_TakesNothingFromTheOrganization(t *testing.T) {
	fx := apitest.New(t)
	setOffset(fx.Clock, 0)
	headers, f := enterOrgs(fx, 5), Handler(fx.Platform)
	for range perMinute {
		for _, h := range headers[:4] {
			verdictOf(f, h)
		}
	}
	if got := allowed(f, headers[4:], 50); got != 0 {
		t.Fatalf("%d requests beyond the user's limit", got)
	}
	const eve, eveSession = "usr_eve", "evesession"
	org := fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1c8%02d", 4)
	fx.Put(identity.UserKey(eve), identity.User{ID: eve, Email: "eve@example.com", Verified: true, Organisations: 1})
	fx.Put(identity.SessionKey(eveSession), identity.Session{
		ID: eveSession, User: eve, State: identity.SessionLive, Absolute: fx.Clock.Now().Add(time.Hour).Unix(),
	})
	fx.Put(identity.MemberKey(org, eve), identity.Member{User: eve, Grants: apitest.Roles(grant.Operator)})
	header := signTokenOf(fx, eve, eveSession, org)
	if got := allowed(f, []string{header}, perMinute+5); got < perMinute-1 {
		t.Errorf("another member has %d requests, want at least %d", got, perMinute-1)
	}
}

// Most users belong to few organizations, whose limits are enough: their requests cost no second count.
func TestUserLimit_Costs(t *testing.T) {
	for n, want := range map[int]table.Usage{
		1: {RoundTrips: 2, ReadUnits: 4, WriteUnits: 1},
		3: {RoundTrips: 2, ReadUnits: 4, WriteUnits: 1},
		4: {RoundTrips: 3, ReadUnits: 4, WriteUnits: 2}, // the two counts at the same time
	} {
		fx := apitest.New(t)
		headers, f := enterOrgs(fx, n), Handler(fx.Platform)
		verdictOf(f, headers[0])
		got := fx.Meter(func(ctx context.Context) { apitest.Value(f(ctx, newRequest(headers[0])))(t) })
		if got.RoundTrips != want.RoundTrips || got.WriteUnits != want.WriteUnits {
			t.Errorf("%d organizations: %+v, want %+v", n, got, want)
		}
	}
}
