package notifications

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// TokenInput holds the token of an unsubscribe link, which identifies a user and an event type.
type TokenInput struct {
	Token string `path:"token" maxLength:"512" doc:"Of the link in the mail"`
}

// pagesPerSource limits requests for unsubscribe pages from one address. It suffices for people and for the mail
// programs of a provider, and stops the guessing of tokens.
var pagesPerSource = ratelimit.Rule{Name: "unsubscribe-source", Max: 60, Per: 10 * time.Minute}

// ending is the e-mail preference that a token switches off.
type ending struct{ org, user, eventKey string }

// name returns the name of the event type.
func (e ending) name() string {
	t, _ := event.TypeOf(e.eventKey)
	return t.Name
}

func (s *service) showUnsubscribe(ctx context.Context, in *TokenInput) (rest.Raw, error) {
	e, err := s.ending(ctx, in.Token)
	if err != nil {
		return htmlpage.AnswerFailure(err)
	}
	p := htmlpage.New("No more mails")
	p.AddParagraph("You get a mail for each event of the type " + e.name() + ". The button switches these mails off.")
	return p.AddButton("Switch these mails off").Answer(http.StatusOK), nil
}

func (s *service) unsubscribe(ctx context.Context, in *TokenInput) (rest.Raw, error) {
	e, err := s.ending(ctx, in.Token)
	if err != nil {
		audit.Omit(ctx)
		return htmlpage.AnswerFailure(err)
	}
	audit.NoteActor(ctx, e.org, e.user, "link in a mail")
	audit.NoteChange(ctx, audit.Change{Target: e.eventKey})
	if err = s.store.Unsubscribe(table.WithOrg(ctx, e.org), e.org, e.user, e.eventKey); err != nil {
		return rest.Raw{}, err
	}
	p := htmlpage.New("These mails are switched off")
	return p.AddParagraph("You get no more mails of the type " + e.name() +
		". The e-mail preferences of your account switch them on again.").Answer(http.StatusOK), nil
}

// ending decodes a token. It counts the requests of each source address and returns fault.Limited above the limit.
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
