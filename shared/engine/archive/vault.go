package archive

import "context"

// Vault stores objects outside the table that are never changed and never deleted: in a bucket with Object Lock, or on
// a laptop in a folder. It is safe for concurrent use.
type Vault interface {
	// Add stores an object. If there is one with the name, it stays as it is, and the error is fault.Conflict.
	Add(ctx context.Context, name string, content []byte) error
	// Read returns an object as it was added first, or fault.NotFound.
	Read(ctx context.Context, name string) ([]byte, error)
	// Names returns the names of the objects in a folder, in order. The folder may be missing.
	Names(ctx context.Context, folder string) ([]string, error)
}
