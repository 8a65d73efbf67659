package sso

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/htmlpage"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/consolesession"
)

// continuePath is where the button of the page posts to that continues a sign-in. The page has the path acsPath, so
// continueAction leads there also below the stage of an API.
const (
	continuePath   = "/auth/saml/continue"
	continueAction = "continue"
)

// consoleRequest begins the ID of each request that the web console asked for. It decides only how a failure is shown:
// whether a browser may enter is decided by the stored request and the cookie.
const consoleRequest = "_console"

func isConsoleRequest(id string) bool { return strings.HasPrefix(id, consoleRequest) }

// continueTTL is how long the page that continues a sign-in may stay open.
const continueTTL = 5 * time.Minute

// confirmation is a sign-in that waits for the button of that page. It is found by the state cookie alone, so the page
// has no secret, and only the browser that began can continue.
type confirmation struct {
	Org     string       `json:"org"`
	Subject saml.Subject `json:"subject"`
}

func (s service) confirmationKey(browser string) table.Key {
	return table.Key{PK: requestPrefix + identity.Digest(s.Settings.CodeKey(), "saml-continue", browser), SK: "C"}
}

func (s service) cookies() consolesession.Cookies { return consolesession.New(s.Settings) }

// enterConsole begins a session for the console, if the browser shows the state cookie of the request. Browsers that
// send no cookies with a form of another site get a page with a button; the request of our own page has the cookie.
func (s service) enterConsole(ctx context.Context, v verified) (*rest.Raw, error) {
	switch s.cookies().BoundHash(ctx) {
	case v.Browser:
		s.cookies().IsBound(ctx, v.Browser)
		return s.enter(ctx, v)
	case "":
		return s.askToContinue(ctx, v)
	}
	return nil, refuseUnknownRequest() // this browser has begun another sign-in, or a stranger this one
}

// enter begins the session of the console.
func (s service) enter(ctx context.Context, v verified) (*rest.Raw, error) {
	in, err := s.beginSession(ctx, v)
	if err != nil {
		return nil, err
	}
	return s.cookies().Enter(ctx, in.RefreshToken), nil
}

// askToContinue stores a sign-in until the person continues it, and returns the page with the button.
func (s service) askToContinue(ctx context.Context, v verified) (*rest.Raw, error) {
	if err := checkEmailDomain(v.setup, v.subject.Email); err != nil {
		return nil, err
	}
	it, err := table.NewItem(s.confirmationKey(v.Browser), confirmation{v.Org, v.subject})
	if err != nil {
		return nil, err
	}
	it.Expires = s.Clock.Now().Add(continueTTL)
	if _, err = s.Table.Write(table.Within(ctx, requestPrefix), table.Put(it)); err != nil {
		return nil, fault.Wrap("store a sign-in of "+v.Org+" until it continues", err)
	}
	page := htmlpage.New("Continue as "+v.subject.Email+"?").
		AddParagraph("Your identity provider has signed you in. If you did not begin this, close the page.").
		AddButtonTo(continueAction, "Continue").Answer(http.StatusOK)
	page.Header.Set("Content-Type", htmlpage.ContentType)
	page.Header.Set("Referrer-Policy", "same-origin") // else browsers send the button's request with Origin: null
	return &page, nil
}

// continueLogin begins the session of a person who has pressed the button.
func (s service) continueLogin(ctx context.Context, _ *struct{}) (rest.Raw, error) {
	if err := s.cookies().CheckOwnOrigin(ctx); err != nil {
		return rest.Raw{}, err
	}
	v, err := s.useConfirmation(ctx)
	if err == nil {
		var page *rest.Raw
		if page, err = s.enter(ctx, v); err == nil {
			return *page, nil
		}
	}
	return *s.showFailure(err), nil
}

// useConfirmation returns the sign-in that waits for the browser of the request, and ends it, so that it is used once.
func (s service) useConfirmation(ctx context.Context) (verified, error) {
	browser := s.cookies().BoundHash(ctx)
	if !s.cookies().IsBound(ctx, browser) {
		return verified{}, refuseUnknownRequest()
	}
	ctx, k := table.Within(ctx, requestPrefix), s.confirmationKey(browser)
	c, err := table.Read[confirmation](ctx, s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return verified{}, refuseUnknownRequest()
	}
	if err != nil {
		return verified{}, fault.Wrap("read a sign-in that waits", err)
	}
	_, err = s.Table.Write(ctx, table.Delete(k, table.Exists()))
	if _, again := errors.AsType[*table.ConditionError](err); again {
		return verified{}, refuseUnknownRequest()
	}
	if err != nil {
		return verified{}, fault.Wrap("end a sign-in that waits", err)
	}
	audit.NoteActor(ctx, c.Org, "", c.Subject.Email)
	have, err := s.readOpenSetup(ctx, c.Org)
	return verified{request{Org: c.Org}, have, c.Subject}, err
}

// showFailure returns the redirect to the sign-in of the console that tells of err.
func (s service) showFailure(err error) *rest.Raw {
	if _, stale := errors.AsType[staleRequest](err); stale {
		return s.cookies().FailWith(consolesession.Expired, err)
	}
	return s.cookies().Fail(err)
}
