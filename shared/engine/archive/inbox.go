package archive

import (
	"context"
	"time"
)

// Inbox takes files that clients put at addresses which are made for them. It is safe for use by many goroutines.
type Inbox interface {
	// Address returns where exactly size bytes can be put under the name, once or again, with the HTTP method PUT and no further
	// credentials, until the time given.
	Address(ctx context.Context, name string, size int64, until time.Time) (string, error)
	// Size tells how long the file is; fault.NotFound while it is not there.
	Size(ctx context.Context, name string) (int64, error)
	// ReadAt fills p with what is at off, or fails.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error
	// Remove deletes the file, if it is there.
	Remove(ctx context.Context, name string) error
}
