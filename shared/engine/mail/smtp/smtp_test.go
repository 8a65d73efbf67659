package smtp

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/smtptest"
)

const from = "no-reply@lamplighter.test"

// message has parts that mail servers get wrong: letters beyond ASCII, a line with only a dot, a long line.
var message = mail.Message{
	ID: "mail_1", To: "ada@example.com", Subject: "Ærø: your code is 042137 — dot’s next",
	Text: "Hello, Ærø.\n\n.\n..two\n" + strings.Repeat("long ", 300) + "\n\n— the end\n",
	Date: time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC),
}

// testContract tests that a sent mail arrives once and unchanged.
func testContract(t *testing.T, s *Sender, received func() []smtptest.Letter) {
	t.Helper()
	if err := s.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	got := received()
	if len(got) != 1 {
		t.Fatalf("it arrived %d times: %+v", len(got), got)
	}
	g := got[0]
	if g.From != from || g.To != message.To || g.Subject != message.Subject ||
		strings.TrimRight(g.Text, "\n")+"\n" != message.Text {
		t.Errorf("it arrived as\n%+v\nwant\n%+v", g, message)
	}
}

func openSender(t *testing.T, s *smtptest.Sink, address string) *Sender {
	t.Helper()
	out, err := newSender(address, from, s.Roots)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func withPassword(scheme, address string) string {
	return (&url.URL{Scheme: scheme, Host: address, User: url.UserPassword(smtptest.User, smtptest.Password)}).String()
}

func TestAMailArrives(t *testing.T) {
	t.Run("by STARTTLS", func(t *testing.T) {
		s := smtptest.New(t)
		testContract(t, openSender(t, s, withPassword("smtp", s.Address)), s.Received)
		if !s.Received()[0].LoggedIn {
			t.Error("it was sent without logging in")
		}
	})
	t.Run("by TLS from the first byte", func(t *testing.T) {
		s := smtptest.New(t)
		l, err := tls.Listen("tcp", "127.0.0.1:0", s.TLSConfig)
		if err != nil {
			t.Fatal(err)
		}
		go s.Serve(l)
		testContract(t, openSender(t, s, withPassword("smtps", l.Addr().String())), s.Received)
	})
	t.Run("without TLS where that is allowed", func(t *testing.T) {
		s := smtptest.New(t, smtptest.WithoutTLS)
		testContract(t, openSender(t, s, "smtp://"+s.Address+"?tls=optional"), s.Received)
	})
}

func TestWhatMayPassAndWhatMayNot(t *testing.T) {
	answer := func(code int) func(*smtptest.Sink) {
		return func(s *smtptest.Sink) {
			s.Refuse = &gosmtp.SMTPError{Code: code, EnhancedCode: gosmtp.EnhancedCode{code / 100, 1, 1}, Message: "no"}
		}
	}
	for name, tt := range map[string]struct {
		change func(*smtptest.Sink)
		want   fault.Kind
	}{
		"no such mailbox":            {answer(550), fault.Invalid},
		"not allowed":                {answer(553), fault.Invalid},
		"a mailbox that is busy":     {answer(450), fault.Unavailable},
		"greylisting":                {answer(451), fault.Unavailable},
		"a line that goes dead":      {func(s *smtptest.Sink) { s.Drop = true }, fault.Unavailable},
		"a message that is too long": {func(s *smtptest.Sink) { s.MaxMessageBytes = 10 }, fault.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			s := smtptest.New(t, tt.change)
			err := openSender(t, s, withPassword("smtp", s.Address)).Send(t.Context(), message)
			if !fault.Is(err, tt.want) || len(s.Received()) != 0 {
				t.Errorf("%v (kind %d), received %+v", err, fault.KindOf(err), s.Received())
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		s, err := New(withPassword("smtp", l.Addr().String()), from)
		if err != nil {
			t.Fatal(err)
		}
		if err = s.Send(t.Context(), message); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
	})
	t.Run("somebody who says nothing", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		s, err := New(withPassword("smtp", l.Addr().String()), from)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err = s.Send(ctx, message); !fault.Is(err, fault.Unavailable) || time.Since(began) > dialogueTimeout/2 {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

// The password is sent only over TLS, only to the intended server, and it is in no error.
func TestThePasswordStaysSecret(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*smtptest.Sink)
		address func(string) string
		trust   bool
	}{
		"a server without STARTTLS": {smtptest.WithoutTLS, func(a string) string {
			return withPassword("smtp", a)
		}, true},
		"a server without STARTTLS, where it is optional": {smtptest.WithoutTLS, func(a string) string {
			return withPassword("smtp", a) + "?tls=optional"
		}, true},
		"a server with somebody's certificate": {func(*smtptest.Sink) {}, func(a string) string {
			return withPassword("smtp", a)
		}, false},
		"a password that is wrong": {func(*smtptest.Sink) {}, func(a string) string {
			return strings.Replace(withPassword("smtp", a), "a%20password", "hush", 1)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := smtptest.New(t, tt.change)
			roots := s.Roots
			if !tt.trust {
				roots = nil
			}
			out, err := newSender(tt.address(s.Address), from, roots)
			if err != nil {
				t.Fatal(err)
			}
			err = out.Send(t.Context(), message)
			if !fault.Is(err, fault.Unavailable) || len(s.Received()) != 0 {
				t.Errorf("%v, received %+v", err, s.Received())
			}
			if strings.Contains(err.Error(), "password of") || strings.Contains(err.Error(), "hush") {
				t.Errorf("it says %v", err)
			}
		})
	}
}

func TestAnAddressOfNoServerIsRefusedAndNotRepeated(t *testing.T) {
	for _, address := range []string{
		"", "mail.example.com", "http://user:hush@mail.example.com", "smtp://user:hush@", "smtp://user:hush@host:99999",
		"smtp://user:hush@host:port",
		"smtp://user:hu%sh@host", "smtp://user:hush@host:25/path", "smtp://user:hush@host:0",
	} {
		if _, err := New(address, from); err == nil || strings.Contains(err.Error(), "hu") {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, bad := range []string{"", "nobody", "a@b\r\nBcc: c@d", "Ada <a@b>"} {
		if _, err := New("smtps://mail.example.com", bad); err == nil {
			t.Errorf("%q may send", bad)
		}
	}
	if _, err := New("smtps://user:p%40ss@mail.example.com", from); err != nil {
		t.Error(err)
	}
}

// check 65, in the SMTP dialogue.
func TestNothingBecomesAHeaderOfItsOwn(t *testing.T) {
	s := smtptest.New(t)
	out := openSender(t, s, withPassword("smtp", s.Address))
	m := message
	m.Subject = "hello\r\nBcc: eve@example.com\r\n\r\nbody"
	if err := out.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(s.Received()[0].Raw, "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if strings.HasPrefix(strings.ToLower(line), "bcc:") {
			t.Errorf("a header of its own in\n%s", head)
		}
	}
	for _, to := range []string{
		"ada@example.com\r\nRCPT TO:<eve@example.com>", "ada@example.com\nBcc: eve@example.com",
		"ada@example.com, eve@example.com", "",
	} {
		m.To = to
		if err := out.Send(t.Context(), m); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", to, err)
		}
	}
	if n := len(s.Received()); n != 1 {
		t.Errorf("%d letters arrived", n)
	}
}
