package mailer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// server is a sender whose answer can be changed, and that counts how often it was asked.
type server struct {
	answer error
	asked  int
	sent   []mail.Message
}

func (o *server) Send(_ context.Context, m mail.Message) error {
	if o.asked++; o.answer == nil {
		o.sent = append(o.sent, m)
	}
	return o.answer
}

// tried runs the retries each second until d has passed.
func (f *fixture) tried(o *server, d time.Duration) {
	f.Helper()
	retry := RetryHandler(f.Platform, o)
	for end := f.Clock.Now().Add(d); f.Clock.Now().Before(end); f.Clock.Advance(time.Second) {
		f.Must(retry(f.Context()))
	}
}

func TestWhatCannotBeSentForNowIsTriedAgain(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	o := &server{answer: fault.New(fault.Unavailable, "greylisted")}
	for range 3 { // at least once
		f.Must(Handler(f.Platform, o)(context.Background(), f.feed()))
	}
	if o.asked != 1 {
		t.Errorf("asked %d times at once; want 1", o.asked)
	}
	f.tried(o, 14*time.Second)
	if o.asked != 1 {
		t.Errorf("asked %d times before its pause was over", o.asked)
	}
	o.answer = nil
	f.tried(o, 10*time.Second)
	if len(o.sent) != 1 || len(f.rows(retryPartition))+len(f.rows(deadPartition)) != 0 {
		t.Errorf("sent %d, waiting %v", len(o.sent), f.rows(retryPartition))
	}
	if err := Handler(f.Platform, o)(context.Background(), f.feed()); err != nil || len(o.sent) != 1 {
		t.Errorf("%v, sent %d times", err, len(o.sent))
	}
}

func TestAMailIsGivenUpInTheEnd(t *testing.T) {
	f := newFixture(t)
	var log bytes.Buffer
	f.Platform.Log = slog.New(slog.NewJSONHandler(&log, nil))
	f.queue(changed("a@example.com"))
	o := &server{answer: errors.New("451 4.7.1 <a@example.com> try later")}
	f.Must(Handler(f.Platform, o)(context.Background(), f.feed()))
	f.tried(o, mail.TTL-10*time.Second)
	if want := 1 + len(pauses); o.asked != want {
		t.Errorf("asked %d times, want %d", o.asked, want)
	}
	left := f.rows(deadPartition)
	if len(left) != 1 || len(f.rows(retryPartition)) != 0 {
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
			f := newFixture(t)
			f.queue(tt.letter)
			o := &server{answer: tt.answer}
			f.Must(Handler(f.Platform, o)(context.Background(), f.feed()))
			f.tried(o, time.Minute)
			if len(f.rows(deadPartition)) != 1 || o.asked > 1 || len(o.sent) != 0 {
				t.Errorf("given up %d, asked %d times, sent %v", len(f.rows(deadPartition)), o.asked, o.sent)
			}
		})
	}
}

// However many mails of an hour stand in the way, the next one goes at once.
func TestBadMailsDoNotBlockTheFeed(t *testing.T) {
	f := newFixture(t)
	for range 150 {
		f.queue(changed("bad@example.com"))
	}
	f.queue(changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	f.Must(Handler(f.Platform, out)(context.Background(), f.feed()))
	if len(out.sent) != 1 || out.sent[0].To != "good@example.com" {
		t.Errorf("sent %+v", out.sent)
	}
	if page, err := f.Table.Query(table.Within(context.Background(), retryPartition), table.Query{PK: retryPartition, Limit: 1000}); err != nil || len(page.Items) != 150 {
		t.Errorf("%d wait, %v", len(page.Items), err)
	}
}

func TestTwoRetriesAtOnceDoNotSendTwice(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	o := &server{answer: errors.New("try later")}
	f.Must(Handler(f.Platform, o)(context.Background(), f.feed()))
	f.Clock.Advance(time.Minute)
	it := f.rows(retryPartition)[0]
	o.answer = nil
	m := mailer{f.Platform, o}
	for range 2 { // both have read the row before the other wrote it
		f.Must(m.again(withMailerPartitions(context.Background()), it))
	}
	if len(o.sent) != 1 {
		t.Errorf("sent %d times", len(o.sent))
	}
}

func TestAStoreThatFailsIsTold(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	o := &server{answer: errors.New("try later")}
	items := f.feed()
	f.Table = table.NewFaultyStore(f.Table, f.Clock, table.Injection{Harm: table.FailBefore, PK: retryPartition, Call: 1})
	if err := Handler(f.Platform, o)(context.Background(), items); err == nil {
		t.Error("the mail is lost")
	}
	if err := Handler(f.Platform, o)(context.Background(), items); err != nil || len(f.rows(retryPartition)) != 1 {
		t.Errorf("%v", err)
	}
}
