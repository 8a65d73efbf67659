package consolesession

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

// StateTTL is how long a person may take at an identity provider.
const StateTTL = 10 * time.Minute

// stateSuffix makes the name of the cookie of a sign-in that is under way from the one of the refresh token.
const stateSuffix = "state"

// Site says from where the browser returns to the service.
type Site int

const (
	// ByLink is a return by a redirect, as from Google and GitHub.
	ByLink Site = iota
	// ByForm is a return by a form of another site, as from a SAML provider.
	ByForm
)

// Console is the value of the parameter for with which the console begins a sign-in.
const Console = "console"

// Bind sets the state cookie of a browser that begins a sign-in for the console, and returns the hash of its secret. It
// returns fault.Denied unless a page of the service's own origin asks, so no other site can begin a sign-in.
func (c Cookies) Bind(ctx context.Context, from Site) (hash string, err error) {
	if !IsFromConsole(ctx) {
		return "", fault.New(fault.Denied, "for: only the web console begins such a sign-in, with the header %s: 1; "+
			"leave for out to get JSON in the end", Header)
	}
	if err = c.CheckOwnOrigin(ctx); err != nil {
		return "", err
	}
	secret := rand.Text()
	rest.SetCookie(ctx, c.newState(ctx, secret, from))
	return c.hash(secret), nil
}

// IsBound reports whether the request comes from the browser for which Bind returned the hash. Then it ends the cookie.
func (c Cookies) IsBound(ctx context.Context, hash string) bool {
	if hash == "" || c.BoundHash(ctx) != hash {
		return false
	}
	rest.SetCookie(ctx, c.newState(ctx, "", ByLink))
	return true
}

// BoundHash returns the hash of the secret in the state cookie of the request, or "" without a cookie.
func (c Cookies) BoundHash(ctx context.Context) string {
	name, _ := c.stateName(ctx)
	secret := cookieValue(ctx, name)
	if secret == "" {
		return ""
	}
	return c.hash(secret)
}

func (c Cookies) hash(secret string) string { return identity.Digest(c.key, "signin-browser", secret) }

// newState returns the cookie that binds a sign-in to the browser that began it; secret "" ends it. Its SameSite is
// None for ByForm, because browsers send no other cookie with a form of another site. A browser takes None only with
// Secure, so on loopback without TLS it is Lax, and the person confirms the sign-in on a page of the service.
func (c Cookies) newState(ctx context.Context, secret string, from Site) *http.Cookie {
	name, secure := c.stateName(ctx)
	out := &http.Cookie{ // #nosec G124 -- Secure is false only on a loopback address without TLS
		Name: name, Value: secret, Path: "/", MaxAge: int(StateTTL.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
	if from == ByForm && secure {
		out.SameSite = http.SameSiteNoneMode
	}
	if secret == "" {
		out.MaxAge = -1
	}
	return out
}

func (c Cookies) stateName(ctx context.Context) (name string, secure bool) {
	name, secure = c.refreshName(ctx)
	if secure {
		return name + "-" + stateSuffix, true
	}
	return loopbackCookie + stateSuffix + "-" + strings.TrimPrefix(name, loopbackCookie), false
}

// Problem is the reason that the console shows for a failed sign-in. It is a word of a fixed list, so that an address
// cannot put text of a stranger into the page.
type Problem string

// The problems that functions/console/static/signin.js knows.
const (
	Expired     Problem = "expired"     // too late, used, or begun in another browser
	Refused     Problem = "refused"     // the provider does not vouch for the person
	Denied      Problem = "denied"      // the service does not admit the person
	Unavailable Problem = "unavailable" // a fault that may pass
)

// problemOf returns the problem of an error.
func problemOf(err error) Problem {
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return Refused
	case fault.Is(err, fault.Denied):
		return Denied
	}
	return Unavailable
}

// Enter returns the answer that sends a browser to the console with a new session, and sets its cookie.
func (c Cookies) Enter(ctx context.Context, refreshToken string) *rest.Raw {
	rest.SetCookie(ctx, c.NewRefresh(ctx, refreshToken))
	return c.redirect("")
}

// Fail returns the answer that sends a browser to the sign-in of the console, which tells of err.
func (c Cookies) Fail(err error) *rest.Raw { return c.FailWith(problemOf(err), err) }

// FailWith is Fail with the problem that the console shows.
func (c Cookies) FailWith(p Problem, err error) *rest.Raw {
	out := c.redirect("?signin=" + string(p))
	out.Failure = err
	return out
}

// redirect returns a redirect to the console. Its Location has no host, so that it leads to the host that the browser
// has asked, and it never has a part of the request.
func (c Cookies) redirect(query string) *rest.Raw {
	prefix := ""
	if base, err := url.Parse(c.baseURL); err == nil {
		prefix = strings.TrimSuffix(base.EscapedPath(), "/")
	}
	return &rest.Raw{Status: http.StatusSeeOther, Header: http.Header{
		"Location": {prefix + "/console/" + query}, "Referrer-Policy": {"no-referrer"},
	}}
}
