// Package seal encrypts secrets at rest so that a ciphertext opens only in the place it was made for: organization, kind
// and id are bound into it, and a value moved elsewhere does not open.
package seal

import "context"

// Place is where a secret lives. All three parts are bound into the ciphertext.
type Place struct{ Org, Kind, ID string }

// Sealer seals and opens secrets.
type Sealer interface {
	// Seal encrypts plain for the place.
	Seal(ctx context.Context, p Place, plain []byte) ([]byte, error)
	// Open decrypts what was sealed for the same place; anything else is an error of kind Internal.
	Open(ctx context.Context, p Place, sealed []byte) ([]byte, error)
}
