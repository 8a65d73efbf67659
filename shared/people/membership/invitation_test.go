package membership_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// invited makes an invitation of name with the role by the member by.
func (s *stage) invited(name, role, by string) membership.Invitation {
	s.t.Helper()
	inv, err := s.Invite(s.ctx, org, membership.Invitation{}, membership.Invitation{Email: name + "@example.com", Role: role, Inviter: "usr_" + by})
	s.must(err)
	return inv
}

// isMember tells whether name belongs to the organization.
func (s *stage) isMember(name string) bool {
	s.t.Helper()
	_, _, err := s.Find(s.ctx, org, name+"@example.com")
	if err != nil && !fault.Is(err, fault.NotFound) {
		s.t.Fatal(err)
	}
	return err == nil
}

// left is how many rows of eve's invitation there are, on both sides.
func (s *stage) left() int {
	s.t.Helper()
	n := 0
	for _, k := range []table.Key{membership.InvitationKey(s.Settings.Pepper, org, "eve@example.com"), membership.InvitedKey(s.Settings.Pepper, org, "eve@example.com")} {
		if _, err := s.Table.Get(table.Within(s.ctx, k.PK), k); err == nil {
			n++
		}
	}
	return n
}

func TestAnInvitationIsAcceptedByProvingTheAddress(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.invited("eve", grant.Editor, "ada")
	eve := s.user("eve")
	unproved := eve
	unproved.Verified = false
	s.must(s.Accept(s.ctx, unproved, ""))
	if s.isMember("eve") {
		t.Fatal("joined with an address that was not proved")
	}
	s.must(s.Accept(s.ctx, s.user("mallory"), ""))
	if s.isMember("mallory") {
		t.Fatal("joined by the invitation of another address")
	}
	s.must(s.Accept(s.ctx, eve, "org_2"))
	if s.isMember("eve") {
		t.Fatal("joined an organization that did not vouch")
	}
	s.must(s.Accept(s.ctx, eve, ""))
	if m := s.found("eve"); m.Grants[0].Role != grant.Editor || m.Grants[0].Scope != grant.OrgScope || m.Grants[0].ID == "" {
		t.Errorf("joined as %+v", m)
	}
	if n := s.left(); n != 0 {
		t.Errorf("%d rows of the invitation are left", n)
	}
	s.counts(2, 1)
}

func TestNoInvitationCostsOneRoundTrip(t *testing.T) {
	s := newStage(t)
	eve := s.user("eve")
	if n := s.trips(func(ctx context.Context) { s.must(s.Accept(ctx, eve, "")) }); n != 1 {
		t.Errorf("%d round trips", n)
	}
}

// check 43: an invitation gives only what its inviter may give at the moment of joining.
func TestInvitationsThatDoNotHoldAnyMore(t *testing.T) {
	for name, spoil := range map[string]func(s *stage, inv membership.Invitation){
		"it expired":                 func(s *stage, _ membership.Invitation) { s.later(membership.InvitationTTL + time.Second) },
		"it was withdrawn":           func(s *stage, inv membership.Invitation) { s.must(s.Withdraw(s.ctx, org, inv)) },
		"the inviter was removed":    func(s *stage, _ membership.Invitation) { s.must(s.Remove(s.ctx, org, s.found("bob"))) },
		"the inviter was locked out": func(s *stage, _ membership.Invitation) { s.must(s.disable(s.found("bob"), true)) },
		"the inviter was demoted": func(s *stage, _ membership.Invitation) {
			s.must(s.Regrant(s.ctx, org, s.found("bob"), grants(grant.Viewer)))
		},
		"the inviter may not invite any more": func(s *stage, _ membership.Invitation) {
			s.must(s.Regrant(s.ctx, org, s.found("bob"), grants(grant.Editor)))
		},
		"the inviter's account was closed": func(s *stage, _ membership.Invitation) {
			u := s.user("bob")
			u.Disabled = true
			s.put(identity.UserKey(u.ID), u)
		},
		"the inviter left and came back as less": func(s *stage, _ membership.Invitation) {
			s.must(s.Remove(s.ctx, org, s.found("bob")))
			s.later(time.Second)
			s.must(s.Join(s.ctx, org, s.user("bob"), grants(grant.Viewer)))
		},
		"the organization ends": func(s *stage, _ membership.Invitation) { s.end() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.member("ada", grant.Owner)
			s.member("bob", grant.Admin)
			spoil(s, s.invited("eve", grant.Editor, "bob"))
			s.must(s.Accept(s.ctx, s.user("eve"), ""))
			if s.isMember("eve") || s.left() != 0 {
				t.Errorf("member %v, %d rows left", s.isMember("eve"), s.left())
			}
		})
	}
}

