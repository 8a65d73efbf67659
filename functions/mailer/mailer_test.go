package mailer

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// post is a sender that keeps what it is given, and refuses one address for as long as it is told to.
type post struct {
	refuse string
	sent   []mail.Message
}

func (p *post) Send(_ context.Context, m mail.Message) error {
	if m.To == p.refuse {
		return errors.New("mailbox unavailable")
	}
	p.sent = append(p.sent, m)
	return nil
}

type fixture struct{ *apitest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()
	return &fixture{apitest.New(t)}
}

func (f *fixture) queue(ms ...mail.Mail) {
	f.Helper()
	for _, m := range ms {
		f.Write(apitest.Value(mail.QueueMail(f.Anywhere(), f.Sealer, f.Clock.Now(), m))(f))
	}
}

func (f *fixture) feed() []table.Item {
	f.Helper()
	return apitest.Value(f.Table.Feed(f.Anywhere(), "", 1000))(f).Items
}

func (f *fixture) rows(pk string) []table.Item {
	f.Helper()
	return apitest.Value(f.Table.Query(f.Anywhere(), table.Query{PK: pk, Limit: 100}))(f).Items
}

func changed(to string) mail.Mail { return mail.Mail{Template: mail.PasswordChanged, To: to} }

func TestMailsAreSentOnceHoweverOftenDelivered(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"), mail.Mail{Template: mail.Nothing, To: "b@example.com"}, changed("c@example.com"))
	out := &post{}
	deliver := Handler(f.Platform, out)
	for range 3 {
		f.Must(deliver(context.Background(), f.feed()))
	}
	if len(out.sent) != 2 || out.sent[0].To != "a@example.com" || out.sent[1].To != "c@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
}

func TestOneBadAddressDoesNotHoldUpTheOthers(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("bad@example.com"), changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	if err := Handler(f.Platform, out)(context.Background(), f.feed()); err != nil || len(out.sent) != 1 {
		t.Fatalf("%v, sent %+v", err, out.sent)
	}
	out.refuse = ""
	f.Clock.Advance(time.Minute)
	f.Must(RetryHandler(f.Platform, out)(context.Background()))
	if len(out.sent) != 2 || out.sent[0].To != "good@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
}

func TestAMailThatIsTooLateIsNotSent(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	items := f.feed()
	f.Clock.Advance(mail.TTL + time.Second)
	out := &post{}
	if err := Handler(f.Platform, out)(context.Background(), items); err != nil || len(out.sent) != 0 {
		t.Errorf("%v, sent %+v", err, out.sent)
	}
}

func TestOtherEventsAreLeftAlone(t *testing.T) {
	f := newFixture(t)
	it := table.Item{Key: table.Key{PK: "ORG#org_1#EVENTS", SK: "evt_1"}, Data: []byte(`{"id":"evt_1"}`)}
	out := &post{}
	if err := Handler(f.Platform, out)(context.Background(), []table.Item{it}); err != nil || len(out.sent) != 0 {
		t.Errorf("%v, sent %+v", err, out.sent)
	}
}

// It may be that the key service is away, so it is not given up at once.
func TestAMailThatDoesNotOpenWaits(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	other := newFixture(t)
	if err := Handler(other.Platform, &post{})(context.Background(), f.feed()); err != nil || len(other.rows(retryPartition)) != 1 {
		t.Errorf("%v, waiting: %v", err, other.rows(retryPartition))
	}
}
