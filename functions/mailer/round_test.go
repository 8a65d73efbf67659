package mailer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// server is a sender with a settable answer that counts its calls.
type server struct {
	answer error
	mu     sync.Mutex
	asked  int
	sent   []mail.Message
}

func (o *server) Send(_ context.Context, m mail.Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.asked++; o.answer == nil {
		o.sent = append(o.sent, m)
	}
	return o.answer
}

// tried makes a round each second until d has passed.
func (f *fixture) tried(o *server, d time.Duration) {
	f.Helper()
	m := New(f.Platform, o, 0)
	for end := f.Clock.Now().Add(d); f.Clock.Now().Before(end); f.Clock.Advance(time.Second) {
		f.Must(m.Round(f.Context()))
	}
}

func TestRound_TriesAgainWhatCouldNotBeSentForNow(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	o := &server{answer: fault.New(fault.Unavailable, "greylisted")}
	for range 3 { // at least once
		f.deliver(o)
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
	f.deliver(o)
	if len(o.sent) != 1 || len(f.waiting())+len(f.dead()) != 0 {
		t.Errorf("sent %d, waiting %v", len(o.sent), f.waiting())
	}
}

func TestRound_GivesAMailUpInTheEnd(t *testing.T) {
	f := newFixture(t)
	var log bytes.Buffer
	f.Platform.Log = slog.New(slog.NewJSONHandler(&log, nil))
	f.queue(changed("a@example.com"))
	o := &server{answer: errors.New("451 4.7.1 <a@example.com> try later")}
	f.deliver(o)
	f.tried(o, mail.TTL-10*time.Second)
	if want := 1 + len(pauses); o.asked != want {
		t.Errorf("asked %d times, want %d", o.asked, want)
	}
	left := f.dead()
	if len(left) != 1 || len(f.waiting()) != 0 {
		t.Fatalf("%d given up", len(left))
	}
	d := left[0]
	if d.Tries != o.asked || d.Template != mail.PasswordChanged || d.Why == "" || len(d.Sealed) == 0 {
		t.Errorf("%+v", d)
	}
	if s := d.Why + log.String(); strings.Contains(s, "a@example.com") ||
		!strings.Contains(s, "451 4.7.1 <the address> try later") || !strings.Contains(s, `"level":"ERROR"`) {
		t.Errorf("it says %s", s)
	}
}

func TestDeliver_GivesUpAtOnceWhatWillNeverBeTaken(t *testing.T) {
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
			f.deliver(o)
			f.tried(o, time.Minute)
			if len(f.dead()) != 1 || o.asked > 1 || len(o.sent) != 0 {
				t.Errorf("given up %d, asked %d times, sent %v", len(f.dead()), o.asked, o.sent)
			}
		})
	}
}

// TestDeliver_BadMailsDoNotBlockTheFeed: a mail is sent at once, even behind the failing mails of an hour.
func TestDeliver_BadMailsDoNotBlockTheFeed(t *testing.T) {
	f := newFixture(t)
	for range 150 {
		f.queue(changed("bad@example.com"))
	}
	f.queue(changed("good@example.com"))
	out := &post{refuse: "bad@example.com"}
	f.deliver(out)
	if out.to() != "good" || len(f.waiting()) != 150 {
		t.Errorf("sent to %s, %d wait", out.to(), len(f.waiting()))
	}
}

func TestRound_TwoAtOnceDoNotSendTwice(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	o := &server{answer: errors.New("try later")}
	f.deliver(o)
	f.Clock.Advance(time.Minute)
	it := f.waiting()[0]
	o.answer = nil
	m := New(f.Platform, o, 0)
	for range 2 { // both read the row before the other writes it
		f.Must(m.try(withMailerPartitions(f.Context()), it, m.awaitRoom))
	}
	if len(o.sent) != 1 {
		t.Errorf("sent %d times", len(o.sent))
	}
}

// TestRound_LosesNothingOfAMailerThatWasDownForThirtyHours is row 9: the records of the stream have expired after 24
// hours, and no dead-letter queue contains them.
func TestRound_LosesNothingOfAMailerThatWasDownForThirtyHours(t *testing.T) {
	f := newFixture(t)
	const n = 120
	for i := range n {
		f.queue(changed(fmt.Sprintf("note-%d@example.com", i)), code(fmt.Sprintf("code-%d@example.com", i)))
	}
	f.Clock.Advance(30 * time.Hour)
	f.queue(code("last@example.com"))
	f.Clock.Advance(time.Minute)
	o := &server{}
	f.Must(New(f.Platform, o, 0).Round(f.Context())) // the feed delivers nothing any more
	if len(o.sent) != n+1 || o.sent[0].To != "last@example.com" || len(f.waiting()) != 0 {
		t.Errorf("sent %d mails, first to %s; %d wait", len(o.sent), o.sent[0].To, len(f.waiting()))
	}
}

func TestRedrive_SendsAgainWhatWasGivenUp(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"), code("b@example.com"))
	o := &server{answer: fault.New(fault.Invalid, "554 your address is blocked")}
	f.deliver(o)
	if len(f.dead()) != 2 {
		t.Fatalf("%d given up", len(f.dead()))
	}
	f.Clock.Advance(13 * 24 * time.Hour)
	o.answer = nil
	for _, d := range f.dead() {
		err := Redrive(f.Context(), f.Table, d.ID, f.Clock.Now())
		if late := mail.KindOf(d.PK) == mail.Code; late != fault.Is(err, fault.Conflict) || !late && err != nil {
			t.Errorf("%s: %v", d.Template, err)
		}
	}
	f.deliver(o) // the feed delivers it, and so would the next round
	f.tried(o, time.Minute)
	if len(o.sent) != 1 || o.sent[0].To != "a@example.com" || len(f.dead()) != 1 {
		t.Errorf("sent %v, given up %d", o.sent, len(f.dead()))
	}
	if err := Redrive(f.Context(), f.Table, "mail_nobody", apitest.Start); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
}

func TestRound_TellsOfAStoreThatFails(t *testing.T) {
	f := newFixture(t)
	f.queue(changed("a@example.com"))
	pk := f.waiting()[0].PK
	f.Clock.Advance(time.Minute)
	o := &server{}
	f.Table = table.NewFaultyStore(f.Table, f.Clock, table.Injection{Harm: table.FailBefore, PK: pk, Call: 1})
	if err := New(f.Platform, o, 0).Round(f.Context()); err == nil {
		t.Error("nobody is told")
	}
	f.Must(New(f.Platform, o, 0).Round(f.Context()))
	if len(o.sent) != 1 {
		t.Errorf("sent %d", len(o.sent))
	}
}
