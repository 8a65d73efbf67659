package consolesession

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

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

// NewState returns the cookie that binds a sign-in to the browser that began it; secret "" ends it. Its SameSite is
// None for ByForm, because browsers send no other cookie with a form of another site. A browser takes None only with
// Secure, so on loopback without TLS it is Lax, and the person confirms the sign-in on a page of the service.
func (c Cookies) NewState(ctx context.Context, secret string, from Site) *http.Cookie {
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

// StateSecret returns the secret of the cookie of NewState, or "".
func (c Cookies) StateSecret(ctx context.Context) string {
	name, _ := c.stateName(ctx)
	return cookieValue(ctx, name)
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
func (c Cookies) Fail(err error) *rest.Raw { return c.FailWith(problemOf(err)) }

// FailWith returns the answer that sends a browser to the sign-in of the console with a problem.
func (c Cookies) FailWith(p Problem) *rest.Raw { return c.redirect("?signin=" + string(p)) }

// redirect returns a redirect to the console. Its Location has no host, so that it leads to the host that the browser
// has asked, and it never has a part of the request.
func (c Cookies) redirect(query string) *rest.Raw {
	prefix := ""
	if base, err := url.Parse(c.BaseURL); err == nil {
		prefix = strings.TrimSuffix(base.EscapedPath(), "/")
	}
	return &rest.Raw{Status: http.StatusSeeOther, Header: http.Header{
		"Location": {prefix + "/console/" + query}, "Referrer-Policy": {"no-referrer"},
	}}
}
