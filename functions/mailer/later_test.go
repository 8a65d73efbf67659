package mailer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// office is a sender whose answer can be changed, and that counts how often it was asked.
type office struct {
	answer error
	asked  int
	sent   []mail.Message
}

func (o *office) Send(_ context.Context, m mail.Message) error {
	if o.asked++; o.answer == nil {
		o.sent = append(o.sent, m)
	}
	return o.answer
}

func rows(t *testing.T, p *platform.Platform, pk string) []table.Item {
	t.Helper()
	page, err := p.Table.Query(table.Within(context.Background(), pk), table.Query{PK: pk, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	return page.Items
}

// tried runs the retries each second until d has passed.
func tried(t *testing.T, p *platform.Platform, c *clock.Manual, o *office, d time.Duration) {
	t.Helper()
	retry := Retries(p, o)
	for end := c.Now().Add(d); c.Now().Before(end); c.Advance(time.Second) {
		if err := retry(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatCannotBeSentForNowIsTriedAgain(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"))
	o := &office{answer: fault.New(fault.Unavailable, "greylisted")}
	for range 3 { // at least once
		if err := Handler(p, o)(context.Background(), feed(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	if o.asked != 1 {
		t.Errorf("asked %d times at once; want 1", o.asked)
	}
	tried(t, p, c, o, 14*time.Second)
	if o.asked != 1 {
		t.Errorf("asked %d times before its pause was over", o.asked)
	}
	o.answer = nil
	tried(t, p, c, o, 10*time.Second)
	if len(o.sent) != 1 || len(rows(t, p, retryPartition))+len(rows(t, p, deadPartition)) != 0 {
		t.Errorf("sent %d, waiting %v", len(o.sent), rows(t, p, retryPartition))
	}
	if err := Handler(p, o)(context.Background(), feed(t, p)); err != nil || len(o.sent) != 1 {
		t.Errorf("%v, sent %d times", err, len(o.sent))
	}
}

func TestAMailIsGivenUpInTheEnd(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	var log bytes.Buffer
	p.Log = slog.New(slog.NewJSONHandler(&log, nil))
	queue(t, p, changed("a@example.com"))
	o := &office{answer: errors.New("451 4.7.1 <a@example.com> try later")}
	if err := Handler(p, o)(context.Background(), feed(t, p)); err != nil {
		t.Fatal(err)
	}
	tried(t, p, c, o, mail.TTL-10*time.Second)
	if want := 1 + len(pauses); o.asked != want {
		t.Errorf("asked %d times, want %d", o.asked, want)
	}
	left := rows(t, p, deadPartition)
	if len(left) != 1 || len(rows(t, p, retryPartition)) != 0 {
		t.Fatalf("%d given up", len(left))
	}
	d, err := table.Decode[dead](left[0])
	if err != nil || d.Tries != o.asked || d.Template != mail.PasswordChanged || d.Why == "" || len(d.Sealed) == 0 || left[0].Expires.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
	if s := d.Why + log.String(); strings.Contains(s, "a@example.com") || !strings.Contains(s, "451 4.7.1 <the address> try later") || !strings.Contains(s, `"level":"ERROR"`) {
		t.Errorf("it says %s", s)
	}
}

func TestWhatWillNeverBeTakenIsGivenUpAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		letter mail.Mail
		answer error
	}{
		"an address that is refused":   {changed("a@example.com"), fault.New(fault.Invalid, "550 no such user")},
		"an address that breaks out":   {changed("a@example.com>\r\nBcc: eve@example.com"), nil},
		"a template that is not there": {mail.Mail{Template: "nonsense", To: "a@example.com"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := apitest.NewPlatform(t)
			queue(t, p, tt.letter)
			o := &office{answer: tt.answer}
			if err := Handler(p, o)(context.Background(), feed(t, p)); err != nil {
				t.Fatal(err)
			}
			tried(t, p, c, o, time.Minute)
			if len(rows(t, p, deadPartition)) != 1 || o.asked > 1 || len(o.sent) != 0 {
				t.Errorf("given up %d, asked %d times, sent %v", len(rows(t, p, deadPartition)), o.asked, o.sent)
			}
		})
	}
}

// However many mails of an hour stand in the way, the next one goes at once.
func TestBadMailsDoNotBlockTheFeed(t *testing.T) {
	p, _ := apitest.NewPlatform(t)
	for range 150 {
		queue(t, p, changed("bad@example.com"))
	}
	queue(t, p, changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	if err := Handler(p, out)(context.Background(), feed(t, p)); err != nil {
		t.Fatal(err)
	}
	if len(out.sent) != 1 || out.sent[0].To != "good@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
	if page, err := p.Table.Query(table.Within(context.Background(), retryPartition), table.Query{PK: retryPartition, Limit: 1000}); err != nil || len(page.Items) != 150 {
		t.Errorf("%d wait, %v", len(page.Items), err)
	}
}

func TestTwoRetriesAtOnceDoNotSendTwice(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"))
	o := &office{answer: errors.New("try later")}
	if err := Handler(p, o)(context.Background(), feed(t, p)); err != nil {
		t.Fatal(err)
	}
	c.Advance(time.Minute)
	it := rows(t, p, retryPartition)[0]
	o.answer = nil
	m := mailer{p, o}
	for range 2 { // both have read the row before the other wrote it
		if err := m.again(reach(context.Background()), it); err != nil {
			t.Fatal(err)
		}
	}
	if len(o.sent) != 1 {
		t.Errorf("sent %d times", len(o.sent))
	}
}

func TestAStoreThatFailsIsTold(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	queue(t, p, changed("a@example.com"))
	o := &office{answer: errors.New("try later")}
	items := feed(t, p)
	p.Table = table.Faulty(p.Table, c, table.Injection{Harm: table.FailBefore, PK: retryPartition, Call: 1})
	if err := Handler(p, o)(context.Background(), items); err == nil {
		t.Error("the mail is lost")
	}
	if err := Handler(p, o)(context.Background(), items); err != nil || len(rows(t, p, retryPartition)) != 1 {
		t.Errorf("%v", err)
	}
}
