package eraser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/people/accounts"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
	"lamplighter.dev/shared/people/sessions"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
)

// eve is the user whose account ends, and her organizations, which ada owns.
const eve = "eve"

var evesOrgs = []string{"org_a", "org_b"}

// fillAccount makes an account that has one of everything, in organizations with another owner.
func (s *fixture) fillAccount() identity.User {
	s.Helper()
	ctx := s.Anywhere()
	links := accounts.New(s.Platform)
	u := apitest.Value(links.FindOrCreateByIdentity(ctx, accounts.Claim{
		Issuer: "https://accounts.google.com", Subject: eve, Email: apitest.Email(eve), Authoritative: true,
	}))(s)
	s.User("ada")
	for _, org := range evesOrgs {
		s.Organization(org, org)
		s.Join(org, "ada", grant.Owner)
		s.Must(membership.New(s.Platform).JoinOrganisation(ctx, org, u, apitest.Roles(grant.Owner, grant.Viewer)))
		store := notification.NewStore(s.Platform)
		s.Must(store.SetPreference(ctx, org, u.ID, notification.Preference{EventKey: "resource.failed", Enabled: true}))
		apitest.Value(store.CreateChannel(ctx, org, notification.Channel{
			ID: "chn_" + org, Name: "Mine", Type: "email", Personal: u.ID,
		}))(s)
		s.putRow(table.OrgPK(org)+"VIEW", "view_1", map[string]any{"user": u.ID, "createdBy": u.Email})
		s.putRow(table.OrgPK(org)+"VIEW", "view_2", map[string]any{"user": "usr_ada"})
	}
	u = apitest.Read[identity.User](s.Fixture, identity.UserKey(u.ID))
	for range 2 {
		apitest.Value(sessions.New(s.Platform).Begin(ctx, u, sessions.Options{Method: identity.LoginEmail}))(s)
	}
	s.putRow(identity.UserPrefix+u.ID, "PAT#pat_1", identity.PATEntry{ID: "pat_1", Hash: "hash1", Due: "2026-11-20"})
	s.putRow(identity.PATPrefix+"hash1", "T", identity.PAT{ID: "pat_1", User: u.ID})
	s.putRow(identity.PATDuePrefix+"2026-11-20", "pat_1", identity.PATNotice{ID: "pat_1", Hash: "hash1"})
	for _, name := range []string{"TOTP", "TOTPNEW", "RECOVERY", "PASSKEY#x", "SEEN#x"} {
		s.putRow(identity.UserPrefix+u.ID, identity.SecondFactorPrefix+name, map[string]bool{"x": true})
	}
	s.putRow(identity.UserPrefix+u.ID, "ORGNAME#x", identity.Membership{Org: "org_a"})
	s.inviteEve("org_c")
	return u
}

// inviteEve has ada invite eve to an organization of her own.
func (s *fixture) inviteEve(org string) {
	s.Helper()
	s.Organization(org, org)
	s.Join(org, "ada", grant.Owner)
	apitest.Value(membership.New(s.Platform).StoreInvitation(s.Anywhere(), org, membership.Invitation{},
		membership.Invitation{Email: apitest.Email(eve), Role: grant.Viewer, Inviter: s.User("ada").ID}))(s)
}

// endAccount ends the account as DELETE /auth/account does, and returns the input of the machine.
func (s *fixture) endAccount(u identity.User) erasure.Input {
	s.Helper()
	writes, _, err := membership.New(s.Platform).ReleaseOwnerships(s.Anywhere(), u.ID)
	s.Must(err)
	s.Must(erasure.BeginAccountErasure(s.Anywhere(), s.Platform, u, writes...))
	for _, w := range apitest.Rows[workqueue.Work](s.Fixture, workqueue.Lists()...) {
		if w.Machine == erasure.Machine {
			var in erasure.Input
			s.Must(json.Unmarshal(w.Input, &in))
			return in
		}
	}
	s.Fatal("the erasure is not on the list of unfinished work")
	return erasure.Input{}
}

