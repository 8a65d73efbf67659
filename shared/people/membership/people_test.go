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
)

func TestJoiningOnceAndAgain(t *testing.T) {
	s := newStage(t)
	ada := s.user("ada")
	if n := s.trips(func(ctx context.Context) { s.must(s.Join(ctx, org, ada, grants(grant.Owner))) }); n != 2 {
		t.Errorf("joining took %d round trips", n)
	}
	s.counts(1, 1)
	before := s.found("ada")
	if before.Grants[0].ID == "" || !before.Owns() || !before.Joined.Equal(s.clock.Now()) {
		t.Errorf("member %+v", before)
	}
	s.must(s.Join(s.ctx, org, ada, grants(grant.Viewer)))
	if after := s.found("ada"); !after.Owns() || after.Version != before.Version {
		t.Errorf("joining again made them %+v", after)
	}
	s.counts(1, 1)
	all, err := identity.OrganisationsOf(s.ctx, s.Table, ada.ID)
	if err != nil || len(all) != 1 || all[0].ID != org {
		t.Errorf("organizations %+v, %v", all, err)
	}
}

func TestJoiningAtOnceCountsOnce(t *testing.T) {
	s := newStage(t)
	ada := s.user("ada")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := s.Join(s.ctx, org, ada, grants(grant.Owner)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.counts(1, 1)
}

func TestBoundsOfJoining(t *testing.T) {
	s := newStage(t)
	s.put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers, Owners: 1})
	s.want(fault.Denied, s.Join(s.ctx, org, s.user("ada"), nil))
	s.put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers - 1, Owners: 1})
	s.must(s.Join(s.ctx, org, s.user("ada"), nil))
	s.want(fault.Denied, s.Join(s.ctx, org, s.user("eve"), nil))

	s.organisation("org_2")
	many := s.user("many")
	for i := range identity.MaxOrganisations {
		o := fmt.Sprintf("org_x%03d", i)
		s.put(identity.MembershipKey(many.ID, o), identity.Membership{Org: o})
	}
	s.want(fault.Denied, s.Join(s.ctx, "org_2", many, nil))
}

func TestNobodyJoinsAnOrganizationThatEnds(t *testing.T) {
	s := newStage(t)
	ada := s.member("ada", grant.Owner)
	s.put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1, Ended: true})
	s.want(fault.NotFound, s.Join(s.ctx, org, s.user("eve"), nil))
	s.want(fault.NotFound, s.Join(s.ctx, "org_unknown", s.user("eve"), nil))
	s.want(fault.NotFound, s.Regrant(s.ctx, org, ada, grants(grant.Viewer)))
}

func TestWhoIsNotThereLooksLikeWhoIsNobody(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.user("eve")
	var said []string
	for _, email := range []string{"nobody@example.com", "eve@example.com", "not an address"} {
		_, _, err := s.Find(s.ctx, org, email)
		s.want(fault.NotFound, err)
		said = append(said, strings.ReplaceAll(fault.Message(err), email, ""))
	}
	if said[0] == "" || said[0] != said[1] || said[1] != said[2] {
		t.Errorf("different answers: %q", said)
	}
	for _, email := range []string{"nobody@example.com", "eve@example.com", " ADA@example.com"} {
		if n := s.trips(func(ctx context.Context) { _, _, _ = s.Find(ctx, org, email) }); n != 2 {
			t.Errorf("%s took %d round trips", email, n)
		}
	}
}

func TestAChangeIsMadeOnlyToWhatWasRead(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	eve := s.member("eve", grant.Viewer)
	if n := s.trips(func(ctx context.Context) { s.must(s.Regrant(ctx, org, eve, grants(grant.Editor))) }); n != 1 {
		t.Errorf("%d round trips", n)
	}
	s.want(fault.Conflict, s.Regrant(s.ctx, org, eve, grants(grant.Admin)))
	s.want(fault.Conflict, s.disable(eve, true))
	s.want(fault.Conflict, s.Remove(s.ctx, org, eve))
	if now := s.found("eve"); now.Grants[0].Role != grant.Editor || now.Disabled {
		t.Errorf("became %+v", now)
	}
	eve = s.found("eve")
	s.must(s.Remove(s.ctx, org, eve))
	s.want(fault.Conflict, s.Regrant(s.ctx, org, eve, grants(grant.Admin)))
	s.must(s.Join(s.ctx, org, identity.User{ID: eve.User, Email: eve.Email}, grants(grant.Viewer)))
	s.later(1)
	if again := s.found("eve"); again.Version == eve.Version {
		t.Error("who comes back is taken for who left")
	}
	s.counts(2, 1)
}

func TestAMemberOfTheDaysBeforeVersions(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	k := identity.MemberKey(org, "usr_ada")
	_, err := s.Table.Write(table.Within(s.ctx, k.PK), table.Update(k, []table.Change{table.Remove("version")}))
	s.must(err)
	old := s.found("ada")
	s.must(s.Regrant(s.ctx, org, old, grants(grant.Owner, grant.Viewer)))
	s.want(fault.Conflict, s.Regrant(s.ctx, org, old, nil))
	s.counts(1, 1)
}

func TestGrantsAreBounded(t *testing.T) {
	s := newStage(t)
	ada := s.member("ada", grant.Owner)
	s.want(fault.Conflict, s.Regrant(s.ctx, org, ada, make([]grant.Grant, identity.MaxGrants+1)))
	s.must(s.Regrant(s.ctx, org, ada, append(grants(grant.Owner), make([]grant.Grant, identity.MaxGrants-1)...)))
}

func TestWhatIsWrittenWithAChangeIsWrittenWithItOnly(t *testing.T) {
	s := newStage(t)
	ada := s.member("ada", grant.Owner)
	k := table.Key{PK: table.TenantPK(org) + "TEAM", SK: "x"}
	row, err := table.Row(k, map[string]int{"n": 1})
	s.must(err)
	s.want(fault.Conflict, s.Regrant(s.ctx, org, ada, grants(grant.Viewer), table.Put(row)))
	if _, err = s.Table.Get(table.Within(s.ctx, k.PK), k); !fault.Is(err, fault.NotFound) {
		t.Errorf("the row of a refused change: %v", err)
	}
	s.must(s.Regrant(s.ctx, org, ada, grants(grant.Owner, grant.Viewer), table.Put(row)))
	_, err = s.Table.Get(table.Within(s.ctx, k.PK), k)
	s.must(err)
}

func TestARoleOfOnesOwnIsGivenAsItWasJudged(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	eve := s.member("eve", grant.Viewer)
	judged := s.access()
	next := eve
	next.Grants = grants("role_1")
	a := judged
	a.Generation++
	s.put(identity.AccessKey(org), a)
	_, err := s.Change(s.ctx, org, membership.Change{Old: eve, New: next, Judged: judged})
	s.want(fault.Conflict, err)
	_, err = s.Change(s.ctx, org, membership.Change{Old: eve, New: next, Judged: a})
	s.must(err)
	if got := s.access().Generation; got != a.Generation+1 {
		t.Errorf("generation %d: the role could be deleted while it is given", got)
	}
	eve = s.found("eve")
	locked := eve
	locked.Disabled = true
	told, err := s.Change(s.ctx, org, membership.Change{Old: eve, New: locked})
	s.must(err)
	if now := s.found("eve"); !reflect.DeepEqual(told, now) || !now.Disabled || now.Grants[0].Role != "role_1" || now.Grants[0].ID != eve.Grants[0].ID {
		t.Errorf("%+v", now)
	}
}