func (s *stage) end() {
	a := s.access()
	a.Ended = true
	s.put(identity.AccessKey(org), a)
}

func TestAnInvitationLastsSevenDays(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.invited("eve", grant.Viewer, "ada")
	s.later(membership.InvitationTTL - time.Second)
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	if !s.isMember("eve") {
		t.Error("ended early")
	}
}

func TestInvitationsToRolesOfOnesOwn(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.member("bob", grant.Admin)
	role := func(policies ...string) {
		a := s.access()
		a.Roles = map[string]identity.CustomRole{"role_1": {ID: "role_1", Name: "one", Policies: policies}}
		a.Generation++
		s.put(identity.AccessKey(org), a)
	}
	role("teams:write")
	s.invited("eve", "role_1", "bob")
	s.invited("joe", "role_1", "bob")
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	if m := s.found("eve"); m.Grants[0].Role != "role_1" {
		t.Errorf("joined as %+v", m)
	}
	role("organisation:delete") // more than the inviter holds
	s.must(s.Accept(s.ctx, s.user("joe"), ""))
	if s.isMember("joe") {
		t.Error("joined with more than the inviter holds")
	}
	s.invited("sue", "role_1", "ada")
	a := s.access()
	a.Roles = nil
	s.put(identity.AccessKey(org), a)
	s.must(s.Accept(s.ctx, s.user("sue"), ""))
	if s.isMember("sue") {
		t.Error("joined with a role that is gone")
	}
}

func TestAFullOrganizationLeavesTheInvitationWaiting(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.invited("eve", grant.Viewer, "ada")
	s.put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers, Owners: 1})
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	if s.isMember("eve") || s.left() != 2 {
		t.Errorf("member %v, %d rows left", s.isMember("eve"), s.left())
	}
	s.put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1})
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	s.counts(2, 1)
}

func TestAcceptingAtOnceMakesOneMembership(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.invited("eve", grant.Owner, "ada")
	eve := s.user("eve")
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := s.Accept(s.ctx, eve, ""); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.counts(2, 2)
	if s.left() != 0 {
		t.Error("the invitation is still there")
	}
}

// interrupted is a store on which something else happens just before the first transaction.
type interrupted struct {
	table.Store
	once sync.Once
	by   func()
}

func (i *interrupted) Transact(ctx context.Context, ws ...table.Write) error {
	i.once.Do(i.by)
	return i.Store.Transact(ctx, ws...)
}