// accountRows returns the rows that name the user, by their key or by their contents, except those that organizations
// keep: their audit logs and reviews of rights, which are done within a minute.
func (s *fixture) accountRows(u identity.User) []string {
	s.Helper()
	var out []string
	for k := range s.all.keys {
		it, err := s.all.Get(s.Anywhere(), k)
		if err != nil || strings.Contains(k.PK, "AUDIT") || strings.HasPrefix(k.PK, membership.ReviewPrefix) ||
			strings.HasPrefix(k.PK, "MAIL#") {
			continue
		}
		text := k.PK + " " + k.SK + " " + string(it.Data)
		if strings.Contains(text, u.ID) || strings.Contains(text, u.Email) || strings.Contains(text, "hash1") {
			out = append(out, k.PK+" "+k.SK)
		}
	}
	slices.Sort(out)
	return out
}

// listChanges returns the rows of an organization's audit log about departures.
func (s *fixture) listChanges(org string) []string {
	s.Helper()
	var out []string
	for _, r := range s.Audited(org) {
		if r.Action == "leaveOrganisation" {
			out = append(out, r.Actor+" "+r.UserID+" "+r.Target)
		}
	}
	return out
}

func TestEraseAccount_LeavesNothing(t *testing.T) {
	s := newFixture(t)
	u := s.fillAccount()
	if n := len(s.accountRows(u)); n < 20 {
		t.Fatalf("the account has %d rows only", n)
	}
	in := s.endAccount(u)
	if r := s.runToEnd(in); r.Done || r.WaitSeconds < int(erasure.Settling.Seconds()) {
		t.Errorf("after the first pass: %+v", r)
	}
	s.Equal("after the first pass", s.accountRows(u), []string{
		workqueue.WorkKey(in.JobID).PK + " " + in.JobID, "USR#" + u.ID + " ENDED",
	})
	for _, org := range evesOrgs {
		s.Equal("views of others", len(apitest.Rows[map[string]any](s.Fixture, table.OrgPK(org)+"VIEW")), 1)
		s.Equal(org, s.listChanges(org), []string{u.Email + " " + u.ID + " " + u.Email})
		a := apitest.Read[identity.Access](s.Fixture, identity.AccessKey(org))
		if a.Members != 1 || a.Owners != 1 {
			t.Errorf("%s counts %d members and %d owners", org, a.Members, a.Owners)
		}
	}
	s.putRow(identity.UserPrefix+u.ID, "SESSION#late", map[string]string{"session": "late"}) // by an earlier request
	s.putRow(identity.SessionPrefix+"late", "S", identity.Session{ID: "late", User: u.ID})
	s.Clock.Advance(erasure.Settling + time.Second)
	if r := s.runToEnd(in); !r.Done {
		t.Errorf("at the end: %+v", r)
	}
	s.Equal("at the end", s.accountRows(u), []string(nil))
	if r := s.runToEnd(in); !r.Done {
		t.Errorf("once more: %+v", r)
	}
	s.Equal("the installation's log", s.erasedAccounts(), []string{u.ID + " without an address"})
}

// erasedAccounts returns the erasures of accounts in the installation's audit log.
func (s *fixture) erasedAccounts() []string {
	s.Helper()
	var out []string
	apitest.LinkAudit(s, s.Platform, audit.SystemPlaces()...)
	for _, at := range audit.SystemPlaces() {
		for _, r := range apitest.Rows[audit.Row](s.Fixture, at.PK) {
			if r.Action != "eraseAccount" {
				continue
			}
			told := " without an address"
			if strings.Contains(apitest.JSON(r), "@") {
				told = " with an address"
			}
			out = append(out, r.Target+told)
		}
	}
	return out
}

// What others did meanwhile is not undone: the address has a new account, a new link and a new invitation.
func TestEraseAccount_KeepsTheNextAccountOfTheAddress(t *testing.T) {
	s := newFixture(t)
	u := s.fillAccount()
	in := s.endAccount(u)
	s.Clock.Advance(time.Second)
	again := apitest.Value(accounts.New(s.Platform).FindOrCreateByIdentity(s.Anywhere(), accounts.Claim{
		Issuer: "https://accounts.google.com", Subject: eve, Email: u.Email, Authoritative: true,
	}))(s)
	if again.ID == u.ID {
		t.Fatal("the account that has ended was found")
	}
	s.inviteEve("org_d")
	s.runToEnd(in)
	s.Clock.Advance(erasure.Settling)
	s.runToEnd(in)
	people := membership.New(s.Platform)
	if _, err := people.ReadInvitation(s.Anywhere(), "org_d", u.Email); err != nil {
		t.Errorf("the new invitation: %v", err)
	}
	if _, err := people.ReadInvitation(s.Anywhere(), "org_c", u.Email); err == nil {
		t.Error("the invitation of before is still there")
	}
	found := apitest.Value(accounts.New(s.Platform).Find(s.Anywhere(), u.Email))(s)
	linked := apitest.Value(accounts.New(s.Platform).FindOrCreateByIdentity(s.Anywhere(), accounts.Claim{
		Issuer: "https://accounts.google.com", Subject: eve, Email: "moved@example.com", Authoritative: true,
	}))(s)
	s.Equal("accounts of address and link", []string{found.ID, linked.ID}, []string{again.ID, again.ID})
}

