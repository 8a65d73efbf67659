// Package token signs and verifies access tokens, and keeps the keys that do: in a file on a laptop, in KMS in AWS. What a
// token says is all that the authorizer believes of a request before it has read anything else.
package token

import (
	"context"
	"encoding/json"
	"time"
)

// Claims is what an access token says: who, in which organization, in which session, until when.
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
	// Sign makes the access token of c.
	Sign(ctx context.Context, c Claims) (string, error)
	// Verify reads a token that was signed by a key of ours and has not ended; else fault.Unauthenticated.
	Verify(ctx context.Context, token string) (Claims, error)
	// JWKS is the set of public keys, as RFC 7517 writes it.
	JWKS(ctx context.Context) (json.RawMessage, error)
}
