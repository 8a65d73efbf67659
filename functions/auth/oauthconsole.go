package auth

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/people/sessions"
)

// forConsole is the value of the parameter for with which the web console begins a sign-in.
const forConsole = "console"

// consoleState begins each state that the console asked for. It decides only how a failure is shown: whether a browser
// may enter is decided by the stored record and the cookie.
const consoleState = "console-"

// bindToBrowser sets the state cookie of a browser that signs in to the console. It returns the state, marked as one of
// the console, and the hash of the cookie's secret. A page of another origin cannot begin such a sign-in.
func (s *service) bindToBrowser(ctx context.Context, state string) (marked, browser string, err error) {
	if !consolesession.IsFromConsole(ctx) {
		return "", "", fault.New(fault.Denied, "for=console: only the web console begins such a sign-in, with the "+
			"header %s: 1; leave it out to get JSON from the callback", consolesession.Header)
	}
	if err = s.cookies().CheckOwnOrigin(ctx); err != nil {
		return "", "", err
	}
	secret := rand.Text()
	rest.SetCookie(ctx, s.cookies().NewState(ctx, secret, consolesession.ByLink))
	return consoleState + state, s.browserHash(secret), nil
}

// browserHash returns the hash of the secret in a state cookie.
func (s *service) browserHash(secret string) string {
	return identity.Digest(s.Settings.CodeKey(), "signin-browser", secret)
}

// checkBrowser returns an error if a sign-in for the console comes back in a browser that did not begin it: somebody
// was sent the address of a stranger's sign-in, or has a stolen one. The cookie has served its purpose in any case.
func (s *service) checkBrowser(ctx context.Context, provider string, v oauthLogin) error {
	if v.Browser == "" {
		return nil
	}
	if s.browserHash(s.cookies().StateSecret(ctx)) != v.Browser {
		return errState(provider)
	}
	rest.SetCookie(ctx, s.cookies().NewState(ctx, "", consolesession.ByLink))
	return nil
}

// finishOAuth ends a sign-in: as JSON, or for the console with its cookie and a redirect. For the console a failure is a
// redirect too, because its reader is a person.
func (s *service) finishOAuth(ctx context.Context, in *completeOAuthInput) (rest.Browsed[sessions.LoggedIn], error) {
	out, v, err := s.completeOAuth(ctx, in)
	switch {
	case err != nil && strings.HasPrefix(in.State, consoleState):
		return rest.Browsed[sessions.LoggedIn]{Page: s.showOAuthFailure(err), Failure: err}, nil
	case err != nil:
		return rest.Browsed[sessions.LoggedIn]{}, err
	}
	s.rememberClient(ctx, out.User.ID)
	if v.Browser == "" {
		return rest.Browsed[sessions.LoggedIn]{Data: out}, nil
	}
	return rest.Browsed[sessions.LoggedIn]{Page: s.cookies().Enter(ctx, out.RefreshToken)}, nil
}

// showOAuthFailure returns the redirect to the sign-in of the console that tells of err.
func (s *service) showOAuthFailure(err error) *rest.Raw {
	if _, stale := errors.AsType[staleState](err); stale {
		return s.cookies().FailWith(consolesession.Expired)
	}
	return s.cookies().Fail(err)
}
