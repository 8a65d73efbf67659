// Package token signs and verifies access tokens, and manages their keys: in a file on a laptop, in KMS in AWS. The
// claims of a token are the only part of a request that the authorizer trusts before it has read the store.
package token

import (
	"context"
	"encoding/json"
	"time"
)

// Claims are the claims of an access token: user, organization, session and times.
type Claims struct {
	User    string
	Org     string
	Session string
	ID      string // jti
	Issued  time.Time
	Expires time.Time
}

// Tokens signs and verifies access tokens.
type Tokens interface {
	// Sign returns the access token for c.
	Sign(ctx context.Context, c Claims) (string, error)
	// Verify verifies a token and returns its claims. It returns fault.Unauthenticated if the token has expired or was
	// not signed by an accepted key.
	Verify(ctx context.Context, token string) (Claims, error)
	// JWKS returns the set of public keys in the format of RFC 7517.
	JWKS(ctx context.Context) (json.RawMessage, error)
}
