// Package archive stores data as objects outside the table: in S3, or on a laptop as files in a folder. People read
// archived items of the table with their own tools (docs/operations/archive.md). The service itself reads line items of
// bills again (Files).
package archive

import (
	"context"
	"io"
	"regexp"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// Store stores objects under names such as "org_1/2026-03/actions-0001.ndjson.gz". It is safe for concurrent use.
type Store interface {
	// Put stores the bytes that write writes under the name, and replaces an existing object. If write fails, nothing
	// is stored and its error is returned. An invalid name (CheckName) is fault.Internal.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Erase deletes all objects in the folder: those whose names start with its name and a slash. It is no error if
	// there are none.
	Erase(ctx context.Context, folder string) error
}

// Files is a Store whose objects the service reads again.
type Files interface {
	Store
	// Size returns the size of an object in bytes, or fault.NotFound if it does not exist.
	Size(ctx context.Context, name string) (int64, error)
	// ReadAt fills p with the bytes of an object at the offset off, or fails.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error
}

// Worker is the function that archives. If it is called with a Request, it erases archived objects.
const Worker = "archiver"

// LinkWorker is the function that makes the addresses of an Inbox and the links of an Outbox for API functions. Those
// functions link no client of the file store.
const LinkWorker = "links"

// Request asks the Worker to erase a folder.
type Request struct {
	Erase string `json:"erase,omitempty"`
}

var segment = regexp.MustCompile(`^[A-Za-z0-9_=-][A-Za-z0-9._=-]*$`)

// CheckName returns an error if name is not a valid name of an object or folder. No valid name leads out of its folder.
func CheckName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		if !segment.MatchString(part) {
			return fault.New(fault.Internal,
				"%q cannot be the name of an object in the archive: it is made of letters, digits, . _ = - "+
					"between slashes", name)
		}
	}
	return nil
}
