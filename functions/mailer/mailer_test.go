package mailer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// post is a sender that records its mails, and refuses one address as long as refuse is set.
type post struct {
	refuse string
	mu     sync.Mutex
	sent   []mail.Message
}

func (p *post) Send(_ context.Context, m mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if m.To == p.refuse {
		return errors.New("mailbox unavailable")
	}
	p.sent = append(p.sent, m)
	return nil
}

// to returns the addresses of the sent mails, sorted.
func (p *post) to() string {
	var out []string
	for _, m := range p.sent {
		out = append(out, strings.TrimSuffix(m.To, "@example.com"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{apitest.New(t)}
}

func (f *fixture) queue(ms ...mail.Mail) {
	f.Helper()
	for _, m := range ms {
		f.Write(apitest.Value(mail.QueueMail(f.Anywhere(), f.Sealer, f.Platform.Clock.Now(), m))(f))
	}
}

func (f *fixture) feed() []table.Item {
	f.Helper()
	return apitest.Value(f.Table.Feed(f.Anywhere(), "", 2000))(f).Items
}

// deliver delivers the whole feed to a mailer, like a feed that repeats all items.
func (f *fixture) deliver(s mail.Sender) []table.FeedFailure {
	f.Helper()
	return New(f.Platform, s, 0).Deliver(f.Context(), f.feed())
}

// waiting returns the mails in the outbox.
func (f *fixture) waiting() []table.Item {
	f.Helper()
	var out []table.Item
	for _, kind := range []mail.Kind{mail.Code, mail.Note} {
		for _, pk := range mail.Partitions(kind) {
			out = append(out, f.rows(pk)...)
		}
	}
	return out
}

func (f *fixture) rows(pk string) []table.Item {
	f.Helper()
	return apitest.Value(f.Table.Query(f.Anywhere(), table.Query{PK: pk, Limit: 1000}))(f).Items
}

func (f *fixture) dead() []Dead {
	f.Helper()
	dead, _, err := ListDead(f.Context(), f.Table, "")
	f.Must(err)
	return dead
}

func changed(to string) mail.Mail { return mail.Mail{Template: mail.PasswordChanged, To: to} }

func code(to string) mail.Mail {
	return mail.Mail{Template: mail.VerifyAddress, To: to, Data: map[string]string{"code": "042137"}}
}

func TestDeliver_SendsOnceHoweverOftenAMailIsBrought(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"), mail.Mail{Template: mail.Nothing, To: "b@example.com"}, code("c@example.com"))
	out, brought := &post{}, f.feed()
	for range 3 {
		if failed := New(f.Platform, out, 0).Deliver(f.Context(), brought); failed != nil {
			t.Fatal(failed)
		}
	}
	if out.to() != "a c" || len(f.waiting()) != 0 {
		t.Errorf("sent to %s, waiting %v", out.to(), f.waiting())
	}
}

func TestDeliver_OneBadAddressDoesNotHoldUpTheOthers(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("bad@example.com"), changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	if failed := f.deliver(out); failed != nil || out.to() != "good" {
		t.Fatalf("%v, sent to %s", failed, out.to())
	}
	out.refuse = ""
	f.Clock.Advance(time.Minute)
	f.Must(New(f.Platform, out, 0).Round(f.Context()))
	if out.to() != "bad good" {
		t.Errorf("sent to %s", out.to())
	}
}

func TestDeliver_DropsACodeThatIsTooLateAndSendsANote(t *testing.T) {
	f := newFixture(t)
	f.queue(code("a@example.com"), changed("b@example.com"))
	f.Clock.Advance(mail.TTL + time.Second)
	out := &post{}
	if failed := f.deliver(out); failed != nil || out.to() != "b" || len(f.waiting()) != 0 {
		t.Errorf("%v, sent to %s, waiting %v", failed, out.to(), f.waiting())
	}
}

func TestDeliver_LeavesOtherEventsAlone(t *testing.T) {
	f := newFixture(t)
	out := &post{}
	for _, pk := range []string{"ORG#org_1#EVENTS", "MAIL#EVENTS", "MAIL#OUT#OTHER#00#EVENTS"} {
		it := table.Item{Key: table.Key{PK: pk, SK: "evt_1"}, Data: []byte(`{"id":"evt_1"}`)}
		if failed := New(f.Platform, out, 0).Deliver(f.Context(), []table.Item{it}); failed != nil ||
			len(out.sent) != 0 {
			t.Errorf("%s: %v, sent %+v", pk, failed, out.sent)
		}
	}
}

// TestDeliver_HasAMailWaitThatDoesNotOpen: a mail that cannot be decrypted is not given up at once, because the key
// service may be unavailable.
func TestDeliver_HasAMailWaitThatDoesNotOpen(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	f.Sealer = newFixture(t).Sealer
	if failed := f.deliver(&post{}); failed != nil || len(f.waiting()) != 1 || len(f.dead()) != 0 {
		t.Errorf("%v, waiting: %v", failed, f.waiting())
	}
}

// TestDeliver_TellsWhichMailsFailed checks that Deliver returns exactly the mails that failed because of the store.
func TestDeliver_TellsWhichMailsFailed(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"), code("b@example.com"), changed("c@example.com"))
	brought := f.feed()
	f.Table = table.NewFaultyStore(f.Table, f.Platform.Clock,
		table.Injection{Harm: table.FailBefore, PK: brought[1].PK, Call: 1})
	out := &post{}
	failed := New(f.Platform, out, 0).Deliver(f.Context(), brought)
	if len(failed) != 1 || failed[0].Key != brought[1].Key || out.to() != "a c" {
		t.Errorf("failed %v, sent to %s", failed, out.to())
	}
	if failed = New(f.Platform, out, 0).Deliver(f.Context(), brought); failed != nil || out.to() != "a b c" {
		t.Errorf("failed %v, sent to %s", failed, out.to())
	}
}
