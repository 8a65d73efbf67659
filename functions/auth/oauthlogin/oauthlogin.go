// Package oauthlogin asks identity providers for the identity of a person: Google by OpenID Connect, GitHub by OAuth
// 2.0. It verifies the providers' answers; shared/people/accounts decides how far they are trusted.
package oauthlogin

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// These are the names of the providers in the paths of the interface.
const (
	Google = "google"
	GitHub = "github"
)

// Attempt is a sign-in under way. Its parts are secrets of the person who began it: an unguessable state, the nonce
// that the provider signs, and the verifier that the code needs (RFC 7636).
type Attempt struct{ State, Nonce, Verifier string }

// Reply is the query of the browser that comes back from a provider.
type Reply struct {
	Code   string
	Issuer string // who answered (RFC 9207); "" when it does not say
}

// Provider is an identity provider at which the operator has registered this service.
type Provider interface {
	// URL returns the address for the browser.
	URL(ctx context.Context, a Attempt) (string, error)
	// Claim exchanges the code for the provider's claim about the person. The error is fault.Unauthenticated if the
	// provider does not confirm the reply, or the reply is not the provider's, and fault.Unavailable if it cannot be
	// reached.
	Claim(ctx context.Context, a Attempt, r Reply) (accounts.Claim, error)
}

// Providers are the configured providers. They cache the providers' published data, and no personal data.
type Providers struct {
	google *openID
	github *gitHub
}

// New returns the providers that the settings of p configure.
func New(p *platform.Platform) Providers {
	return newProviders(p, newHTTPClient(http.DefaultTransport))
}

func newProviders(p *platform.Platform, c *http.Client) Providers {
	var out Providers
	s := p.Settings
	if s.Google.ID != "" {
		out.google = &openID{
			Client: s.Google, name: Google, callbackURL: callbackURL(s.BaseURL, Google),
			clock: p.Clock, http: c,
		}
	}
	if s.GitHub.ID != "" {
		out.github = &gitHub{Client: s.GitHub, callbackURL: callbackURL(s.BaseURL, GitHub), http: c}
	}
	return out
}

// callbackURL returns the address that a provider sends the browser to. It must be registered there, letter for
// letter.
func callbackURL(base, name string) string { return base + "/auth/" + name + "/callback" }

// Find returns a provider. The error fault.NotFound says whether the name is unknown, or the provider is not
// configured.
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
	return nil, fault.New(fault.NotFound, "provider: %.40q is not supported; choose google or github", name)
}

// VerifyIDToken checks an ID token that a client has obtained from Google. The error is fault.Unauthenticated if it
// is not Google's, not for this service, or too old, and fault.Invalid if Google is not configured.
func (p Providers) VerifyIDToken(ctx context.Context, idToken string) (accounts.Claim, error) {
	if p.google == nil {
		return accounts.Claim{}, fault.New(fault.Invalid, "provider: google is not configured here; use email")
	}
	return p.google.verifyClientToken(ctx, idToken)
}
