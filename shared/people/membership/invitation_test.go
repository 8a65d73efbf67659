package membership_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/testkit/apitest"
)

// makeInvitation makes an invitation of name with the role, made by the member `by`.
func (s *fixture) makeInvitation(name, role, by string) membership.Invitation {
	s.Helper()
	inv := apitest.Value(s.People.StoreInvitation(s.Context(), org, membership.Invitation{},
		membership.Invitation{Email: name + "@example.com", Role: role, Inviter: "usr_" + by}))(s)
	return inv
}

// isMember reports whether name belongs to the organization.
func (s *fixture) isMember(name string) bool {
	s.Helper()
	_, _, err := s.People.FindMember(s.Context(), org, name+"@example.com")
	if err != nil && !fault.Is(err, fault.NotFound) {
		s.Fatal(err)
	}
	return err == nil
}

// countInvitationItems returns the number of items of eve's invitation, in both partitions.
func (s *fixture) countInvitationItems() int {
	s.Helper()
	n := 0
	for _, k := range []table.Key{
		membership.InvitationKey(s.Settings.Pepper, org, "eve@example.com"),
		membership.InvitedKey(s.Settings.Pepper, org, "eve@example.com"),
	} {
		if _, err := s.Table.Get(table.Within(s.Context(), k.PK), k); err == nil {
			n++
		}
	}
	return n
}

// listReceived returns the invitations that name sees.
func (s *fixture) listReceived(name string) []membership.Received {
	s.Helper()
	return apitest.Value(s.People.ListReceived(s.Context(), s.User(name)))(s)
}

// acceptAll accepts all invitations that name sees.
func (s *fixture) acceptAll(name string) {
	s.Helper()
	for _, r := range s.listReceived(name) {
		s.Must(s.People.AcceptReceived(s.Context(), s.User(name), r))
	}
}

func TestReceived_IsSeenAndAcceptedByTheProvenAddressAlone(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	inv := s.makeInvitation("eve", grant.Editor, "ada")
	eve := s.User("eve")
	unproved, closed := eve, eve
	unproved.Verified, closed.Disabled = false, true
	for name, u := range map[string]identity.User{
		"an address that is not proved": unproved, "an account that is closed": closed,
		"another address": s.User("mallory"),
	} {
		if all, err := s.People.ListReceived(s.Context(), u); err != nil || len(all) != 0 {
			t.Errorf("%s sees %+v, %v", name, all, err)
		}
		_, err := s.People.FindReceived(s.Context(), u, inv.ID)
		s.wantKind(fault.NotFound, err)
	}
	got := s.listReceived("eve")
	if len(got) != 1 || got[0].Organisation.Name != "Engines" || got[0].RoleName != "editor" ||
		got[0].InvitedBy != "ada@example.com" || s.isMember("eve") {
		t.Fatalf("eve sees %+v, member %v", got, s.isMember("eve"))
	}
	s.acceptAll("eve")
	if m := s.Member(org, "eve"); m.Grants[0].Role != grant.Editor || m.Grants[0].Scope != grant.OrgScope ||
		m.Grants[0].ID == "" {
		t.Errorf("joined as %+v", m)
	}
	if n := s.countInvitationItems(); n != 0 {
		t.Errorf("%d rows of the invitation are left", n)
	}
	s.wantCounts(2, 1)
}

func TestReceived_CostsOneRoundTripWithoutAnInvitationAndTwoForTwenty(t *testing.T) {
	s := newFixture(t)
	eve := s.User("eve")
	list := func(ctx context.Context) { apitest.Value(s.People.ListReceived(ctx, eve))(s) }
	provider := func(ctx context.Context) { s.Must(s.People.AcceptForProvider(ctx, eve, org)) }
	if n, m := s.Meter(list).RoundTrips, s.Meter(provider).RoundTrips; n != 1 || m != 1 {
		t.Errorf("%d and %d round trips", n, m)
	}
	s.Join(org, "ada", grant.Owner)
	s.makeInvitation("eve", grant.Viewer, "ada")
	for i := range 20 {
		other := fmt.Sprintf("org_%02d", i)
		s.Organization(other, "Looms")
		s.Join(other, "ada", grant.Owner)
		apitest.Value(s.People.StoreInvitation(s.Context(), other, membership.Invitation{},
			membership.Invitation{Email: eve.Email, Role: grant.Viewer, Inviter: "usr_ada"}))(s)
	}
	if n := s.Meter(list).RoundTrips; n != 3 || len(s.listReceived("eve")) != 21 {
		t.Errorf("%d round trips for %d invitations", n, len(s.listReceived("eve")))
	}
}