// check 43: what was judged must hold until the membership is written.
func TestWhatChangesWhileAnInvitationIsAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(s *stage)
		joins   bool
	}{
		"the inviter goes":       {func(s *stage) { s.must(s.Remove(s.ctx, org, s.found("bob"))) }, false},
		"the inviter is demoted": {func(s *stage) { s.must(s.Regrant(s.ctx, org, s.found("bob"), grants(grant.Viewer))) }, false},
		"it is withdrawn": {func(s *stage) {
			inv, err := s.Invitation(s.ctx, org, "eve@example.com")
			s.must(err)
			s.must(s.Withdraw(s.ctx, org, inv))
		}, false},
		"the role becomes more": {func(s *stage) {
			a := s.access()
			a.Roles["role_1"] = identity.CustomRole{Policies: []string{"organisation:delete"}}
			a.Generation++
			s.put(identity.AccessKey(org), a)
		}, false},
		"the organization ends": {func(s *stage) { s.end() }, false},
		"somebody else invites to more": {func(s *stage) {
			inv, err := s.Invitation(s.ctx, org, "eve@example.com")
			s.must(err)
			next := inv
			next.Role, next.Inviter = grant.Admin, "usr_ada"
			_, err = s.Amend(s.ctx, org, inv, next)
			s.must(err)
		}, true},
		"another member changes": {func(s *stage) { s.must(s.Regrant(s.ctx, org, s.found("ada"), grants(grant.Owner))) }, true},
		"the inviter gets more":  {func(s *stage) { s.must(s.Regrant(s.ctx, org, s.found("bob"), grants(grant.Owner))) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			s.member("ada", grant.Owner)
			s.member("bob", grant.Admin)
			a := s.access()
			a.Roles = map[string]identity.CustomRole{"role_1": {Policies: []string{"users:read"}}}
			s.put(identity.AccessKey(org), a)
			s.invited("eve", "role_1", "bob")
			eve, quiet := s.user("eve"), s.Table
			s.Table = &interrupted{Store: quiet, by: func() {
				s.Table = quiet
				c.happens(s)
			}}
			s.must(s.Accept(s.ctx, eve, ""))
			if s.isMember("eve") != c.joins || s.left() != 0 {
				t.Errorf("member %v, %d rows left", s.isMember("eve"), s.left())
			}
		})
	}
}

func TestAnInvitationIsReplacedOnlyAsItWasRead(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	first := s.invited("eve", grant.Owner, "ada")
	_, err := s.Invite(s.ctx, org, membership.Invitation{}, first)
	s.want(fault.Conflict, err)
	next := first
	next.Role = grant.Viewer
	s.later(time.Hour)
	second, err := s.Invite(s.ctx, org, first, next)
	s.must(err)
	if !second.Expires.Equal(s.clock.Now().Add(membership.InvitationTTL)) {
		t.Errorf("expires %s", second.Expires)
	}
	s.want(fault.Conflict, s.Withdraw(s.ctx, org, first))
	second.Name = "Eve"
	s.later(time.Hour)
	third, err := s.Amend(s.ctx, org, second, second)
	s.must(err)
	if !third.Expires.Equal(second.Expires) {
		t.Error("an amendment made it last longer")
	}
	all, err := s.Invitations(s.ctx, org)
	if err != nil || len(all) != 1 || all[0] != third {
		t.Errorf("%+v, %v", all, err)
	}
	s.must(s.Withdraw(s.ctx, org, third))
	s.want(fault.Conflict, s.Withdraw(s.ctx, org, third))
	if s.left() != 0 {
		t.Error("withdrawn and still there")
	}
	s.end()
	_, err = s.Invite(s.ctx, org, membership.Invitation{}, first)
	s.want(fault.NotFound, err)
}

func TestWhoIsAMemberAlreadyStaysWhatTheyAre(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	s.member("eve", grant.Viewer)
	s.invited("eve", grant.Admin, "ada")
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	if m := s.found("eve"); m.Grants[0].Role != grant.Viewer || s.left() != 0 {
		t.Errorf("%+v, %d rows left", m, s.left())
	}
}

func TestWhoIsRemovedHasNoInvitationLeft(t *testing.T) {
	s := newStage(t)
	s.member("ada", grant.Owner)
	eve := s.member("eve", grant.Viewer)
	s.invited("eve", grant.Admin, "ada")
	s.must(s.Remove(s.ctx, org, eve))
	s.must(s.Accept(s.ctx, s.user("eve"), ""))
	if s.isMember("eve") || s.left() != 0 {
		t.Errorf("member %v, %d rows left", s.isMember("eve"), s.left())
	}
}
