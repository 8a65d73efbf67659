package reminder

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const ada = "usr_ada"

// fixture is a user whose tokens end.
type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	s := &fixture{apitest.New(t)}
	s.User("ada")
	return s
}

// addToken makes one that ends in so many days, and gives the key of its row.
func (s *fixture) addToken(name string, days int) table.Key {
	s.Helper()
	now := s.Clock.Now()
	t := identity.PAT{ID: "pat_" + name, User: ada, Name: name, Created: now, Expires: now.AddDate(0, 0, days)}
	s.Put(identity.PATKey(name), t, t.Expires)
	s.Put(identity.PATDueKey(t.Due(), t.ID), identity.PATNotice{ID: t.ID, Hash: name}, t.Expires)
	return identity.PATKey(name)
}

func (s *fixture) remind() Reminded {
	s.Helper()
	got := apitest.Value(QueueReminders(s.Context(), s.Platform))(s)
	return got
}

// queuedMails returns the names that the queued mails are about.
func (s *fixture) queuedMails() []string {
	s.Helper()
	var out []string
	for _, m := range s.Mails() {
		if m.Template != mail.TokenExpiring || m.To != "ada@example.com" {
			s.Errorf("mail %+v", m)
		}
		out = append(out, m.Data["name"]+" "+m.Data["expires"])
	}
	return out
}

// advanceDays lets so many days pass, with a run on each of them.
func (s *fixture) advanceDays(n int) {
	s.Helper()
	for range n {
		s.Clock.Advance(24 * time.Hour)
		s.remind()
	}
}

func TestTheEndOfATokenIsAnnouncedOnceAWeekAhead(t *testing.T) {
	s := newFixture(t)
	s.addToken("nightly", 90)
	s.advanceDays(82)
	if got := s.queuedMails(); len(got) != 0 {
		t.Fatalf("too early: %v", got)
	}
	s.advanceDays(1)
	if got := strings.Join(s.queuedMails(), ";"); got != "nightly 8 June 2026, 09:30 UTC" {
		t.Errorf("a week ahead: %s", got)
	}
	s.advanceDays(8)
	if got := s.queuedMails(); len(got) != 1 { // the one before
		t.Errorf("again: %v", got)
	}
}

func TestAMissedDayIsMadeUpFor(t *testing.T) {
	for missed := range 8 {
		t.Run(fmt.Sprintf("%d days", missed), func(t *testing.T) {
			s := newFixture(t)
			s.addToken("nightly", 8)
			s.Clock.Advance(24*time.Hour + time.Duration(missed)*24*time.Hour - time.Second)
			if got := s.remind(); got.Mailed != 1 || len(s.queuedMails()) != 1 {
				t.Errorf("%+v", got)
			}
			if got := s.remind(); got != (Reminded{}) {
				t.Errorf("again: %+v", got)
			}
		})
	}
	t.Run("but not when the token has ended", func(t *testing.T) {
		s := newFixture(t)
		s.addToken("nightly", 8)
		s.Clock.Advance(8 * 24 * time.Hour)
		if got := s.remind(); got != (Reminded{}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestTwoRunsAtOnceMailOnce(t *testing.T) {
	s := newFixture(t)
	for i := range 2*pageSize + 1 {
		s.addToken(fmt.Sprintf("token%03d", i), 8)
	}
	s.Clock.Advance(24 * time.Hour)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := QueueReminders(context.Background(), s.Platform); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.queuedMails(); len(got) != 2*pageSize+1 {
		t.Errorf("%d mails", len(got))
	}
}

func TestTokensThatEndedBeforeAreNotAnnounced(t *testing.T) {
	s := newFixture(t)
	revoked := s.addToken("revoked", 8)
	s.addToken("reset", 8)
	s.Write(table.Delete(revoked))
	s.Change(identity.UserKey(ada), table.Set("epoch", 1))
	s.Clock.Advance(24 * time.Hour)
	if got := s.remind(); got != (Reminded{Looked: 2}) {
		t.Errorf("%+v", got)
	}
	if got := s.queuedMails(); len(got) != 0 {
		t.Errorf("mailed %v", got)
	}
}

// A mail that fails on one day is tried again on the next.
func TestAStoreThatFailsLosesNoMail(t *testing.T) {
	s := newFixture(t)
	s.addToken("nightly", 8)
	s.Clock.Advance(24 * time.Hour)
	whole := s.Table
	s.Table = table.NewFaultyStore(whole, s.Clock, table.Injection{Harm: table.FailBefore, PK: identity.PATPrefix})
	if _, err := QueueReminders(t.Context(), s.Platform); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	s.Table = whole
	if got := s.remind(); got.Mailed != 1 {
		t.Errorf("%+v", got)
	}
}

func TestARowThatCannotBeReadKeepsNoTokenFromBeingAnnounced(t *testing.T) {
	s := newFixture(t)
	bad := s.addToken("broken", 8)
	s.addToken("nightly", 8)
	s.Put(bad, map[string]any{"id": 7}, s.Clock.Now().AddDate(0, 0, 8))
	s.Clock.Advance(24 * time.Hour)
	if _, err := QueueReminders(s.Context(), s.Platform); err == nil {
		t.Error("nothing is reported")
	}
	if got := s.queuedMails(); len(got) != 1 || !strings.HasPrefix(got[0], "nightly") {
		t.Errorf("mails %v", got)
	}
}