func TestReceived_ADeclineShowsTheOrganizationNothing(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.makeInvitation("eve", grant.Viewer, "ada")
	read := func() membership.Invitation {
		return apitest.Value(s.People.ReadInvitation(s.Context(), org, "eve@example.com"))(s)
	}
	before, r := read(), s.listReceived("eve")[0]
	s.Clock.Advance(time.Second)
	s.Must(s.People.DeclineReceived(s.Context(), r))
	s.wantKind(fault.NotFound, s.People.DeclineReceived(s.Context(), r))
	s.wantKind(fault.NotFound, s.People.AcceptReceived(s.Context(), s.User("eve"), r))
	after := read()
	before.ID, before.Declined = after.ID, true
	if after != before || len(s.listReceived("eve")) != 0 {
		t.Errorf("declined: %+v, was %+v; eve sees %d", after, before, len(s.listReceived("eve")))
	}
	after.Role = grant.Admin
	amended := apitest.Value(s.People.AmendInvitation(s.Context(), org, read(), after))(s)
	s.Must(s.People.AcceptForProvider(s.Context(), s.User("eve"), org))
	if len(s.listReceived("eve")) != 0 || s.isMember("eve") {
		t.Error("an amendment brought a declined invitation back")
	}
	apitest.Value(s.People.StoreInvitation(s.Context(), org, amended, amended))(s)
	if s.acceptAll("eve"); !s.isMember("eve") {
		t.Error("invited again and not a member")
	}
}

// check 43: an invitation grants only roles that its inviter may give at the moment of joining.
func TestInvitationsThatDoNotHoldAnyMore(t *testing.T) {
	for name, spoil := range map[string]func(s *fixture, inv membership.Invitation){
		"it expired": func(s *fixture, _ membership.Invitation) {
			s.Clock.Advance(membership.InvitationTTL + time.Second)
		},
		"it was withdrawn": func(s *fixture, inv membership.Invitation) {
			s.Must(s.People.WithdrawInvitation(s.Context(), org, inv))
		},
		"the inviter was removed": func(s *fixture, _ membership.Invitation) {
			s.Must(s.People.RemoveMember(s.Context(), org, s.Member(org, "bob")))
		},
		"the inviter was locked out": func(s *fixture, _ membership.Invitation) {
			s.Must(s.setDisabled(s.Member(org, "bob"), true))
		},
		"the inviter was demoted": func(s *fixture, _ membership.Invitation) {
			s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "bob"), apitest.Roles(grant.Viewer)))
		},
		"the inviter may not invite any more": func(s *fixture, _ membership.Invitation) {
			s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "bob"), apitest.Roles(grant.Editor)))
		},
		"the inviter's account was closed": func(s *fixture, _ membership.Invitation) {
			u := s.User("bob")
			u.Disabled = true
			s.Put(identity.UserKey(u.ID), u)
		},
		"the inviter left and came back as less": func(s *fixture, _ membership.Invitation) {
			s.Must(s.People.RemoveMember(s.Context(), org, s.Member(org, "bob")))
			s.Clock.Advance(time.Second)
			s.Must(s.People.JoinOrganisation(s.Context(), org, s.User("bob"), apitest.Roles(grant.Viewer)))
		},
		"the organization ends": func(s *fixture, _ membership.Invitation) { s.endOrganisation() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.Join(org, "ada", grant.Owner)
			s.Join(org, "bob", grant.Admin)
			inv := s.makeInvitation("eve", grant.Editor, "bob")
			spoil(s, inv)
			_, err := s.People.FindReceived(s.Context(), s.User("eve"), inv.ID)
			s.wantKind(fault.NotFound, err)
			s.Must(s.People.AcceptForProvider(s.Context(), s.User("eve"), org))
			if all := s.listReceived("eve"); s.isMember("eve") || len(all) != 0 {
				t.Errorf("member %v, sees %+v", s.isMember("eve"), all)
			}
		})
	}
}

func (s *fixture) endOrganisation() {
	a := s.readAccess()
	a.Ended = true
	s.Put(identity.AccessKey(org), a)
}

