package attempts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
	"lamplighter.dev/shared/testkit/apitest"
)

const ours, theirs = apitest.Org, apitest.OtherOrg

// fixture is ada, a member of ours and theirs, and bob, a member of ours.
type fixture struct {
	*apitest.Fixture
	*attempts.Attempts
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t)}
	f.Attempts = attempts.New(f.Fixture.Platform)
	for _, org := range []string{ours, theirs} {
		f.Organization(org, "Org")
		f.Join(org, "ada", grant.Viewer)
	}
	f.Join(ours, "bob", grant.Owner)
	return f
}

// refuse counts n refused log-ins of an address.
func (f *fixture) refuse(name string, n int) {
	for range n {
		f.Note(f.Fixture.Context(), attempts.Attempt{
			Action: attempts.LogIn, Status: 401, Who: f.who(name), IP: "192.0.2.7", RequestID: "req_7",
		})
	}
}

func (f *fixture) who(name string) string {
	return attempts.ByAddress(f.Fixture.Settings.Pepper, apitest.Email(name))
}

func always() bool { return false }

func (f *fixture) tell() int {
	f.Helper()
	return apitest.Value(f.Tell(f.Fixture.Context(), always))(f)
}

// told returns the rows of an organization as action, status, actor and count.
func (f *fixture) told(org string) []string {
	f.Helper()
	var out []string
	for _, r := range f.Audited(org) {
		out = append(out, fmt.Sprintf("%s %d %s %v", r.Action, r.Status, r.Actor, countOf(f, r)))
	}
	return out
}

func countOf(f *fixture, r audit.Row) int64 {
	f.Helper()
	var c attempts.Counted
	f.Must(json.Unmarshal(r.Changes.After.(json.RawMessage), &c))
	return c.Count
}

func (f *fixture) want(what string, got []string, want ...string) {
	f.Helper()
	if !slices.Equal(got, want) {
		f.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestTell_EachOrganizationOfTheUserAndNoOther(t *testing.T) {
	f := newFixture(t)
	f.refuse("bob", 1)
	if n := f.tell(); n != 1 {
		t.Errorf("%d rows", n)
	}
	f.want("of bob, ours", f.told(ours), "logIn 401 bob@example.com 1")
	f.want("of bob, theirs", f.told(theirs))
	f.refuse("ada", 2)
	f.tell()
	f.want("of ada, ours", f.told(ours), "logIn 401 bob@example.com 1", "logIn 401 ada@example.com 2")
	f.want("of ada, theirs", f.told(theirs), "logIn 401 ada@example.com 2")
	for _, org := range []string{ours, theirs} {
		other := map[string]string{ours: theirs, theirs: ours}[org]
		for _, r := range f.Audited(org) {
			if strings.Contains(r.String(), other) {
				t.Errorf("a row of %s names %s: %s", org, other, r.String())
			}
			if r.IP != "192.0.2.7" || r.RequestID != "req_7" || r.Category != audit.Platform ||
				r.Path != "/auth/login" {
				t.Errorf("%+v", r)
			}
		}
	}
	if n := f.tell(); n != 0 {
		t.Errorf("%d rows for the same attempts again", n)
	}
}

func TestTell_AnAttemptForOneOrganizationIsToldThereOnly(t *testing.T) {
	f := newFixture(t)
	stranger := "org_01k8z3v5y0e6m9x2q4t7r1c8bf"
	f.Organization(stranger, "Stranger")
	for _, org := range []string{theirs, stranger} {
		f.Note(f.Fixture.Context(), attempts.Attempt{Action: attempts.UseToken, Status: 401, Who: "usr_ada", Org: org})
	}
	f.tell()
	f.want("theirs", f.told(theirs), "useToken 401 ada@example.com 1")
	f.want("ours", f.told(ours))
	f.want("an organization that ada does not belong to", f.told(stranger))
}

func TestTell_AnUnknownAddressLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.refuse("nobody", 3)
	if n := f.tell(); n != 0 {
		t.Errorf("%d rows", n)
	}
	if left := apitest.Rows[map[string]any](f.Fixture, "ATTEMPT#00"); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestTell_AnOrganizationThatEndedGetsNothing(t *testing.T) {
	f := newFixture(t)
	f.Change(identity.OrganisationKey(theirs), table.Set("ended", true))
	f.refuse("ada", 1)
	f.tell()
	f.want("theirs", f.told(theirs))
	f.want("ours", f.told(ours), "logIn 401 ada@example.com 1")
}

// Thousands of attempts leave few rows, each with the count so far, and the last with the count of the hour.
func TestTell_ManyAttemptsLeaveFewRows(t *testing.T) {
	f := newFixture(t)
	f.Clock.Advance(30 * time.Minute) // to the full hour
	for range 50 {
		f.refuse("bob", 100)
		f.tell()
		f.Clock.Advance(time.Minute)
	}
	f.Clock.Advance(time.Hour)
	f.tell()
	rows := f.told(ours)
	if len(rows) != 7 || rows[0] != "logIn 401 bob@example.com 100" ||
		rows[len(rows)-1] != "logIn 401 bob@example.com 5000" {
		t.Errorf("%d rows: %q", len(rows), rows)
	}
	if left := apitest.Rows[map[string]any](f.Fixture, "ATTEMPT#00"); len(left) != 1 { // one is told and waits
		t.Errorf("left %v", left)
	}
	f.tell()
	if left := apitest.Rows[map[string]any](f.Fixture, "ATTEMPT#00"); len(left) != 0 {
		t.Errorf("left at last %v", left)
	}
}

// A count that is full costs no more writes, and its row says so.
func TestNote_StopsCountingAtTheLimit(t *testing.T) {
	f := newFixture(t)
	f.refuse("bob", 10_001)
	spent := f.Meter(func(ctx context.Context) {
		f.Note(ctx, attempts.Attempt{Action: attempts.LogIn, Status: 401, Who: f.who("bob")})
	})
	if spent.RoundTrips != 0 {
		t.Errorf("a full count costs %+v", spent)
	}
	f.tell()
	rows := f.Audited(ours)
	if len(rows) != 1 || countOf(f, rows[0]) != 10_000 || !strings.Contains(rows[0].String(), "more are not counted") {
		t.Errorf("%v", rows)
	}
}

// An attacker who knows all members cannot fill the log of their organization: 100 rows, and one that counts the others.
func TestTell_AnOrganizationHasSoManyRowsAnHour(t *testing.T) {
	f := newFixture(t)
	for i := range 120 {
		f.Join(ours, fmt.Sprintf("user%03d", i), grant.Viewer)
		f.refuse(fmt.Sprintf("user%03d", i), 3)
	}
	f.tell()
	if rows := f.told(ours); len(rows) != 100 {
		t.Errorf("%d rows", len(rows))
	}
	f.refuse("ada", 1) // of another organization as well, which has room
	f.tell()
	f.want("theirs", f.told(theirs), "logIn 401 ada@example.com 1")
	f.Clock.Advance(75 * time.Minute)
	f.tell()
	rows := f.told(ours)
	if len(rows) != 101 || rows[100] != "attemptsNotListed 401 system 61" {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1])
	}
}

