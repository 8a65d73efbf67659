package oauthlogin

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/accounts"
)

const (
	maxToken   = 16 << 10
	maxSubject = 255 // OpenID Connect Core section 2
	leeway     = 5 * time.Minute
)

// algorithms are the only accepted ones, independent of a token's header and of the provider's discovery.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.ES256, jose.EdDSA, jose.PS256}

// signingKeys are the provider's keys for signatures.
type signingKeys struct{ jose.JSONWebKeySet }

// idTokenClaims are the claims of an ID token.
type idTokenClaims struct {
	Subject       string `json:"sub"`
	Nonce         string `json:"nonce"`
	Party         string `json:"azp"`
	Email         string `json:"email"`
	EmailVerified any    `json:"email_verified"` // some providers write a text; that is not true
	Domain        string `json:"hd"`             // Google: the Workspace domain whose administrator manages the account
	Name          string `json:"name"`
}

// refuseIDToken returns the same error for every invalid ID token; err is only logged.
func refuseIDToken(err error) error {
	return fault.NewWithCause(fault.Unauthenticated, err, "the ID token is not valid: sign in again")
}

// verifyIDToken checks an ID token by OpenID Connect Core section 3.1.3.7.
func (o *openID) verifyIDToken(ctx context.Context, raw string) (idTokenClaims, error) {
	var s idTokenClaims
	if len(raw) > maxToken {
		return s, refuseIDToken(errors.New("it is too long"))
	}
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil || len(jws.Signatures) != 1 {
		return s, refuseIDToken(errors.Join(err, errors.New("it is no token that is signed once, by an accepted "+
			"algorithm")))
	}
	set, err := o.findKeys(ctx, jws.Signatures[0].Header.KeyID)
	if err != nil {
		return s, err
	}
	t, err := oidc.NewVerifier(o.Issuer, set, &oidc.Config{
		ClientID: o.ID, SupportedSigningAlgs: algorithmNames(algorithms), Now: o.clock.Now,
	}).Verify(ctx, raw)
	if err != nil {
		return s, refuseIDToken(err)
	}
	if err = t.Claims(&s); err == nil {
		err = o.checkClaims(t, s)
	}
	if err != nil {
		return idTokenClaims{}, refuseIDToken(err)
	}
	return s, nil
}

// checkClaims makes the checks that go-oidc leaves to its caller.
func (o *openID) checkClaims(t *oidc.IDToken, s idTokenClaims) error {
	switch {
	case s.Subject == "" || len(s.Subject) > maxSubject:
		return errors.New("it has no subject")
	case s.Party != "" && s.Party != o.ID:
		return errors.New("it was issued to another client")
	case s.Party == "" && len(t.Audience) > 1:
		return errors.New("it has several audiences and no authorized party")
	case t.IssuedAt.After(o.clock.Now().Add(leeway)):
		return errors.New("it was issued in the future")
	}
	return nil
}

// newClaim converts the claims of an ID token. Google runs the mailboxes of gmail.com and of the domains in hd. For
// other addresses it asked a person to click once, and the mailbox may have a new owner since.
func (o *openID) newClaim(s idTokenClaims) accounts.Claim {
	c := accounts.Claim{Issuer: o.Issuer, Subject: s.Subject, Name: s.Name}
	if s.EmailVerified != true {
		return c
	}
	c.Email = s.Email
	_, domain, _ := strings.Cut(strings.ToLower(s.Email), "@")
	c.Authoritative = domain != "" && (domain == "gmail.com" || domain == strings.ToLower(s.Domain))
	return c
}

// findKeys returns the provider's keys. An unknown key may be new: the keys are then read again, but not for every
// made-up token.
func (o *openID) findKeys(ctx context.Context, kid string) (signingKeys, error) {
	a, err := o.cachedDiscovery(ctx)
	if err != nil {
		return signingKeys{}, err
	}
	read := func(ctx context.Context) (signingKeys, error) {
		var k signingKeys
		return k, fetchJSON(ctx, o.http, a.Keys, nil, &k)
	}
	set, err := o.keys.get(ctx, o.clock.Now(), read)
	if err != nil {
		return set, errUnreachable(o.name, err)
	}
	if kid != "" && len(set.Key(kid)) == 0 {
		set = o.keys.renew(ctx, o.clock.Now(), read)
	}
	return set, nil
}

// VerifySignature tries the keys that a token may be signed with.
func (k signingKeys) VerifySignature(_ context.Context, raw string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(raw, algorithms)
	if err != nil {
		return nil, err
	}
	head := jws.Signatures[0].Header
	for i := range k.Keys {
		key := &k.Keys[i]
		if head.KeyID != "" && key.KeyID != head.KeyID || key.Algorithm != "" && key.Algorithm != head.Algorithm ||
			key.Use != "" && key.Use != "sig" {
			continue
		}
		if payload, err := jws.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("no key of the provider made its signature")
}

func algorithmNames(algorithms []jose.SignatureAlgorithm) []string {
	out := make([]string, len(algorithms))
	for i, a := range algorithms {
		out[i] = string(a)
	}
	return out
}