func TestAnInvitationLastsSevenDays(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.makeInvitation("eve", grant.Viewer, "ada")
	s.Clock.Advance(membership.InvitationTTL - time.Second)
	s.acceptAll("eve")
	if !s.isMember("eve") {
		t.Error("ended early")
	}
}

func TestInvitationsToRolesOfOnesOwn(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.Join(org, "bob", grant.Admin)
	role := func(policies ...string) {
		a := s.readAccess()
		a.Roles = map[string]identity.CustomRole{"role_1": {ID: "role_1", Name: "one", Policies: policies}}
		a.Generation++
		s.Put(identity.AccessKey(org), a)
	}
	role("teams:write")
	s.makeInvitation("eve", "role_1", "bob")
	s.makeInvitation("joe", "role_1", "bob")
	s.acceptAll("eve")
	if m := s.Member(org, "eve"); m.Grants[0].Role != "role_1" {
		t.Errorf("joined as %+v", m)
	}
	role("organisation:delete") // more than the inviter holds
	s.acceptAll("joe")
	if s.isMember("joe") {
		t.Error("joined with more than the inviter holds")
	}
	s.makeInvitation("sue", "role_1", "ada")
	a := s.readAccess()
	a.Roles = nil
	s.Put(identity.AccessKey(org), a)
	s.acceptAll("sue")
	if s.isMember("sue") {
		t.Error("joined with a role that is gone")
	}
}

func TestAFullOrganizationLeavesTheInvitationWaiting(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.makeInvitation("eve", grant.Viewer, "ada")
	s.Put(identity.AccessKey(org), identity.Access{Members: membership.MaxMembers, Owners: 1})
	s.wantKind(fault.Denied, s.People.AcceptReceived(s.Context(), s.User("eve"), s.listReceived("eve")[0]))
	if s.isMember("eve") || s.countInvitationItems() != 2 {
		t.Errorf("member %v, %d rows left", s.isMember("eve"), s.countInvitationItems())
	}
	s.Put(identity.AccessKey(org), identity.Access{Members: 1, Owners: 1})
	s.acceptAll("eve")
	s.wantCounts(2, 1)
}

func TestAcceptingAtOnceMakesOneMembership(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.makeInvitation("eve", grant.Owner, "ada")
	eve, r := s.User("eve"), s.listReceived("eve")[0]
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if err := s.People.AcceptReceived(s.Context(), eve, r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s.wantCounts(2, 2)
	if s.countInvitationItems() != 0 {
		t.Error("the invitation is still there")
	}
}

// interrupted is a store that does something else just before the first transaction.
type interrupted struct {
	table.Store
	once sync.Once
	by   func()
}

func (i *interrupted) Transact(ctx context.Context, ws ...table.Write) error {
	i.once.Do(i.by)
	return i.Store.Transact(ctx, ws...)
}

// check 43: the membership is written only if the evaluated records are unchanged.
func TestWhatChangesWhileAnInvitationIsAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		happens  func(s *fixture)
		joins    bool
		provider bool // joins when the organization's own provider vouches
	}{
		"the inviter goes": {func(s *fixture) {
			s.Must(s.People.RemoveMember(s.Context(), org, s.Member(org, "bob")))
		}, false, false},
		"the inviter is demoted": {func(s *fixture) {
			s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "bob"), apitest.Roles(grant.Viewer)))
		}, false, false},
		"it is withdrawn": {func(s *fixture) {
			inv := apitest.Value(s.People.ReadInvitation(s.Context(), org, "eve@example.com"))(s)
			s.Must(s.People.WithdrawInvitation(s.Context(), org, inv))
		}, false, false},
		"the role becomes more": {func(s *fixture) {
			a := s.readAccess()
			a.Roles["role_1"] = identity.CustomRole{Policies: []string{"organisation:delete"}}
			a.Generation++
			s.Put(identity.AccessKey(org), a)
		}, false, false},
		"the organization ends": {func(s *fixture) { s.endOrganisation() }, false, false},
		"somebody else invites to more": {func(s *fixture) {
			inv, err := s.People.ReadInvitation(s.Context(), org, "eve@example.com")
			s.Must(err)
			next := inv
			next.Role, next.Inviter = grant.Admin, "usr_ada"
			apitest.Value(s.People.AmendInvitation(s.Context(), org, inv, next))(s)
		}, false, true},
		"another member changes": {func(s *fixture) {
			s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "ada"), apitest.Roles(grant.Owner)))
		}, true, true},
		"the inviter gets more": {func(s *fixture) {
			s.Must(s.People.ReplaceGrants(s.Context(), org, s.Member(org, "bob"), apitest.Roles(grant.Owner)))
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s, eve := newInvitedToRole(t)
			r := s.listReceived("eve")[0]
			s.interrupt(c.happens)
			err := s.People.AcceptReceived(s.Context(), eve, r)
			if s.isMember("eve") != c.joins || (err == nil) != c.joins {
				t.Errorf("member %v, %v", s.isMember("eve"), err)
			}
		})
		t.Run(name+", at the provider's word", func(t *testing.T) {
			s, eve := newInvitedToRole(t)
			s.interrupt(c.happens)
			s.Must(s.People.AcceptForProvider(s.Context(), eve, org))
			if s.isMember("eve") != c.provider {
				t.Errorf("member %v", s.isMember("eve"))
			}
		})
	}
}

