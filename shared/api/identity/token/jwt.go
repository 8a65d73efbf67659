package token

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// TTL is the lifetime of an access token.
const TTL = 15 * time.Minute

const (
	audience   = "rest"   // tokens for other audiences are refused
	tokenType  = "at+jwt" // RFC 9068
	tokenBytes = 8 << 10
	leeway     = 30 * time.Second
	formVer    = 1
)

// algorithms are the only accepted algorithms, regardless of a token's header.
var algorithms = []jose.SignatureAlgorithm{jose.EdDSA, jose.ES256}

// JWTs signs and verifies access tokens as JSON Web Tokens (RFC 9068) with asymmetric keys.
type JWTs struct {
	keys   Keyring
	issuer string
	clock  clock.Clock
	seen   verifiedTokens
}

// NewJWTs returns JWTs for the issuer, which is the base address of the service.
func NewJWTs(keys Keyring, issuer string, c clock.Clock) *JWTs {
	return &JWTs{keys: keys, issuer: issuer, clock: c}
}

type claims struct {
	jwt.Claims
	Session string `json:"sid"`
	Org     string `json:"org,omitempty"`
	Version int    `json:"ver"`
}

type header struct {
	Alg string `json:"alg"`
	Kid string `json:"kid"`
	Typ string `json:"typ"`
}

// Sign returns the access token for c.
func (j *JWTs) Sign(ctx context.Context, c Claims) (string, error) {
	key, err := j.keys.Signing(ctx)
	if err != nil {
		return "", fmt.Errorf("sign token of %s: %w", c.User, err)
	}
	body, err := json.Marshal(j.newClaims(c))
	if err != nil {
		return "", fmt.Errorf("encode token of %s: %w", c.User, err)
	}
	signed, err := signCompact(ctx, key, tokenType, body)
	if err != nil {
		return "", fmt.Errorf("sign token of %s: %w", c.User, err)
	}
	return signed, nil
}

func (j *JWTs) newClaims(c Claims) claims {
	return claims{
		Claims: jwt.Claims{
			Issuer: j.issuer, Subject: c.User, Audience: jwt.Audience{audience}, ID: c.ID,
			IssuedAt: jwt.NewNumericDate(c.Issued), NotBefore: jwt.NewNumericDate(c.Issued),
			Expiry: jwt.NewNumericDate(c.Expires),
		},
		Session: c.Session, Org: c.Org, Version: formVer,
	}
}

// Verify verifies a token and returns its claims. It returns fault.Unauthenticated if the token has expired or was not
// signed by an accepted key.
func (j *JWTs) Verify(ctx context.Context, token string) (Claims, error) {
	set, err := j.keys.Accepted(ctx)
	if err != nil {
		return Claims{}, fmt.Errorf("read the keys of tokens: %w", err)
	}
	c, err := j.verifySignature(token, set)
	if err == nil {
		err = j.checkClaims(c)
	}
	if err != nil {
		return Claims{}, refuseToken(err)
	}
	return Claims{
		User: c.Subject, Org: c.Org, Session: c.Session, ID: c.ID,
		Issued: c.IssuedAt.Time().UTC(), Expires: c.Expiry.Time().UTC(),
	}, nil
}

// verifySignature returns the claims of a token. It checks the signature, unless it has checked it before.
func (j *JWTs) verifySignature(token string, set jose.JSONWebKeySet) (claims, error) {
	sum := sha256.Sum256([]byte(token))
	if c, ok := j.seen.get(sum, set); ok {
		return c, nil
	}
	var c claims
	t, err := parseToken(token)
	if err != nil {
		return c, err
	}
	key, err := pickKey(set, t.Headers[0], tokenType)
	if err != nil {
		return c, err
	}
	if err = t.Claims(key, &c); err != nil {
		return c, err
	}
	j.seen.put(sum, t.Headers[0].KeyID, c)
	return c, nil
}

// JWKS returns the set of public keys in the format of RFC 7517.
func (j *JWTs) JWKS(ctx context.Context) (json.RawMessage, error) {
	set, err := j.keys.Accepted(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the keys of tokens: %w", err)
	}
	b, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("encode the keys of tokens: %w", err)
	}
	return b, nil
}

// parseToken parses a token without verifying it. It checks every byte first, because go-jose skips newlines and
// ignores the last bits of a part, so that a token would have several spellings.
func parseToken(token string) (*jwt.JSONWebToken, error) {
	if len(token) > tokenBytes {
		return nil, errors.New("longer than 8 KiB")
	}
	for i := range len(token) {
		if !isTokenByte(token[i]) {
			return nil, fmt.Errorf("byte %q in it", token[i])
		}
	}
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, err
		}
	}
	t, err := jwt.ParseSigned(token, algorithms)
	if err != nil {
		return nil, err
	}
	if len(t.Headers) != 1 {
		return nil, errors.New("not one signature")
	}
	return t, nil
}

func isTokenByte(c byte) bool {
	return c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// pickKey returns the key of the set that the header of a document names, if the document has the wanted type. It never
// uses a key from the document or from an address in it.
func pickKey(set jose.JSONWebKeySet, h jose.Header, want string) (any, error) {
	if typ, _ := h.ExtraHeaders[jose.HeaderType].(string); typ != want {
		return nil, fmt.Errorf("type %q", typ)
	}
	if h.JSONWebKey != nil {
		return nil, errors.New("a key in its header")
	}
	for _, bad := range []jose.HeaderKey{"jku", "x5u", "x5c", "crit", "b64"} {
		if _, ok := h.ExtraHeaders[bad]; ok {
			return nil, fmt.Errorf("header %s", bad)
		}
	}
	keys := set.Key(h.KeyID)
	if len(keys) != 1 || keys[0].Algorithm != h.Algorithm {
		return nil, fmt.Errorf("no key %q of ours for %s", h.KeyID, h.Algorithm)
	}
	return keys[0].Key, nil
}

func (j *JWTs) checkClaims(c claims) error {
	if c.Expiry == nil || c.IssuedAt == nil || c.Subject == "" || c.ID == "" || c.Session == "" ||
		c.Version != formVer {
		return errors.New("a required claim is missing")
	}
	want := jwt.Expected{Issuer: j.issuer, AnyAudience: jwt.Audience{audience}, Time: j.clock.Now()}
	return c.ValidateWithLeeway(want, leeway)
}

func refuseToken(cause error) error {
	return fault.NewWithCause(fault.Unauthenticated, cause,
		"the access token is invalid or has expired: log in or refresh")
}

var _ Tokens = (*JWTs)(nil)