func TestEraseAccount_NeverTouchesAnAccountThatLives(t *testing.T) {
	s := newFixture(t)
	u := s.fillAccount()
	before := s.accountRows(u)
	if r := s.runToEnd(erasure.Input{Account: u.ID, JobID: "job_1"}); !r.Done {
		t.Errorf("%+v", r)
	}
	s.Equal("rows", s.accountRows(u), before)
}

// Members whose account has ended count as no owner, whoever changes them before the worker comes.
func TestEraseAccount_AfterAnotherOwnerHasChangedTheMember(t *testing.T) {
	s := newFixture(t)
	u := s.fillAccount()
	in := s.endAccount(u)
	_, m := apitest.Read[identity.User](s.Fixture, identity.UserKey(s.User("ada").ID)),
		apitest.Read[identity.Member](s.Fixture, identity.MemberKey("org_a", u.ID))
	s.Must(membership.New(s.Platform).ReplaceGrants(s.Anywhere(), "org_a", m, apitest.Roles(grant.Viewer)))
	s.Must(membership.New(s.Platform).RemoveMember(s.Anywhere(), "org_b",
		apitest.Read[identity.Member](s.Fixture, identity.MemberKey("org_b", u.ID))))
	s.runToEnd(in)
	for _, org := range evesOrgs {
		a := apitest.Read[identity.Access](s.Fixture, identity.AccessKey(org))
		if a.Members != 1 || a.Owners != 1 {
			t.Errorf("%s counts %d members and %d owners", org, a.Members, a.Owners)
		}
	}
}

// An organization that is being deleted removes its members itself.
func TestEraseAccount_WithAnOrganizationThatHasEnded(t *testing.T) {
	s := newFixture(t)
	u := s.fillAccount()
	in := s.endAccount(u)
	s.Change(identity.AccessKey("org_a"), table.Set("ended", true))
	s.runToEnd(in)
	s.Clock.Advance(erasure.Settling)
	if r := s.runToEnd(in); !r.Done {
		t.Errorf("%+v", r)
	}
	left := slices.DeleteFunc(s.accountRows(u), func(row string) bool { return strings.HasPrefix(row, "ORG#org_a#") })
	s.Equal("left outside of it", left, []string{})
}

// Each call fails in turn, with or without effect. The next run continues, and nothing is left.
func TestEraseAccount_KilledAnywhereItCarriesOn(t *testing.T) {
	race.SkipRepetition(t)
	for harm, stride := range map[table.Harm]int{table.FailBefore: 1, table.FailAfter: 2} {
		for call, failed := 1, true; failed; call += stride {
			s := newFixture(t)
			u := s.fillAccount()
			in := s.endAccount(u)
			s.Clock.Advance(erasure.Settling + time.Second)
			faulty := table.NewFaultyStore(s.all, s.Clock, table.Injection{Harm: harm, Call: call})
			s.Table = faulty
			_, err := s.runEraser(in)
			failed = err != nil
			faulty.RemoveFaults()
			for range 3 {
				if r := s.runToEnd(in); r.Done {
					break
				}
			}
			if left := s.accountRows(u); len(left) > 0 {
				t.Fatalf("harm %d at call %d: %v", harm, call, left)
			}
			if !failed && call < 15 {
				t.Fatalf("a whole run took %d calls", call)
			}
		}
	}
}

func TestEraseAccount_KilledAtAnyStepRecordsEachDepartureOnce(t *testing.T) {
	killpoint.LosesNothing(t, 25, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		u := s.fillAccount()
		in := s.endAccount(u)
		s.Clock.Advance(erasure.Settling + time.Second)
		lives.Run(s.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			return carryOut(ctx, s, p, in)
		})
		return fmt.Sprint(len(s.accountRows(u)), len(s.listChanges("org_a")), len(s.listChanges("org_b")),
			len(s.erasedAccounts()))
	})
}
