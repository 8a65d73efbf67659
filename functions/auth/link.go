package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	linkPath = "/auth/password/reset/"
	linkPage = linkPath + "{token}"
	// linkTTL is longer than the window of codesPerAddress. So when no further mail is sent because strangers asked for
	// too many, a link of an earlier mail is still valid.
	linkTTL = 2 * time.Hour
)

// newLink returns the write that stores the ticket of a mail, and its address. The ticket has 130 random bits. Wrong
// codes and newer codes do not invalidate it; a new password does. For an address without an account, the ticket is of
// no user. The address is empty if the service does not know its own.
func (s *service) newLink(o codeOrder) (table.Write, string, error) {
	token := ticketMark + rand.Text()
	it, err := table.NewItem(s.ticketKey(token), o.ticket)
	it.Expires = s.Clock.Now().Add(linkTTL)
	if s.Settings.BaseURL == "" {
		return table.Put(it), "", err
	}
	return table.Put(it), s.Settings.BaseURL + linkPath + token, err
}

// LinkToken names the link of a mail by its secret token.
type LinkToken struct {
	Token string `path:"token" maxLength:"128" doc:"Of the link in a mail"`
}

type linkFormInput struct {
	LinkToken
	Kind    string `header:"Content-Type" hidden:"true"`
	RawBody []byte `contentType:"application/x-www-form-urlencoded"`
}

func registerLinks(g *rest.Group, s *service) {
	op := publicOp("getPasswordPage", http.MethodGet, linkPage, "Show the page that sets a new password")
	op.Description = "The link in the mails with codes opens it. Looking at it changes nothing. It works for two " +
		"hours, also after wrong or newer codes, until it is used or the password is changed; then it is 404. Its " +
		"token is also accepted as resetToken of PATCH /auth/password/reset."
	op.Produces, op.Statuses = htmlpage.ContentType, []int{http.StatusForbidden, http.StatusNotFound}
	rest.Handle(g, op, s.showPasswordPage)

	op = publicOp("setPasswordByPage", http.MethodPost, linkPage, "Set a new password by the link of a mail")
	op.Description = "The form of the page, with the member password. Every session of the user ends, and the " +
		"address counts as verified. 400: the password is not accepted, and the link works still."
	op.Produces, op.Statuses = htmlpage.ContentType, []int{http.StatusForbidden, http.StatusNotFound}
	op.Credentials = true
	rest.Handle(g, op, s.setPasswordByPage)
}

func (s *service) showPasswordPage(ctx context.Context, in *LinkToken) (rest.Raw, error) {
	if _, _, err := s.openLink(ctx, in.Token); err != nil {
		return answerLinkFailure(err)
	}
	return passwordPage("", http.StatusOK), nil
}

func (s *service) setPasswordByPage(ctx context.Context, in *linkFormInput) (rest.Raw, error) {
	u, use, err := s.openLink(ctx, in.Token)
	if err != nil {
		return answerLinkFailure(err)
	}
	password, err := readPasswordForm(in.Kind, in.RawBody)
	if err == nil {
		err = checkPassword(password, u.Email)
	}
	if err != nil {
		return passwordPage(strings.TrimPrefix(fault.Message(err), "password: "), http.StatusBadRequest), nil
	}
	if err = s.completeReset(withAuthPartitions(ctx), u, password, use); err != nil {
		return answerLinkFailure(err)
	}
	audit.NoteChange(ctx, audit.Change{Target: u.ID})
	return htmlpage.New("Your password is changed").
		AddParagraph("Every session has ended. Log in with the new password.").Answer(http.StatusOK), nil
}

// openLink returns the user of a link, and the write that uses it up.
func (s *service) openLink(ctx context.Context, token string) (identity.User, table.Write, error) {
	if err := s.takeRateLimit(ctx, codeTriesPerSource, requestSource(ctx)); err != nil {
		return identity.User{}, table.Write{}, err
	}
	return s.authorizeByTicket(withAuthPartitions(ctx), token)
}

// readPasswordForm returns the password of a submitted form.
func readPasswordForm(kind string, body []byte) (string, error) {
	form, err := url.ParseQuery(string(body))
	if !strings.HasPrefix(kind, "application/x-www-form-urlencoded") || err != nil || len(form["password"]) != 1 {
		return "", fault.NewWithCause(fault.Invalid, errors.Join(err), "the form was not complete: try again")
	}
	return form.Get("password"), nil
}

// passwordPage returns the page with the form, and with a note if there is one.
func passwordPage(note string, status int) rest.Raw {
	p := htmlpage.New("Set a new password")
	if note != "" {
		p.AddNote("This password was not accepted: " + note + ".")
	}
	p.AddParagraph("Choose a password of 12 to 128 characters. A few unrelated words make a good one. Every session " +
		"ends, and you log in with the new password.")
	return p.AddPasswordForm("New password", "Set the password", minPassword).Answer(status)
}

// answerLinkFailure returns the page of an error that the reader can do something about.
func answerLinkFailure(err error) (rest.Raw, error) {
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return htmlpage.New("This link does not work").AddParagraph("It was used, is older than two hours, or the " +
			"password was changed since. Ask for a new one where you log in.").Answer(http.StatusNotFound), nil
	case fault.Is(err, fault.Denied):
		return htmlpage.New("Too many requests").AddParagraph(
			"Too many requests came from your network. Try again in a quarter of an hour.").
			Answer(http.StatusForbidden), nil
	}
	return rest.Raw{}, err
}
