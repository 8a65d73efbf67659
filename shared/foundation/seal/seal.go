// Package seal encrypts secrets at rest. A ciphertext is bound to its place: organization, kind and ID. It cannot be
// opened in another place.
package seal

import "context"

// Place is where a secret is stored. All three parts are bound into the ciphertext.
type Place struct{ Org, Kind, ID string }

// Sealer seals and opens secrets.
type Sealer interface {
	// Seal encrypts plain for the place.
	Seal(ctx context.Context, p Place, plain []byte) ([]byte, error)
	// Open decrypts a value that was sealed for the same place. All other values are errors of kind Internal.
	Open(ctx context.Context, p Place, sealed []byte) ([]byte, error)
}
