package reminder

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const ada = "usr_ada"

// scene is a user whose tokens end.
type scene struct {
	t     *testing.T
	p     *platform.Platform
	clock *clock.Manual
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t}
	s.p, s.clock = apitest.NewPlatform(t)
	s.put(identity.UserKey(ada), identity.User{ID: ada, Email: "ada@example.com"}, time.Time{})
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *scene) put(k table.Key, v any, expires time.Time) {
	s.t.Helper()
	it, err := table.Row(k, v)
	s.must(err)
	it.Expires = expires
	_, err = s.p.Table.Write(table.Within(context.Background(), k.PK), table.Put(it))
	s.must(err)
}

// token makes one that ends in so many days, and gives the key of its row.
func (s *scene) token(name string, days int) table.Key {
	s.t.Helper()
	now := s.clock.Now()
	t := identity.PAT{ID: "pat_" + name, User: ada, Name: name, Created: now, Expires: now.AddDate(0, 0, days)}
	s.put(identity.PATKey(name), t, t.Expires)
	s.put(identity.PATDueKey(t.Due(), t.ID), identity.PATNotice{ID: t.ID, Hash: name}, t.Expires)
	return identity.PATKey(name)
}

func (s *scene) remind() Reminded {
	s.t.Helper()
	got, err := Remind(s.t.Context(), s.p)
	s.must(err)
	return got
}

// mails are the names that the queued mails are about.
func (s *scene) mails() []string {
	s.t.Helper()
	var out []string
	page, err := s.p.Table.Query(table.Within(context.Background(), mail.Partition), table.Query{PK: mail.Partition, Limit: 1000})
	s.must(err)
	for _, it := range page.Items {
		m, _, err := mail.Take(context.Background(), s.p.Sealer, it)
		s.must(err)
		if m.Template != mail.TokenExpiring || m.To != "ada@example.com" {
			s.t.Errorf("mail %+v", m)
		}
		out = append(out, m.Data["name"]+" "+m.Data["expires"])
	}
	return out
}

// days lets so many days pass, with a run on each of them.
func (s *scene) days(n int) {
	s.t.Helper()
	for range n {
		s.clock.Advance(24 * time.Hour)
		s.remind()
	}
}

func TestTheEndOfATokenIsAnnouncedOnceAWeekAhead(t *testing.T) {
	s := newScene(t)
	s.token("nightly", 90)
	s.days(82)
	if got := s.mails(); len(got) != 0 {
		t.Fatalf("too early: %v", got)
	}
	s.days(1)
	if got := strings.Join(s.mails(), ";"); got != "nightly 8 June 2026, 09:30 UTC" {
		t.Errorf("a week ahead: %s", got)
	}
	s.clock.Advance(2 * mail.TTL) // the mail has left
	s.days(8)
	if got := s.mails(); len(got) != 0 {
		t.Errorf("again: %v", got)
	}
}

func TestAMissedDayIsMadeUpFor(t *testing.T) {
	for missed := range 8 {
		t.Run(fmt.Sprintf("%d days", missed), func(t *testing.T) {
			s := newScene(t)
			s.token("nightly", 8)
			s.clock.Advance(24*time.Hour + time.Duration(missed)*24*time.Hour - time.Second)
			if got := s.remind(); got.Mailed != 1 || len(s.mails()) != 1 {
				t.Errorf("%+v", got)
			}
			if got := s.remind(); got != (Reminded{}) {
				t.Errorf("again: %+v", got)
			}
		})
	}
	t.Run("but not when the token has ended", func(t *testing.T) {
		s := newScene(t)
		s.token("nightly", 8)
		s.clock.Advance(8 * 24 * time.Hour)
		if got := s.remind(); got != (Reminded{}) {
			t.Errorf("%+v", got)
		}
	})
}

func TestTwoRunsAtOnceMailOnce(t *testing.T) {
	s := newScene(t)
	for i := range 2*pageSize + 1 {
		s.token(fmt.Sprintf("token%03d", i), 8)
	}
	s.clock.Advance(24 * time.Hour)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := Remind(context.Background(), s.p); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := s.mails(); len(got) != 2*pageSize+1 {
		t.Errorf("%d mails", len(got))
	}
}

func TestTokensThatEndedBeforeAreNotAnnounced(t *testing.T) {
	s := newScene(t)
	revoked := s.token("revoked", 8)
	s.token("reset", 8)
	_, err := s.p.Table.Write(table.Within(t.Context(), identity.PATPrefix), table.Delete(revoked))
	s.must(err)
	user := identity.UserKey(ada)
	_, err = s.p.Table.Write(table.Within(t.Context(), user.PK), table.Update(user, []table.Change{table.Set("epoch", 1)}))
	s.must(err)
	s.clock.Advance(24 * time.Hour)
	if got := s.remind(); got != (Reminded{Looked: 2}) {
		t.Errorf("%+v", got)
	}
	if got := s.mails(); len(got) != 0 {
		t.Errorf("mailed %v", got)
	}
}

// What fails on one day is tried again on the next.
func TestAStoreThatFailsLosesNoMail(t *testing.T) {
	s := newScene(t)
	s.token("nightly", 8)
	s.clock.Advance(24 * time.Hour)
	whole := s.p.Table
	s.p.Table = table.Faulty(whole, s.clock, table.Injection{Harm: table.FailBefore, PK: identity.PATPrefix})
	if _, err := Remind(t.Context(), s.p); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	s.p.Table = whole
	if got := s.remind(); got.Mailed != 1 {
		t.Errorf("%+v", got)
	}
}