// newInvitedToRole returns an organization whose admin bob has invited eve to a role of its own.
func newInvitedToRole(t *testing.T) (*fixture, identity.User) {
	t.Helper()
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.Join(org, "bob", grant.Admin)
	a := s.readAccess()
	a.Roles = map[string]identity.CustomRole{"role_1": {Policies: []string{"users:read"}}}
	s.Put(identity.AccessKey(org), a)
	s.makeInvitation("eve", "role_1", "bob")
	return s, s.User("eve")
}

// interrupt lets something happen just before the next transaction.
func (s *fixture) interrupt(happens func(*fixture)) {
	quiet := s.Table
	s.Table = &interrupted{Store: quiet, by: func() {
		s.Table = quiet
		happens(s)
	}}
}

func TestAnInvitationIsReplacedOnlyAsItWasRead(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	first := s.makeInvitation("eve", grant.Owner, "ada")
	_, err := s.People.StoreInvitation(s.Context(), org, membership.Invitation{}, first)
	s.wantKind(fault.Conflict, err)
	next := first
	next.Role = grant.Viewer
	s.Clock.Advance(time.Hour)
	second := apitest.Value(s.People.StoreInvitation(s.Context(), org, first, next))(s)
	if !second.Expires.Equal(s.Clock.Now().Add(membership.InvitationTTL)) {
		t.Errorf("expires %s", second.Expires)
	}
	s.wantKind(fault.Conflict, s.People.WithdrawInvitation(s.Context(), org, first))
	second.Name = "Eve"
	s.Clock.Advance(time.Hour)
	third := apitest.Value(s.People.AmendInvitation(s.Context(), org, second, second))(s)
	if !third.Expires.Equal(second.Expires) {
		t.Error("an amendment made it last longer")
	}
	all, err := s.People.ListInvitations(s.Context(), org)
	if err != nil || len(all) != 1 || all[0] != third {
		t.Errorf("%+v, %v", all, err)
	}
	s.Must(s.People.WithdrawInvitation(s.Context(), org, third))
	s.wantKind(fault.Conflict, s.People.WithdrawInvitation(s.Context(), org, third))
	if s.countInvitationItems() != 0 {
		t.Error("withdrawn and still there")
	}
	s.endOrganisation()
	_, err = s.People.StoreInvitation(s.Context(), org, membership.Invitation{}, first)
	s.wantKind(fault.NotFound, err)
}

func TestWhoIsAMemberAlreadyStaysWhatTheyAre(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	s.Join(org, "eve", grant.Viewer)
	s.makeInvitation("eve", grant.Admin, "ada")
	s.acceptAll("eve")
	if m := s.Member(org, "eve"); m.Grants[0].Role != grant.Viewer || s.countInvitationItems() != 0 {
		t.Errorf("%+v, %d rows left", m, s.countInvitationItems())
	}
}

func TestWhoIsRemovedHasNoInvitationLeft(t *testing.T) {
	s := newFixture(t)
	s.Join(org, "ada", grant.Owner)
	eve := s.Join(org, "eve", grant.Viewer)
	s.makeInvitation("eve", grant.Admin, "ada")
	s.Must(s.People.RemoveMember(s.Context(), org, eve))
	s.acceptAll("eve")
	if s.isMember("eve") || s.countInvitationItems() != 0 {
		t.Errorf("member %v, %d rows left", s.isMember("eve"), s.countInvitationItems())
	}
}
