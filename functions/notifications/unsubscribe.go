package notifications

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const htmlType = "text/html; charset=utf-8"

var (
	//go:embed page/unsubscribe.html
	markup string
	//go:embed page/unsubscribe.css
	style string
)

// TokenInput names whose mails of what a request ends.
type TokenInput struct {
	Token string `path:"token" maxLength:"512" doc:"Of the link in the mail"`
}

// pagesPerSource is how many of these pages one address may ask for: people, and the mail programs of a provider, not a guesser.
var pagesPerSource = ratelimit.Rule{Name: "unsubscribe-source", Max: 60, Per: 10 * time.Minute}

// ending is what a token ends.
type ending struct{ org, user, eventKey string }

// name says what it ends.
func (e ending) name() string {
	t, _ := event.TypeOf(e.eventKey)
	return t.Name
}

func (s *service) showUnsubscribe(ctx context.Context, in *TokenInput) (rest.Raw, error) {
	e, err := s.ending(ctx, in.Token)
	if err != nil {
		return failurePage(err)
	}
	return page(http.StatusOK, "No more mails",
		"<p>You get a mail for each event of the type "+e.name()+". With this button you get none any more.</p>\n"+
			`<form method="post"><button type="submit">Switch these mails off</button></form>`), nil
}

func (s *service) unsubscribe(ctx context.Context, in *TokenInput) (rest.Raw, error) {
	e, err := s.ending(ctx, in.Token)
	if err != nil {
		audit.Omit(ctx)
		return failurePage(err)
	}
	audit.NoteActor(ctx, e.org, e.user, "link in a mail")
	audit.NoteChange(ctx, audit.Change{Target: e.eventKey})
	if err = s.store.Unsubscribe(table.WithOrg(ctx, e.org), e.org, e.user, e.eventKey); err != nil {
		return rest.Raw{}, err
	}
	return page(http.StatusOK, "These mails are switched off",
		"<p>You get no more mails of the type "+e.name()+
			". The e-mail preferences of your account switch them on again.</p>"), nil
}

// ending reads a token, and counts who asks.
func (s *service) ending(ctx context.Context, token string) (ending, error) {
	ok, err := ratelimit.TakeUse(ctx, s.p.Table, s.p.Clock.Now(), pagesPerSource,
		ratelimit.SourceOf(rest.SourceIP(ctx)))
	if err != nil {
		s.p.Log.WarnContext(ctx, "pages of links in mails are not counted", "error", err.Error())
	}
	if !ok {
		return ending{}, fault.New(fault.Limited, "Too many requests came from your address. Try again in ten minutes.")
	}
	var e ending
	e.org, e.user, e.eventKey, err = s.store.ReadUnsubscribeToken(token)
	return e, err
}

// failurePage returns the page of a failure that a person can do something about; others stay errors.
func failurePage(err error) (rest.Raw, error) {
	switch {
	case fault.Is(err, fault.NotFound):
		return page(http.StatusNotFound, "Nothing here", "<p>"+fault.Message(err)+"</p>"), nil
	case fault.Is(err, fault.Limited):
		return page(http.StatusTooManyRequests, "Not so fast", "<p>"+fault.Message(err)+"</p>"), nil
	}
	return rest.Raw{}, err
}

// page returns a page that runs no script, loads nothing, and tells nobody where it was seen. All that stands in it is ours.
func page(status int, title, body string) rest.Raw {
	text := strings.NewReplacer("{{title}}", title, "{{css}}", style, "{{body}}", body).Replace(markup)
	sum := sha256.Sum256([]byte(style))
	return rest.Raw{Status: status, Body: []byte(text), Header: http.Header{
		"Content-Security-Policy": {"default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors " +
			"'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"},
		"Referrer-Policy": {"no-referrer"}, "X-Robots-Tag": {"noindex, nofollow"},
	}}
}