// What a member did is told even when refused attempts have used up the rows of the hour.
func TestTell_AUsedCodeIsToldInAFlood(t *testing.T) {
	f := newFixture(t)
	for i := range 101 {
		f.Join(ours, fmt.Sprintf("user%03d", i), grant.Viewer)
		f.refuse(fmt.Sprintf("user%03d", i), 1)
	}
	f.tell()
	f.Note(f.Fixture.Context(), attempts.Attempt{Action: attempts.ResetPassword, Status: 200, Who: "usr_bob"})
	f.tell()
	rows := f.told(ours)
	if last := rows[len(rows)-1]; last != "resetPassword 200 bob@example.com 1" {
		t.Errorf("the last of %d rows: %s", len(rows), last)
	}
}

func TestTell_OfManyTellersOneWritesEachRow(t *testing.T) {
	f := newFixture(t)
	f.refuse("ada", 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := f.Tell(f.Fixture.Context(), always); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f.want("ours", f.told(ours), "logIn 401 ada@example.com 1")
	f.want("theirs", f.told(theirs), "logIn 401 ada@example.com 1")
}

// A user of more organizations than one transaction takes is told in all of them, also if a run dies in between.
func TestTell_AUserOfManyOrganizations(t *testing.T) {
	f := newFixture(t)
	var orgs []string
	for i := range 70 {
		org := fmt.Sprintf("org_01k8z3v5y0e6m9x2q4t7r1d%03d", i)
		f.Organization(org, "Org")
		f.Join(org, "ada", grant.Viewer)
		orgs = append(orgs, org)
	}
	f.refuse("ada", 1)
	f.tell()
	for _, org := range append(orgs, ours, theirs) {
		f.want(org, f.told(org), "logIn 401 ada@example.com 1")
	}
}

func TestTellOrganisation_TellsOnlyMembersOfTheReader(t *testing.T) {
	f := newFixture(t)
	f.refuse("bob", 1)
	f.refuse("ada", 1)
	f.refuse("nobody", 1)
	f.Must(f.TellOrganisation(f.In(theirs), theirs, always))
	f.want("theirs", f.told(theirs), "logIn 401 ada@example.com 1")
	f.want("ours, of the member of both", f.told(ours), "logIn 401 ada@example.com 1")
	spent := f.Meter(func(ctx context.Context) { f.Must(f.TellOrganisation(ctx, "org_none", always)) })
	if spent.RoundTrips > 3 || spent.WriteUnits != 0 {
		t.Errorf("a reader without such members: %+v", spent)
	}
}

// The same write for an address with an account and for one without: time tells nothing.
func TestNote_CostsTheSameForKnownAndUnknownAddresses(t *testing.T) {
	f := newFixture(t)
	cost := func(name string) table.Usage {
		return f.Meter(func(ctx context.Context) {
			f.Note(ctx, attempts.Attempt{Action: attempts.LogIn, Status: 401, Who: f.who(name)})
		})
	}
	for range 3 {
		if known, unknown := cost("ada"), cost("nobody"); known != unknown || known.RoundTrips != 1 {
			t.Errorf("known %+v, unknown %+v", known, unknown)
		}
	}
}

func TestTell_NothingOfTheTimeBeforeTheUserJoined(t *testing.T) {
	f := newFixture(t)
	f.User("eve")
	f.refuse("eve", 1)
	f.Clock.Advance(time.Minute)
	f.Join(ours, "eve", grant.Viewer)
	f.tell()
	f.want("ours", f.told(ours))
	f.refuse("eve", 1)
	f.tell()
	f.want("ours, after an attempt on a member", f.told(ours), "logIn 401 eve@example.com 1")
}
