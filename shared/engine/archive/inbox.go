package archive

import (
	"context"
	"time"
)

// Inbox receives files that clients upload to prepared addresses. It is safe for concurrent use.
type Inbox interface {
	// Address returns the address where a client can upload exactly size bytes under the name with the HTTP method PUT,
	// without other credentials, until the given time. The client may upload again.
	Address(ctx context.Context, name string, size int64, until time.Time) (string, error)
	// Size returns the size of the file in bytes, or fault.NotFound if it was not uploaded yet.
	Size(ctx context.Context, name string) (int64, error)
	// ReadAt fills p with the bytes at the offset off, or fails.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error
	// Remove deletes the file, if it exists.
	Remove(ctx context.Context, name string) error
}
