// Package consolesession keeps sessions of the web console in cookies, which no script of a page can read.
package consolesession

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/sessions"
)

// Header marks a request of the web console with the value "1". The refresh token of such a request is in a cookie
// instead of the body, so that no script can read it. Other sites cannot send the header: a browser would ask
// the API for permission first, and the API gives none.
const Header = "X-Lamplighter-Console"

// The names of the cookie with the refresh token. The prefix __Host- binds a cookie to one host, path / and TLS. On a
// loopback address without TLS the name has the port, because cookies do not: two services of a machine keep two.
const (
	consoleCookie  = "__Host-lamplighter"
	loopbackCookie = "lamplighter-"
)

// Cookies makes and reads the cookies of the console of a service.
type Cookies struct {
	baseURL string // it decides between the cookies for TLS and those for loopback
	key     []byte // of the hashes of state cookies
}

// New returns the cookies of a service with the settings.
func New(s platform.Settings) Cookies { return Cookies{s.BaseURL, s.CodeKey()} }

// IsFromConsole reports whether the request of ctx is one of the web console.
func IsFromConsole(ctx context.Context) bool { return rest.RequestHeader(ctx, Header) == "1" }

// CheckOwnOrigin returns fault.Denied unless the browser says that a page of the API's own origin sent the request of
// ctx. Browsers before 2023 send no Sec-Fetch-Site; of those the header Origin counts.
func (c Cookies) CheckOwnOrigin(ctx context.Context) error {
	switch rest.RequestHeader(ctx, "Sec-Fetch-Site") {
	case "same-origin":
		return nil
	case "":
		if origin := rest.RequestHeader(ctx, "Origin"); origin != "" && c.isOwnOrigin(ctx, origin) {
			return nil
		}
	}
	return fault.New(fault.Denied, "%s: only pages of the service's own origin sign in by a cookie; leave the header "+
		"out to get the refresh token in the body", Header)
}

// isOwnOrigin reports whether an Origin is that of the API: its scheme, with its configured host or the requested one.
func (c Cookies) isOwnOrigin(ctx context.Context, origin string) bool {
	base, err := url.Parse(c.baseURL)
	if err != nil {
		return false
	}
	prefix := base.Scheme + "://"
	return origin == prefix+base.Host || origin == prefix+rest.RequestHost(ctx)
}

// NewRefresh returns the cookie with a refresh token; "" ends it.
func (c Cookies) NewRefresh(ctx context.Context, token string) *http.Cookie {
	name, secure := c.refreshName(ctx)
	out := &http.Cookie{ // #nosec G124 -- Secure is false only on a loopback address without TLS
		Name: name, Value: token, Path: "/", MaxAge: int(sessions.IdleTTL.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		out.MaxAge = -1
	}
	return out
}

// refreshName returns the name of the cookie, and whether it is sent over TLS only. It is not only on a laptop:
// the service has an address with http on loopback, and the request came over loopback too.
func (c Cookies) refreshName(ctx context.Context) (name string, secure bool) {
	base, err := url.Parse(c.baseURL)
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

// RefreshToken returns the refresh token of the cookie, or "".
func (c Cookies) RefreshToken(ctx context.Context) string {
	name, _ := c.refreshName(ctx)
	return cookieValue(ctx, name)
}

// cookieValue returns the first value of a cookie, or "".
func cookieValue(ctx context.Context, name string) string {
	if all := rest.CookieValues(ctx, name); len(all) > 0 {
		return all[0]
	}
	return ""
}
