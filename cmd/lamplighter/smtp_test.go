package main

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/shared/testkit/smtptest"
)

// With a mail server from the operator, a code is sent by that server alone.
func TestMailsGoToTheOperatorsServer(t *testing.T) {
	sink := smtptest.New(t, smtptest.WithoutTLS)
	t.Setenv("LAMPLIGHTER_SMTP_URL", "smtp://"+sink.Address+"?tls=optional")
	t.Setenv("LAMPLIGHTER_MAIL_FROM", "no-reply@lamplighter.test")
	s := serveIn(t, t.TempDir())
	body := map[string]string{"email": "ada@example.com", "password": "correct horse battery 43", "name": "Ada"}
	if err := local.NewClient(s.address()).Do(t.Context(), http.MethodPost, "/auth/signup", body, nil); err != nil {
		t.Fatal(err)
	}
	sink.AwaitOne()
	got := sink.Received()
	if len(got) != 1 || got[0].To != "ada@example.com" || got[0].From != "no-reply@lamplighter.test" ||
		!strings.HasPrefix(got[0].Subject, "Your Lamplighter code is ") {
		t.Errorf("received %+v", got)
	}
	if strings.Contains(s.printed(), "Your Lamplighter code") {
		t.Error("the code is printed as well")
	}
	s.shut(t)
}

func TestTheMailServersPasswordIsNotShown(t *testing.T) {
	const secret = "hush-hush"
	address := (&url.URL{
		Scheme: "smtp", Host: "mail.example.com:25", User: url.UserPassword("me", secret),
		Path: "/no/path/belongs/here",
	}).String()
	for name, args := range map[string][]string{
		"help":            {"serve", "-help"},
		"a wrong address": {"serve", "-addr", "127.0.0.1:0", "-smtp", address, "-mail-from", "a@example.com"},
		"a wrong sender": {
			"serve", "-addr", "127.0.0.1:0", "-smtp",
			strings.TrimSuffix(address, "/no/path/belongs/here"), "-mail-from", "nobody",
		},
		"by the variable":   {"serve", "-addr", "127.0.0.1:0", "-mail-from", "a@example.com"},
		"something unknown": {"serve", "more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("LAMPLIGHTER_SMTP_URL", address)
			var out bytes.Buffer
			err := run(t.Context(), append(args, "-dir", t.TempDir()), &out, &out)
			if name != "help" && err == nil {
				t.Error("it starts")
			}
			if err != nil {
				out.WriteString(err.Error())
			}
			if strings.Contains(out.String(), secret) {
				t.Errorf("it says\n%s", out.String())
			}
		})
	}
}
