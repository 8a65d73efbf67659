// Package oauthlogin asks identity providers who somebody is: Google by OpenID Connect, GitHub by OAuth 2.0. What a provider
// says is checked here and nowhere else; what it is worth is for shared/people/accounts to decide.
package oauthlogin

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// The providers, as the paths of the interface name them.
const (
	Google = "google"
	GitHub = "github"
)

// Attempt is one sign-in on its way. Its parts are secrets of the one who began it: a state that nobody guesses, the nonce
// that the provider signs, and the verifier without which the code is of no use (RFC 7636).
type Attempt struct{ State, Nonce, Verifier string }

// Reply is what the browser brings back from a provider.
type Reply struct {
	Code   string
	Issuer string // who answered (RFC 9207); "" when it does not say
}

// Provider is an identity provider that the operator has registered us with.
type Provider interface {
	// URL is where to send the browser.
	URL(ctx context.Context, a Attempt) (string, error)
	// Claim exchanges the code for what the provider says of the person. fault.Unauthenticated when the provider does not
	// stand by the reply, or it is not the provider's; fault.Unavailable when it cannot be reached.
	Claim(ctx context.Context, a Attempt, r Reply) (accounts.Claim, error)
}

// Providers are those that there are. They remember what a provider publishes about itself, and nothing of people.
type Providers struct {
	google *openID
	github *gitHub
}

// New makes the providers that the settings of p configure.
func New(p *platform.Platform) Providers {
	return newProviders(p, newHTTPClient(http.DefaultTransport))
}

func newProviders(p *platform.Platform, c *http.Client) Providers {
	var out Providers
	s := p.Settings
	if s.Google.ID != "" {
		out.google = &openID{Client: s.Google, name: Google, callbackURL: callbackURL(s.BaseURL, Google),
			clock: p.Clock, http: c}
	}
	if s.GitHub.ID != "" {
		out.github = &gitHub{Client: s.GitHub, callbackURL: callbackURL(s.BaseURL, GitHub), http: c}
	}
	return out
}

// callbackURL returns where a provider sends the browser; it must be registered there, letter for letter.
func callbackURL(base, name string) string { return base + "/auth/" + name + "/callback" }

// Find returns a provider. fault.NotFound says whether there is none of the name at all, or none here.
func (p Providers) Find(name string) (Provider, error) {
	switch {
	case name == Google && p.google != nil:
		return p.google, nil
	case name == GitHub && p.github != nil:
		return p.github, nil
	case name == Google, name == GitHub:
		return nil, fault.New(fault.NotFound, "provider: sign-in at %s is not configured here; use e-mail and "+
			"password, POST /auth/login", name)
	}
	return nil, fault.New(fault.NotFound, "provider: %.40q is none; there are google and github", name)
}

// VerifyIDToken checks an ID token that a client got from Google itself. fault.Unauthenticated when it is not Google's, not for
// us, or too old; fault.Invalid when Google is not configured.
func (p Providers) VerifyIDToken(ctx context.Context, idToken string) (accounts.Claim, error) {
	if p.google == nil {
		return accounts.Claim{}, fault.New(fault.Invalid, "provider: google is not configured here; use email")
	}
	return p.google.verifyClientToken(ctx, idToken)
}
