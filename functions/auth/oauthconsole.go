package auth

import (
	"context"
	"errors"
	"strings"

	"lamplighter.dev/functions/auth/oauthlogin"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/people/sessions"
)

// consoleState begins each state that the console asked for. It decides only how a failure is shown: whether a browser
// may enter is decided by the stored record and the cookie.
const consoleState = "console-"

// finishOAuth ends a sign-in: as JSON, or for the console with its cookie and a redirect. For the console a failure is
// a redirect too, because its reader is a person.
func (s *service) finishOAuth(ctx context.Context, in *completeOAuthInput) (rest.Browsed[sessions.LoggedIn], error) {
	var out rest.Browsed[sessions.LoggedIn]
	who, v, err := s.completeOAuth(ctx, in)
	switch {
	case err != nil && strings.HasPrefix(in.State, consoleState):
		out.Page = s.showOAuthFailure(err)
		return out, nil
	case err != nil:
		return out, err
	}
	s.rememberClient(ctx, who.User.ID)
	if v.Browser == "" {
		out.Data = who
		return out, nil
	}
	out.Page = s.cookies().Enter(ctx, who.RefreshToken)
	return out, nil
}

// showOAuthFailure returns the redirect to the sign-in of the console that tells of err.
func (s *service) showOAuthFailure(err error) *rest.Raw {
	if _, stale := errors.AsType[staleState](err); stale {
		return s.cookies().FailWith(consolesession.Expired, err)
	}
	return s.cookies().Fail(err)
}

// SignInWays are the ways to sign in besides e-mail and password.
type SignInWays struct {
	Providers    []string `json:"providers" doc:"The providers of GET /auth/{provider}/url that are configured" example:"google"`
	SingleSignOn bool     `json:"singleSignOn" doc:"Whether organizations can use their own identity providers here"`
}

func (s *service) listSignInWays(context.Context, *struct{}) (SignInWays, error) {
	out := SignInWays{Providers: []string{}, SingleSignOn: s.Settings.BaseURL != ""}
	for _, name := range []string{oauthlogin.Google, oauthlogin.GitHub} {
		if _, err := s.providers.Find(name); err == nil {
			out.Providers = append(out.Providers, name)
		}
	}
	return out, nil
}
