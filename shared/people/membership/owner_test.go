package membership_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// check 43: the last owner cannot be removed, demoted or locked out.
func TestTheLastOwnerStays(t *testing.T) {
	s := newFixture(t)
	ada := s.Join(org, "ada", grant.Owner)
	s.Join(org, "eve", grant.Admin)
	for name, change := range map[string]func(identity.Member) error{
		"removed": func(m identity.Member) error { return s.People.RemoveMember(s.Context(), org, m) },
		"demoted": func(m identity.Member) error {
			return s.People.ReplaceGrants(s.Context(), org, m, apitest.Roles(grant.Admin))
		},
		"locked out": func(m identity.Member) error { return s.setDisabled(m, true) },
	} {
		t.Run(name, func(t *testing.T) {
			err := change(ada)
			if !fault.Is(err, fault.Conflict) ||
				!strings.Contains(fault.Message(err), "the last owner cannot be removed or demoted") {
				t.Errorf("%v", err)
			}
			s.wantCounts(2, 1)
		})
	}
	if !s.Member(org, "ada").Owns() {
		t.Error("the last owner went")
	}
}

func TestAnOwnerWhoIsDisabledDoesNotCount(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	eve := s.Join(org, "eve", grant.Owner)
	s.wantCounts(2, 2)
	s.Must(s.setDisabled(eve, true))
	s.wantCounts(2, 1)
	s.wantKind(fault.Conflict, s.People.RemoveMember(s.Context(), org, s.Member(org, "ada")))
	s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "eve"), apitest.Roles(grant.Viewer)))
	s.wantCounts(2, 1)
	s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "eve"), apitest.Roles(grant.Owner)))
	s.wantCounts(2, 1)
	s.Must(s.setDisabled(s.Member(org, "eve"), false))
	s.wantCounts(2, 2)
	s.Must(s.People.RemoveMember(s.Context(), org, s.Member(org, "ada")))
	s.wantCounts(1, 1)
}

func TestAScopedOwnerIsNoOwner(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	eve := s.Join(org, "eve")
	s.Must(s.People.ReplaceGrants(s.Context(), org, eve, []grant.Grant{{Role: grant.Owner, Scope: "team:team_1"}}))
	s.wantCounts(2, 1)
	s.wantKind(fault.Conflict, s.People.RemoveMember(s.Context(), org, s.Member(org, "ada")))
}

// check 43: if two owners remove each other at the same time, one of them stays, in any order.
func TestTwoOwnersWhoRemoveEachOther(t *testing.T) {
	s := newFixture(t)
	for round := range 200 {
		a, b := s.Join(org, fmt.Sprintf("a%d", round), grant.Owner), s.Join(org, fmt.Sprintf("b%d", round), grant.Owner)
		if round > 0 {
			s.Must(s.People.RemoveMember(s.Context(), org, s.survivingOwner(round-1)))
		}
		gone := make([]error, 2)
		var wg sync.WaitGroup
		for i, m := range []identity.Member{a, b} {
			wg.Go(func() {
				if round%2 == 0 {
					gone[i] = s.People.RemoveMember(s.Context(), org, m)
				} else {
					gone[i] = s.People.ReplaceGrants(s.Context(), org, m, apitest.Roles(grant.Viewer))
				}
			})
		}
		wg.Wait()
		if (gone[0] == nil) == (gone[1] == nil) || s.readAccess().Owners != 1 || !s.survivingOwner(round).Owns() {
			t.Fatalf("round %d: %v, %v; %+v", round, gone[0], gone[1], s.readAccess())
		}
	}
}

// survivingOwner returns the remaining owner of a round.
func (s *fixture) survivingOwner(round int) identity.Member {
	for _, name := range []string{"a", "b"} {
		_, m, err := s.People.FindMember(s.Context(), org, fmt.Sprintf("%s%d@example.com", name, round))
		if err == nil && m.Owns() {
			return m
		}
	}
	s.Fatalf("round %d left no owner", round)
	return identity.Member{}
}

