package membership_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestJoiningOnceAndAgain(t *testing.T) {
	s := newFixture(t)
	ada := s.User("ada")
	if n := s.Meter(func(ctx context.Context) {
		s.Must(s.People.JoinOrganisation(ctx, org, ada, apitest.Roles(grant.Owner)))
	}).RoundTrips; n != 3 {
		t.Errorf("joining took %d round trips", n)
	}
	s.wantCounts(1, 1)
	before := s.Member(org, "ada")
	if before.Grants[0].ID == "" || !before.Owns() || !before.Joined.Equal(s.Clock.Now()) {
		t.Errorf("member %+v", before)
	}
	s.Must(s.People.JoinOrganisation(s.Context(), org, ada, apitest.Roles(grant.Viewer)))
	if after := s.Member(org, "ada"); !after.Owns() || after.Version != before.Version {
		t.Errorf("joining again made them %+v", after)
	}
	s.wantCounts(1, 1)
	all, err := identity.ListOrganisations(s.Context(), s.Table, ada.ID)
	if err != nil || len(all) != 1 || all[0].ID != org {
		t.Errorf("organizations %+v, %v", all, err)
	}
}

func TestJoiningAtOnceCountsOnce(t *testing.T) {
	s := newFixture(t)
	ada := s.User("ada")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := s.People.JoinOrganisation(s.Context(), org, ada, apitest.Roles(grant.Owner)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.wantCounts(1, 1)
}

func TestBoundsOfJoining(t *testing.T) {
	s := newFixture(t)
	s.Put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers, Owners: 1})
	s.wantKind(fault.Denied, s.People.JoinOrganisation(s.Context(), org, s.User("ada"), nil))
	s.Put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers - 1, Owners: 1})
	s.Must(s.People.JoinOrganisation(s.Context(), org, s.User("ada"), nil))
	s.wantKind(fault.Denied, s.People.JoinOrganisation(s.Context(), org, s.User("eve"), nil))

	s.Organization("org_2", "Engines")
	many := s.User("many")
	for i := range identity.MaxOrganisations {
		o := fmt.Sprintf("org_x%03d", i)
		s.Put(identity.MembershipKey(many.ID, o), identity.Membership{Org: o})
	}
	s.wantKind(fault.Denied, s.People.JoinOrganisation(s.Context(), "org_2", many, nil))
}

// TestJoining_SeveralOrganizationsAtOnceStaysWithinTheLimit: the user can join one more organization, and joins four
// that all count the others at the same moment.
func TestJoining_SeveralOrganizationsAtOnceStaysWithinTheLimit(t *testing.T) {
	s := newFixture(t)
	many := s.User("many")
	list := identity.MembershipKey(many.ID, "")
	for i := range identity.MaxOrganisations - 1 {
		o := fmt.Sprintf("org_x%03d", i)
		s.Put(identity.MembershipKey(many.ID, o), identity.Membership{Org: o})
	}
	const joins = 4
	p := s.Clone()
	p.Table = apitest.Meet(s.Table, list.PK, joins)
	people, errs := membership.New(p), make([]error, joins)
	var wg sync.WaitGroup
	for i := range errs {
		o := fmt.Sprintf("org_y%03d", i)
		s.Organization(o, o)
		wg.Go(func() { errs[i] = people.JoinOrganisation(s.Context(), o, many, nil) })
	}
	wg.Wait()
	joined := 0
	for _, err := range errs {
		if err == nil {
			joined++
		} else {
			s.wantKind(fault.Denied, err)
		}
	}
	page, err := s.Table.Query(s.Anywhere(), table.Query{PK: list.PK, Prefix: list.SK, Limit: 1000})
	s.Must(err)
	s.Equal("joined", joined, 1)
	s.Equal("memberships", len(page.Items), identity.MaxOrganisations)
}

func TestNobodyJoinsAnOrganizationThatEnds(t *testing.T) {
	s := newFixture(t)
	ada := s.Join(org, "ada", grant.Owner)
	s.Put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1, Ended: true})
	s.wantKind(fault.NotFound, s.People.JoinOrganisation(s.Context(), org, s.User("eve"), nil))
	s.wantKind(fault.NotFound, s.People.JoinOrganisation(s.Context(), "org_unknown", s.User("eve"), nil))
	s.wantKind(fault.NotFound, s.People.ReplaceGrants(s.Context(), org, ada, apitest.Roles(grant.Viewer)))
}

func TestWhoIsNotThereLooksLikeWhoIsNobody(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.User("eve")
	var said []string
	for _, email := range []string{"nobody@example.com", "eve@example.com", "not an address"} {
		_, _, err := s.People.FindMember(s.Context(), org, email)
		s.wantKind(fault.NotFound, err)
		said = append(said, strings.ReplaceAll(fault.Message(err), email, ""))
	}
	if said[0] == "" || said[0] != said[1] || said[1] != said[2] {
		t.Errorf("different answers: %q", said)
	}
	for _, email := range []string{"nobody@example.com", "eve@example.com", " ADA@example.com"} {
		if n := s.Meter(func(ctx context.Context) {
			_, _, _ = s.People.FindMember(ctx, org, email)
		}).RoundTrips; n != 2 {
			t.Errorf("%s took %d round trips", email, n)
		}
	}
}

