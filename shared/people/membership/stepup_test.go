package membership_test

import (
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// To make an owner, or to change one, wants a second factor that was proved lately, of a caller who has one.
func TestMayGrant_OwnersWantAFreshSecondFactor(t *testing.T) {
	owner, _ := grant.SystemRole(grant.Owner)
	admin, _ := grant.SystemRole("admin")
	access := identity.Access{Owners: 2}
	for _, c := range []struct {
		factor identity.SecondFactor
		may    bool
	}{{identity.NoFactor, true}, {identity.StaleFactor, false}, {identity.FreshFactor, true}} {
		who := apitest.Caller(apitest.Org, "ada", grant.Owner)
		who.SecondFactor = c.factor
		other := func(role string) identity.Member {
			return identity.Member{User: "usr_eve", Email: "eve@example.com", Grants: apitest.Roles(role)}
		}
		for name, err := range map[string]error{
			"make an owner":       membership.MayGrant(who, owner.Policies, grant.OrgScope),
			"of all policies":     membership.MayGrant(who, []string{"*:*"}, grant.OrgScope),
			"change an owner":     membership.MayChange(who, access, other(grant.Owner)),
			"delete organization": membership.MayGrant(who, []string{"organisation:delete"}, grant.OrgScope),
		} {
			if (err == nil) != c.may || !c.may && !fault.Is(err, fault.Denied) {
				t.Errorf("%s with factor %q: %v", name, c.factor, err)
			}
		}
		for name, err := range map[string]error{
			"make an admin":   membership.MayGrant(who, admin.Policies, grant.OrgScope),
			"change an admin": membership.MayChange(who, access, other("admin")),
			"owner of a team": membership.MayGrant(who, owner.Policies, "team:team_1"),
		} {
			if err != nil {
				t.Errorf("%s with factor %q: %v", name, c.factor, err)
			}
		}
	}
	lesser := apitest.Caller(apitest.Org, "ada", "admin")
	lesser.SecondFactor = identity.StaleFactor
	if err := membership.MayGrant(lesser, owner.Policies, grant.OrgScope); err == nil ||
		fault.Message(err)[:17] != "permission denied" {
		t.Errorf("who may not at all: %v", err)
	}
	token := apitest.Caller(apitest.Org, "ada", grant.Owner)
	token.SecondFactor, token.Session = identity.StaleFactor, ""
	if err := membership.MayGrant(token, owner.Policies, grant.OrgScope); !fault.Is(err, fault.Denied) {
		t.Errorf("a personal access token: %v", err)
	}
}
