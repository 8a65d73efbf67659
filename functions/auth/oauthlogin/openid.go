package oauthlogin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

// openID is a provider of OpenID Connect, found by the discovery of its issuer.
type openID struct {
	platform.Client
	name        string
	callbackURL string
	clock       clock.Clock
	http        *http.Client
	discovery   cached[discovery]
	keys        cached[signingKeys]
}

// discovery is the published configuration of an issuer.
type discovery struct {
	Endpoint oauth2.Endpoint `json:"-"`
	Keys     string          `json:"jwks_uri"`
	Methods  []string        `json:"token_endpoint_auth_methods_supported"`
	Names    bool            `json:"authorization_response_iss_parameter_supported"` // itself, in every reply
}

// readDiscovery reads the published configuration of the issuer.
func (o *openID) readDiscovery(ctx context.Context) (discovery, error) {
	var a discovery
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, o.http), o.Issuer)
	if err != nil {
		return a, fmt.Errorf("discover %s: %w", o.Issuer, err)
	}
	if err = p.Claims(&a); err != nil {
		return a, fmt.Errorf("discover %s: %w", o.Issuer, err)
	}
	a.Endpoint = p.Endpoint()
	for _, address := range []string{a.Endpoint.AuthURL, a.Endpoint.TokenURL, a.Keys} {
		if !isAsProtected(address, o.Issuer) {
			return a, fmt.Errorf("discover %s: it names the address %.80q", o.Issuer, address)
		}
	}
	// Set explicitly: detecting it by a try would use up the code.
	a.Endpoint.AuthStyle = oauth2.AuthStyleInHeader
	if len(a.Methods) > 0 && !slices.Contains(a.Methods, "client_secret_basic") {
		a.Endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return a, nil
}

func (o *openID) cachedDiscovery(ctx context.Context) (discovery, error) {
	a, err := o.discovery.get(ctx, o.clock.Now(), o.readDiscovery)
	if err != nil {
		return a, errUnreachable(o.name, err)
	}
	return a, nil
}

func (o *openID) oauthConfig(a discovery) *oauth2.Config {
	return &oauth2.Config{
		ClientID: o.ID, ClientSecret: o.Secret, Endpoint: a.Endpoint, RedirectURL: o.callbackURL,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}
}

// URL returns the address for the browser.
func (o *openID) URL(ctx context.Context, at Attempt) (string, error) {
	a, err := o.cachedDiscovery(ctx)
	if err != nil {
		return "", err
	}
	return o.oauthConfig(a).AuthCodeURL(at.State, oidc.Nonce(at.Nonce), oauth2.S256ChallengeOption(at.Verifier)), nil
}

// Claim exchanges the code.
func (o *openID) Claim(ctx context.Context, at Attempt, r Reply) (accounts.Claim, error) {
	a, err := o.cachedDiscovery(ctx)
	if err != nil {
		return accounts.Claim{}, err
	}
	if r.Issuer != o.Issuer && (r.Issuer != "" || a.Names) {
		return accounts.Claim{}, fault.New(fault.Unauthenticated, "iss: the reply is not one of %s", o.name)
	}
	t, err := tokenEndpoint{o.name, o.http, o.oauthConfig(a)}.exchangeCode(ctx, r.Code, at.Verifier)
	if err != nil {
		return accounts.Claim{}, err
	}
	raw, _ := t.Extra("id_token").(string)
	said, err := o.verifyIDToken(ctx, raw)
	if err == nil && said.Nonce != at.Nonce {
		err = refuseIDToken(errors.New("its nonce is not the one of this sign-in"))
	}
	if err != nil {
		return accounts.Claim{}, err
	}
	return o.newClaim(said), nil
}

// verifyClientToken checks an ID token that did not come from the token endpoint. It has no nonce to compare.
func (o *openID) verifyClientToken(ctx context.Context, raw string) (accounts.Claim, error) {
	said, err := o.verifyIDToken(ctx, raw)
	if err != nil {
		return accounts.Claim{}, err
	}
	return o.newClaim(said), nil
}
