// Package archive keeps what is not for the table, as objects: in S3, or on a laptop as files in a folder. What the table lets expire is read
// by people alone, with the tools of their choice (docs/operations/archive.md); line items of bills are read again (Files).
package archive

import (
	"context"
	"io"
	"regexp"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

// Store keeps objects under names like "org_1/2026-03/actions-0001.ndjson.gz". It is safe for use by many goroutines.
type Store interface {
	// Put keeps what write writes under the name, in the place of what was there. When write fails nothing is kept, and its
	// error is returned. A name that is none (CheckName) is fault.Internal.
	Put(ctx context.Context, name string, write func(io.Writer) error) error
	// Erase deletes all objects under the folder: those whose names begin with it and a slash. None is no error.
	Erase(ctx context.Context, folder string) error
}

// Files is a Store whose objects the service reads again.
type Files interface {
	Store
	// Size tells how long an object is; fault.NotFound when it is not there.
	Size(ctx context.Context, name string) (int64, error)
	// ReadAt fills p with what is at off of an object, or fails.
	ReadAt(ctx context.Context, name string, p []byte, off int64) error
}

// Worker is the function that archives, and erases what it archived when it is called with a Request.
const Worker = "archiver"

// LinkWorker is the function that makes the addresses of an Inbox and the links of an Outbox for API functions, which link no client
// of what keeps files.
const LinkWorker = "links"

// Request asks the Worker to erase a folder.
type Request struct {
	Erase string `json:"erase,omitempty"`
}

var segment = regexp.MustCompile(`^[A-Za-z0-9_=-][A-Za-z0-9._=-]*$`)

// CheckName refuses what cannot be the name of an object, or of a folder of them, so that no name leads out of its folder.
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
