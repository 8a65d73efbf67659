// Package oauthlogin signs users in at identity providers: Google with OpenID Connect, GitHub with OAuth 2.0. It
// verifies the statements of providers. shared/people/accounts decides about the account.
package oauthlogin

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// The providers, with their names in paths of the interface.
const (
	Google = "google"
	GitHub = "github"
)

// Attempt holds the secrets of one sign-in: the unguessable state, the nonce that the provider signs, and the verifier,
// which is needed to use the code (RFC 7636).
type Attempt struct{ State, Nonce, Verifier string }

// Reply is the provider's reply, which the browser delivers.
type Reply struct {
	Code   string
	Issuer string // the provider that replied (RFC 9207), or ""
}

// Provider is an identity provider where the operator has registered the service.
type Provider interface {
	// URL returns the address where to send the browser.
	URL(ctx context.Context, a Attempt) (string, error)
	// Claim exchanges the code for the provider's statement about the user. It returns fault.Unauthenticated if the
	// reply is not valid or not from the provider, and fault.Unavailable if the provider cannot be reached.
	Claim(ctx context.Context, a Attempt, r Reply) (accounts.Claim, error)
}

// Providers are the configured providers. They cache data about providers, but not about users.
type Providers struct {
	google *openID
	github *gitHub
}

// New returns the providers in the settings of p.
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

// callbackURL returns the address where a provider sends the browser. It must be registered there exactly.
func callbackURL(base, name string) string { return base + "/auth/" + name + "/callback" }

// Find returns a provider. It returns fault.NotFound for an unknown name, and for a provider that is not configured.
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
	return nil, fault.New(fault.NotFound, "provider: %.40q is not supported; use google or github", name)
}

// VerifyIDToken verifies an ID token that a client got from Google. It returns fault.Unauthenticated if the token is
// not from Google, not for this service, or expired, and fault.Invalid if Google is not configured.
func (p Providers) VerifyIDToken(ctx context.Context, idToken string) (accounts.Claim, error) {
	if p.google == nil {
		return accounts.Claim{}, fault.New(fault.Invalid, "provider: google is not configured here; use email")
	}
	return p.google.verifyClientToken(ctx, idToken)
}
