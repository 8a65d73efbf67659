package mailer

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
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

func queue(t *testing.T, p *platform.Platform, ms ...mail.Mail) {
	t.Helper()
	ctx := table.Within(context.Background(), mail.Partition)
	for _, m := range ms {
		w, err := mail.Queue(ctx, p.Sealer, p.Clock.Now(), m)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = p.Table.Write(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
}

func feed(t *testing.T, p *platform.Platform) []table.Item {
	t.Helper()
	f, err := p.Table.Feed(table.Within(context.Background(), table.OutboxSuffix), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	return f.Items
}

func changed(to string) mail.Mail { return mail.Mail{Template: mail.PasswordChanged, To: to} }

func TestMailsAreSentOnceHoweverOftenDelivered(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"), mail.Mail{Template: mail.Nothing, To: "b@example.com"}, changed("c@example.com"))
	out := &post{}
	deliver := Handler(p, out)
	for range 3 {
		if err := deliver(context.Background(), feed(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	if len(out.sent) != 2 || out.sent[0].To != "a@example.com" || out.sent[1].To != "c@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
}

func TestOneBadAddressDoesNotHoldUpTheOthers(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	queue(t, p, changed("bad@example.com"), changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	if err := Handler(p, out)(context.Background(), feed(t, p)); err != nil || len(out.sent) != 1 {
		t.Fatalf("%v, sent %+v", err, out.sent)
	}
	out.refuse = ""
	c.Advance(time.Minute)
	if err := Retries(p, out)(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(out.sent) != 2 || out.sent[0].To != "good@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
}

func TestAMailThatIsTooLateIsNotSent(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"))
	items := feed(t, p)
	c.Advance(mail.TTL + time.Second)
	out := &post{}
	if err := Handler(p, out)(context.Background(), items); err != nil || len(out.sent) != 0 {
		t.Errorf("%v, sent %+v", err, out.sent)
	}
}

func TestOtherEventsAreLeftAlone(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	it := table.Item{Key: table.Key{PK: "ORG#org_1#EVENTS", SK: "evt_1"}, Data: []byte(`{"id":"evt_1"}`)}
	out := &post{}
	if err := Handler(p, out)(context.Background(), []table.Item{it}); err != nil || len(out.sent) != 0 {
		t.Errorf("%v, sent %+v", err, out.sent)
	}
}

// It may be that the key service is away, so it is not given up at once.
func TestAMailThatDoesNotOpenWaits(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"))
	other, _ := apitest.NewPlatform(t)
	if err := Handler(other, &post{})(context.Background(), feed(t, p)); err != nil || len(rows(t, other, retryPartition)) != 1 {
		t.Errorf("%v, waiting: %v", err, rows(t, other, retryPartition))
	}
}
