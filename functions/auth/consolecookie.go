package auth

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
)

// consoleHeader marks a request of the web console with the value "1". The refresh token of such a request is in a
// cookie instead of the body, so that no script can read it. Other sites cannot send the header: a browser would ask
// the API for permission first, and the API gives none.
const consoleHeader = "X-Lamplighter-Console"

// The names of the cookie with the refresh token. The prefix __Host- binds a cookie to one host, path / and TLS. On a
// loopback address without TLS the name has the port, because cookies do not: two services of a machine keep two.
const (
	consoleCookie  = "__Host-lamplighter"
	loopbackCookie = "lamplighter-"
)

// isFromConsole reports whether the request of ctx is one of the web console.
func isFromConsole(ctx context.Context) bool { return rest.RequestHeader(ctx, consoleHeader) == "1" }

// checkOwnOrigin returns fault.Denied unless the browser says that a page of the API's own origin sent the request of
// ctx. Browsers before 2023 send no Sec-Fetch-Site; of those the header Origin counts.
func (s *service) checkOwnOrigin(ctx context.Context) error {
	switch rest.RequestHeader(ctx, "Sec-Fetch-Site") {
	case "same-origin":
		return nil
	case "":
		if origin := rest.RequestHeader(ctx, "Origin"); origin != "" && s.isOwnOrigin(ctx, origin) {
			return nil
		}
	}
	return fault.New(fault.Denied, "%s: only pages of the service's own origin sign in by a cookie; leave the header "+
		"out to get the refresh token in the body", consoleHeader)
}

// isOwnOrigin reports whether an Origin is that of the API: its scheme, with its configured host or the requested one.
func (s *service) isOwnOrigin(ctx context.Context, origin string) bool {
	base, err := url.Parse(s.Settings.BaseURL)
	if err != nil {
		return false
	}
	prefix := base.Scheme + "://"
	return origin == prefix+base.Host || origin == prefix+rest.RequestHost(ctx)
}

// newConsoleCookie returns the cookie with a refresh token; "" ends it.
func (s *service) newConsoleCookie(ctx context.Context, token string) *http.Cookie {
	name, secure := s.consoleCookieName(ctx)
	c := &http.Cookie{ // #nosec G124 -- Secure is false only on a loopback address without TLS
		Name: name, Value: token, Path: "/", MaxAge: int(sessions.IdleTTL.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		c.MaxAge = -1
	}
	return c
}

// consoleCookieName returns the name of the cookie, and whether it is sent over TLS only. It is not only on a laptop:
// the service has an address with http on loopback, and the request came over loopback too.
func (s *service) consoleCookieName(ctx context.Context) (name string, secure bool) {
	base, err := url.Parse(s.Settings.BaseURL)
	if err != nil || base.Scheme != "http" || !isLoopback(base.Hostname()) || !isLoopback(rest.SourceIP(ctx)) {
		return consoleCookie, true
	}
	return loopbackCookie + base.Port(), false
}

// isLoopback reports whether host is an address of this machine alone.
func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// inCookie returns a handler that runs h, which begins a session. For the console it moves the refresh token from the
// body into the cookie.
func inCookie[I any](s *service, h func(context.Context, *I) (sessions.LoggedIn, error)) func(context.Context, *I) (
	sessions.LoggedIn, error,
) {
	return func(ctx context.Context, in *I) (sessions.LoggedIn, error) {
		if !isFromConsole(ctx) {
			return h(ctx, in)
		}
		if err := s.checkOwnOrigin(ctx); err != nil {
			return sessions.LoggedIn{}, err
		}
		out, err := h(ctx, in)
		if err == nil && out.RefreshToken != "" {
			rest.SetCookie(ctx, s.newConsoleCookie(ctx, out.RefreshToken))
			out.RefreshToken = ""
		}
		return out, err
	}
}

// refreshTokenOf returns the refresh token of a request: that of the cookie for the console, else that of the body. A
// console without a cookie is not signed in, which is no error.
func (s *service) refreshTokenOf(ctx context.Context, in *refreshInput) (token string, signedIn bool, err error) {
	if !isFromConsole(ctx) {
		if in.Body.RefreshToken == nil {
			return "", false, fault.New(fault.Invalid,
				"refreshToken: it is required; send the newest one of the session")
		}
		return *in.Body.RefreshToken, true, nil
	}
	name, _ := s.consoleCookieName(ctx)
	if all := rest.CookieValues(ctx, name); len(all) > 0 && all[0] != "" {
		return all[0], true, nil
	}
	return "", false, nil
}

// endCookie ends the cookie of the console, if the request is one of the console.
func (s *service) endCookie(ctx context.Context) {
	if isFromConsole(ctx) {
		rest.SetCookie(ctx, s.newConsoleCookie(ctx, ""))
	}
}
