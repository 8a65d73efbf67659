package audit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Cursor is the place behind a row, where reading goes on. Clients hand it back as they got it.
type Cursor struct {
	At   time.Time
	Seq  int64
	Hash string
}

var cursorForm = regexp.MustCompile(`^[0-9]{1,13}\.[0-9]{1,12}\.[0-9a-f]{64}$`)

// String returns the cursor as clients see it.
func (c Cursor) String() string { return fmt.Sprintf("%d.%d.%s", c.At.UnixMilli(), c.Seq, c.Hash) }

// ParseCursor reads a cursor; "" is nil, the beginning.
func ParseCursor(s string) (*Cursor, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no cursor is no mistake
	}
	if !cursorForm.MatchString(s) {
		return nil, fault.New(
			fault.Invalid, "cursor: %.64q is not one that an answer gave; leave it out to begin anew", s)
	}
	parts := strings.Split(s, ".")
	ms, _ := strconv.ParseInt(parts[0], 10, 64) // digits, not too many
	seq, _ := strconv.ParseInt(parts[1], 10, 64)
	return &Cursor{time.UnixMilli(ms).UTC(), seq, parts[2]}, nil
}

// After returns the lowest sort key behind the cursor: a row has a higher number than the one before, at the same time or later.
func (c *Cursor) After() string { return sortKey(c.At, c.Seq+1) }

// CursorOf returns the place behind a row.
func (s Sealed) CursorOf() Cursor { return Cursor{s.rowTime(), s.rowNumber(), s.stringMember("hash")} }