// check 43: members give only policies that they hold at the scope.
func TestWhatMayBeGranted(t *testing.T) {
	everything := make([]string, 0, len(grant.Policies()))
	for _, p := range grant.Policies() {
		everything = append(everything, p.ID)
	}
	team := grant.Grant{Policies: []string{"actions:execute", "teams:*"}, Scope: "team:team_1"}
	for name, c := range map[string]struct {
		caller   identity.Caller
		policies []string
		scope    string
		lacks    string // "" if it is allowed
	}{
		"an owner gives everything": {callerWith(apitest.Roles("owner")...), []string{"*:*"}, "org", ""},
		"an owner on a team": {
			callerWith(apitest.Roles("owner")...),
			[]string{"*:*"},
			"team:team_9",
			"",
		},
		"who holds each policy holds everything": {
			callerWith(grant.Grant{Policies: everything, Scope: "org"}),
			[]string{"*:*"},
			"org", "",
		},
		"an admin does not make owners": {
			callerWith(apitest.Roles("admin")...),
			[]string{"*:*"},
			"org",
			"organisation:delete",
		},
		"an admin gives a wildcard that is held": {
			callerWith(apitest.Roles("admin")...),
			[]string{"users:*", "*:read"},
			"org", "",
		},
		"an admin does not give a wildcard beyond": {
			callerWith(apitest.Roles("admin")...),
			[]string{"organisation:*"},
			"org", "organisation:delete",
		},
		"a viewer does not give reading of users": {
			callerWith(apitest.Roles("viewer")...),
			[]string{"*:read"},
			"org",
			"users:read",
		},
		"the first that is missing is named": {
			callerWith(apitest.Roles("viewer")...),
			[]string{"webhooks:write", "users:read"},
			"org", "users:read",
		},
		"two grants together": {
			callerWith(append(apitest.Roles("viewer"),
				grant.Grant{Policies: []string{"users:read"}, Scope: "org"})...),
			[]string{"users:read", "teams:read"},
			"org", "",
		},
		"a team's on the team": {
			callerWith(team),
			[]string{"actions:execute", "teams:write"},
			"team:team_1", "",
		},
		"a team's on another team": {
			callerWith(team),
			[]string{"actions:execute"},
			"team:team_2",
			"actions:execute",
		},
		"a team's on everything": {
			callerWith(team),
			[]string{"actions:execute"},
			"org",
			"actions:execute",
		},
		"a team's on a resource": {
			callerWith(team),
			[]string{"actions:execute"},
			"resource:res_1",
			"actions:execute",
		},
		"nothing": {callerWith(), nil, "org", ""},
		"nobody":  {identity.Caller{}, []string{"teams:read"}, "org", "teams:read"},
	} {
		t.Run(name, func(t *testing.T) {
			err := membership.MayGrant(c.caller, c.policies, c.scope)
			if (err == nil) != (c.lacks == "") || err != nil &&
				(!fault.Is(err, fault.Denied) || !strings.Contains(fault.Message(err), c.lacks)) {
				t.Errorf("%v", err)
			}
		})
	}
}

// check 43: members change neither themselves nor members with more rights.
func TestWhoMayBeChanged(t *testing.T) {
	a := identity.Access{Roles: map[string]identity.CustomRole{
		"role_1": {ID: "role_1", Policies: []string{"organisation:delete"}},
		"role_2": {ID: "role_2", Policies: []string{"users:read"}},
	}}
	admin := callerWith(apitest.Roles(grant.Admin)...)
	for name, c := range map[string]struct {
		user string
		gs   []grant.Grant
		may  bool
	}{
		"a viewer":                        {"usr_2", apitest.Roles("viewer"), true},
		"another admin":                   {"usr_2", apitest.Roles("admin"), true},
		"an owner":                        {"usr_2", apitest.Roles("owner"), false},
		"an owner of a team":              {"usr_2", []grant.Grant{{Role: "owner", Scope: "team:team_1"}}, false},
		"one with a role that holds more": {"usr_2", apitest.Roles("viewer", "role_1"), false},
		"one with a role that does not":   {"usr_2", apitest.Roles("role_2"), true},
		"one whose role is gone":          {"usr_2", apitest.Roles("role_9"), true},
		"oneself":                         {"usr_1", apitest.Roles("viewer"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := membership.MayChange(admin, a,
				identity.Member{User: c.user, Grants: c.gs}); (err == nil) != c.may || err != nil &&
				!fault.Is(err, fault.Denied) {
				t.Errorf("%v", err)
			}
		})
	}
}