func TestAChangeIsMadeOnlyToWhatWasRead(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	eve := s.Join(org, "eve", grant.Viewer)
	if n := s.Meter(func(ctx context.Context) {
		s.Must(s.People.ReplaceGrants(ctx, org, eve, apitest.Roles(grant.Editor)))
	}).RoundTrips; n != 1 {
		t.Errorf("%d round trips", n)
	}
	s.wantKind(fault.Conflict, s.People.ReplaceGrants(s.Context(), org, eve, apitest.Roles(grant.Admin)))
	s.wantKind(fault.Conflict, s.setDisabled(eve, true))
	s.wantKind(fault.Conflict, s.People.RemoveMember(s.Context(), org, eve))
	if now := s.Member(org, "eve"); now.Grants[0].Role != grant.Editor || now.Disabled {
		t.Errorf("became %+v", now)
	}
	eve = s.Member(org, "eve")
	s.Must(s.People.RemoveMember(s.Context(), org, eve))
	s.wantKind(fault.Conflict, s.People.ReplaceGrants(s.Context(), org, eve, apitest.Roles(grant.Admin)))
	s.Must(s.People.JoinOrganisation(s.Context(), org, identity.User{ID: eve.User, Email: eve.Email},
		apitest.Roles(grant.Viewer)))
	s.Clock.Advance(1)
	if again := s.Member(org, "eve"); again.Version == eve.Version {
		t.Error("who comes back is taken for who left")
	}
	s.wantCounts(2, 1)
}

func TestAMemberOfTheDaysBeforeVersions(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	k := identity.MemberKey(org, "usr_ada")
	s.Write(table.Update(k, []table.Change{table.Remove("version")}))
	old := s.Member(org, "ada")
	s.Must(s.People.ReplaceGrants(s.Context(), org, old, apitest.Roles(grant.Owner, grant.Viewer)))
	s.wantKind(fault.Conflict, s.People.ReplaceGrants(s.Context(), org, old, nil))
	s.wantCounts(1, 1)
}

func TestGrantsAreBounded(t *testing.T) {
	s := newFixture(t)
	ada := s.Join(org, "ada", grant.Owner)
	s.wantKind(fault.Conflict, s.People.ReplaceGrants(s.Context(), org, ada, make([]grant.Grant, identity.MaxGrants+1)))
	s.Must(s.People.ReplaceGrants(s.Context(), org, ada,
		append(apitest.Roles(grant.Owner), make([]grant.Grant, identity.MaxGrants-1)...)))
}

func TestWhatIsWrittenWithAChangeIsWrittenWithItOnly(t *testing.T) {
	s := newFixture(t)
	ada := s.Join(org, "ada", grant.Owner)
	k := table.Key{PK: table.OrgPK(org) + "TEAM", SK: "x"}
	row, err := table.NewItem(k, map[string]int{"n": 1})
	s.Must(err)
	s.wantKind(fault.Conflict,
		s.People.ReplaceGrants(s.Context(), org, ada, apitest.Roles(grant.Viewer), table.Put(row)))
	if _, err = s.Table.Get(table.Within(s.Context(), k.PK), k); !fault.Is(err, fault.NotFound) {
		t.Errorf("the row of a refused change: %v", err)
	}
	s.Must(s.People.ReplaceGrants(s.Context(), org, ada, apitest.Roles(grant.Owner, grant.Viewer), table.Put(row)))
	apitest.Value(s.Table.Get(table.Within(s.Context(), k.PK), k))(s)
}

func TestARoleOfOnesOwnIsGivenAsItWasJudged(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	eve := s.Join(org, "eve", grant.Viewer)
	judged := s.readAccess()
	next := eve
	next.Grants = apitest.Roles("role_1")
	a := judged
	a.Generation++
	s.Put(identity.AccessKey(org), a)
	_, err := s.People.ChangeMember(s.Context(), org, membership.MemberChange{Old: eve, New: next, Judged: judged})
	s.wantKind(fault.Conflict, err)
	apitest.Value(s.People.ChangeMember(s.Context(), org, membership.MemberChange{Old: eve, New: next, Judged: a}))(s)
	if got := s.readAccess().Generation; got != a.Generation+1 {
		t.Errorf("generation %d: the role could be deleted while it is given", got)
	}
	eve = s.Member(org, "eve")
	locked := eve
	locked.Disabled = true
	told := apitest.Value(s.People.ChangeMember(s.Context(), org, membership.MemberChange{Old: eve, New: locked}))(s)
	if now := s.Member(org, "eve"); !reflect.DeepEqual(told, now) || !now.Disabled || now.Grants[0].Role != "role_1" ||
		now.Grants[0].ID != eve.Grants[0].ID {
		t.Errorf("%+v", now)
	}
}
