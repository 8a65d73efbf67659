package auth

import (
	"context"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/consolesession"
	"lamplighter.dev/shared/people/sessions"
)

// cookies returns the cookies of the web console of this service.
func (s *service) cookies() consolesession.Cookies {
	return consolesession.New(s.Settings)
}

// inCookie returns a handler that runs h, which begins a session. For the console it moves the refresh token from the
// body into the cookie.
func inCookie[I any](s *service, h func(context.Context, *I) (sessions.LoggedIn, error)) func(context.Context, *I) (
	sessions.LoggedIn, error,
) {
	return func(ctx context.Context, in *I) (sessions.LoggedIn, error) {
		if !consolesession.IsFromConsole(ctx) {
			return h(ctx, in)
		}
		if err := s.cookies().CheckOwnOrigin(ctx); err != nil {
			return sessions.LoggedIn{}, err
		}
		out, err := h(ctx, in)
		if err == nil && out.RefreshToken != "" {
			rest.SetCookie(ctx, s.cookies().NewRefresh(ctx, out.RefreshToken))
			out.RefreshToken = ""
		}
		return out, err
	}
}

// refreshTokenOf returns the refresh token of a request: that of the cookie for the console, else that of the body. A
// console without a cookie is not signed in, which is no error.
func (s *service) refreshTokenOf(ctx context.Context, in *refreshInput) (token string, signedIn bool, err error) {
	if !consolesession.IsFromConsole(ctx) {
		if in.Body.RefreshToken == nil {
			return "", false, fault.New(fault.Invalid,
				"refreshToken: it is required; send the newest one of the session")
		}
		return *in.Body.RefreshToken, true, nil
	}
	token = s.cookies().RefreshToken(ctx)
	return token, token != "", nil
}

// endCookie ends the cookie of the console, if the request is one of the console.
func (s *service) endCookie(ctx context.Context) {
	if consolesession.IsFromConsole(ctx) {
		rest.SetCookie(ctx, s.cookies().NewRefresh(ctx, ""))
	}
}
