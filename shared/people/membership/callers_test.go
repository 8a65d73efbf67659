package membership_test

import (
	"context"
	"fmt"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/people/membership"
)

func TestReadCallers_SaysWhatMembersMayDoAtTheMoment(t *testing.T) {
	f := newFixture(t)
	f.Join(org, "ada", "operator")
	f.Join(org, "bob", "viewer")
	f.Join(org, "cat", "owner")
	read := func() membership.Callers {
		t.Helper()
		got, err := membership.ReadCallers(f.In(org), f.Table, org, "usr_ada", "usr_bob", "usr_nobody", "", "usr_ada")
		f.Must(err)
		return got
	}
	want := func(name string, user string, all bool) {
		t.Helper()
		if got := read().Scopes(user, "overrides:write"); got.All != all || !all && !got.None() {
			t.Errorf("%s: %+v, want all %v", name, got, all)
		}
	}
	want("an operator", "usr_ada", true)
	want("a viewer", "usr_bob", false)
	want("somebody who is no member", "usr_nobody", false)
	want("the maker of a record that names none", "", true)
	f.Must(f.setDisabled(f.Member(org, "ada"), true))
	want("an operator who is disabled", "usr_ada", false)
	f.Must(f.setDisabled(f.Member(org, "ada"), false))
	want("an operator who is enabled again", "usr_ada", true)
	f.Must(f.People.RemoveMember(f.Context(), org, f.Member(org, "ada")))
	want("an operator who was removed", "usr_ada", false)
}

func TestReadCallers_FollowsTheRolesOfTheOrganization(t *testing.T) {
	f := newFixture(t)
	f.Put(identity.AccessKey(org),
		identity.Access{Roles: map[string]identity.CustomRole{"role_1": {
			ID:       "role_1",
			Policies: []string{"overrides:write"},
		}}})
	f.Must(f.People.JoinOrganisation(f.Context(), org, f.User("ada"),
		[]grant.Grant{{Role: "role_1", Scope: "team:team_1"}}))
	got, err := membership.ReadCallers(f.In(org), f.Table, org, "usr_ada")
	f.Must(err)
	f.Equal("scopes", got.Scopes("usr_ada", "overrides:write"), grant.Scopes{Teams: []string{"team_1"}})
	a := f.readAccess()
	a.Roles = nil
	f.Put(identity.AccessKey(org), a)
	if got, err = membership.ReadCallers(f.In(org), f.Table, org, "usr_ada"); err != nil ||
		!got.Scopes("usr_ada", "overrides:write").None() {
		t.Errorf("%+v, %v: the role is gone", got, err)
	}
}

func TestReadCallers_TakesOneRoundTripAndNoneForWhatIsRemembered(t *testing.T) {
	f := newFixture(t)
	var users []string
	for i := range 90 {
		f.Join(org, fmt.Sprint("u", i), "viewer")
		users = append(users, fmt.Sprint("usr_u", i))
	}
	u := f.Meter(func(ctx context.Context) {
		ctx = membership.RememberCallers(ctx)
		for range 3 {
			if got, err := membership.ReadCallers(ctx, f.Table, org, users...); err != nil || len(got) != 90 {
				t.Error(len(got), err)
			}
		}
	})
	f.Equal("round trips", u.RoundTrips, 1)
}
