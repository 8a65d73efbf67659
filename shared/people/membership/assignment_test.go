package membership_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// wantAssignments requires that the organization's list of assignments equals the grants in its members' items.
func (s *fixture) wantAssignments(names ...string) []membership.Assignment {
	s.Helper()
	var want, got []membership.Assignment
	for _, name := range names {
		m := s.Member(org, name)
		for _, g := range m.Grants {
			want = append(want,
				membership.Assignment{ID: g.ID, User: m.User, Email: m.Email, Role: g.Role, Scope: g.Scope})
		}
	}
	var full []membership.Assignment
	s.Must(s.People.EachAssignment(s.Context(), org, func(a membership.Assignment) bool {
		full = append(full, a)
		got = append(got, membership.Assignment{ID: a.ID, User: a.User, Email: a.Email, Role: a.Role, Scope: a.Scope})
		return true
	}))
	byID := func(a, b membership.Assignment) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(want, byID)
	slices.SortFunc(got, byID)
	if !slices.Equal(got, want) {
		s.Errorf("listed %+v\nwant %+v", got, want)
	}
	return full
}

func TestTheListOfAssignmentsFollowsEveryMember(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	ctx := identity.WithCaller(s.Context(), identity.Caller{Org: org, User: "usr_ada", Email: "ada@example.com"})
	s.Must(s.People.JoinOrganisation(ctx, org, s.User("eve"), apitest.Roles(grant.Viewer)))
	for _, a := range s.wantAssignments("ada", "eve") {
		if a.CreatedBy != "ada@example.com" || !a.CreatedAt.Equal(s.Clock.Now().UTC().Truncate(1e6)) {
			t.Errorf("%+v", a)
		}
	}
	eve := s.Member(org, "eve")
	s.Must(s.People.ReplaceGrants(ctx, org, eve,
		append(eve.Grants, grant.Grant{Role: grant.Finops, Scope: "team:team_1"})))
	if all := s.wantAssignments("ada", "eve"); len(all) != 3 {
		t.Errorf("%d assignments", len(all))
	}
	s.Must(s.People.ReplaceGrants(ctx, org, s.Member(org, "eve"), apitest.Roles(grant.Admin))) // another ID
	s.wantAssignments("ada", "eve")
	kept := s.Member(org, "eve").Grants
	kept[0].Role = grant.Editor // with the same ID
	s.Must(s.People.ReplaceGrants(ctx, org, s.Member(org, "eve"), kept))
	s.wantAssignments("ada", "eve")
	s.Must(s.setDisabled(s.Member(org, "eve"), true))
	s.wantAssignments("ada", "eve")
	s.Must(s.People.RemoveMember(ctx, org, s.Member(org, "eve")))
	if all := s.wantAssignments("ada"); len(all) != 1 {
		t.Errorf("%d assignments", len(all))
	}
}

func TestAnAssignmentIsReadByItsID(t *testing.T) {
	s := newFixture(t)
	ada := s.Join(org, "ada", grant.Owner)
	got, err := s.People.ReadAssignment(s.Context(), org, ada.Grants[0].ID)
	if err != nil || got.User != ada.User || got.Role != grant.Owner || got.Scope != grant.OrgScope {
		t.Errorf("%+v, %v", got, err)
	}
	s.Organization("org_2", "Engines")
	for name, ask := range map[string]struct{ org, id string }{
		"another organization's": {"org_2", ada.Grants[0].ID},
		"nobody's":               {org, "asgn_01k8z3v5y0e6m9x2q4t7r1c8bd"},
		"not even an id":         {org, "latest"},
		"nothing":                {org, ""},
	} {
		_, err := s.People.ReadAssignment(s.Context(), ask.org, ask.id)
		if !fault.Is(err, fault.NotFound) || fault.Message(err) != `assignment "`+ask.id+`" does not exist` {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The founder of an organization has an assignment like all members.
func TestTheFoundersGrantIsAnAssignment(t *testing.T) {
	s := newFixture(t)
	u := s.User("ida")
	writes := apitest.Value(membership.NewOrgWrites(s.Context(), "org_2", u, s.Clock.Now()))(s)
	ctx := table.Within(s.Context(), identity.UserPrefix+u.ID, table.OrgPK("org_2"))
	s.Must(s.Table.Transact(ctx, writes...))
	_, m, err := s.People.ReadMember(ctx, "org_2", u.ID)
	if err != nil || !m.Owns() {
		t.Fatalf("%+v, %v", m, err)
	}
	if a, err := s.People.ReadAssignment(ctx, "org_2", m.Grants[0].ID); err != nil || a.CreatedBy != u.Email ||
		a.Role != grant.Owner {
		t.Errorf("%+v, %v", a, err)
	}
	if err := s.Table.Transact(ctx, writes...); !fault.Is(err, fault.Conflict) {
		t.Errorf("founded twice: %v", err)
	}
}

// One of two concurrent changes is refused: the deletion of a role, or an assignment of it.
func TestAnAssignmentByRolesThatHaveChangedIsRefused(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.Join(org, "eve")
	a := s.readAccess()
	g := grant.Grant{Role: "role_1", Scope: grant.OrgScope}
	s.Must(s.People.AssignRole(s.Context(), org, s.Member(org, "eve"),
		membership.Given{Grant: g, Generation: a.Generation}))
	if now := s.readAccess(); now.Generation != a.Generation+1 {
		t.Errorf("generation %d after %d", now.Generation, a.Generation)
	}
	err := s.People.AssignRole(s.Context(), org, s.Member(org, "eve"),
		membership.Given{Grant: g, Generation: a.Generation})
	if !errors.Is(err, membership.ErrChanged) {
		t.Errorf("by roles of before: %v", err)
	}
	s.wantAssignments("ada", "eve")
	a = s.readAccess()
	s.Must(s.People.AssignRole(s.Context(), org, s.Member(org, "eve"),
		membership.Given{Grant: grant.Grant{Role: grant.Owner, Scope: grant.OrgScope}, Generation: a.Generation}))
	if now := s.readAccess(); now.Generation != a.Generation || now.Owners != 2 {
		t.Errorf("a system role: %+v after %+v", now, a)
	}
}

func TestAMemberHasSoManyGrantsAndNoMore(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.Join(org, "eve")
	s.Clock.Advance(1e9)
	give := func(ctx context.Context) error {
		g := grant.Grant{Role: grant.Viewer, Scope: "team:team_1"}
		return s.People.AssignRole(ctx, org, s.Member(org, "eve"),
			membership.Given{Grant: g, Generation: s.readAccess().Generation})
	}
	for range identity.MaxGrants {
		s.Must(give(s.Context()))
	}
	if err := give(s.Context()); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more: %v", err)
	}
	if all := s.wantAssignments("ada", "eve"); len(all) != 1+identity.MaxGrants {
		t.Errorf("%d assignments", len(all))
	}
	s.Must(s.People.RemoveMember(s.Context(), org, s.Member(org, "eve"))) // all of them in one transaction
	s.wantAssignments("ada")
}
