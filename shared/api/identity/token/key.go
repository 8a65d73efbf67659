package token

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// SigningKey signs access tokens. Its private part may be in a key service.
type SigningKey interface {
	// Public returns the public part with KeyID, Algorithm (EdDSA or ES256) and Use.
	Public() jose.JSONWebKey
	// Sign returns the signature of data in the format of RFC 7515: for ES256 the 64 bytes r‖s.
	Sign(ctx context.Context, data []byte) ([]byte, error)
}

// Keyring holds the signing key and the accepted keys, which include the signing key.
type Keyring interface {
	Signing(ctx context.Context) (SigningKey, error)
	Accepted(ctx context.Context) (jose.JSONWebKeySet, error)
}

// PublicKey returns the description of a public key. Its ID is the key's thumbprint (RFC 7638), so it is the same
// everywhere.
func PublicKey(pub crypto.PublicKey, alg jose.SignatureAlgorithm) (jose.JSONWebKey, error) {
	k := jose.JSONWebKey{Key: pub, Algorithm: string(alg), Use: "sig"}
	sum, err := k.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, fmt.Errorf("fingerprint the %s key: %w", alg, err)
	}
	k.KeyID = base64.RawURLEncoding.EncodeToString(sum)
	return k, nil
}

// edKey is an Ed25519 key in memory.
type edKey struct {
	private ed25519.PrivateKey
	public  jose.JSONWebKey
}

func newEdKey(private ed25519.PrivateKey) (edKey, error) {
	pub, err := PublicKey(private.Public(), jose.EdDSA)
	return edKey{private, pub}, err
}

func (k edKey) Public() jose.JSONWebKey { return k.public }

func (k edKey) Sign(_ context.Context, data []byte) ([]byte, error) {
	return ed25519.Sign(k.private, data), nil
}
