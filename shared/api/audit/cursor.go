package audit

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Cursor is the position after a row, from where reading continues. Clients return it unchanged.
type Cursor struct {
	At   time.Time
	Seq  int64
	Hash string
}

var cursorForm = regexp.MustCompile(`^[0-9]{1,13}\.[0-9]{1,12}\.[0-9a-f]{64}$`)

// String returns the cursor in the form for clients.
func (c Cursor) String() string { return fmt.Sprintf("%d.%d.%s", c.At.UnixMilli(), c.Seq, c.Hash) }

// ParseCursor parses a cursor. For "", the beginning, it returns nil.
func ParseCursor(s string) (*Cursor, error) {
	if s == "" {
		return nil, nil //nolint:nilnil // no cursor is no error
	}
	if !cursorForm.MatchString(s) {
		return nil, fault.New(
			fault.Invalid, "cursor: %.64q is not one that an answer gave; leave it out to begin anew", s)
	}
	parts := strings.Split(s, ".")
	ms, _ := strconv.ParseInt(parts[0], 10, 64) // at most 13 digits
	seq, _ := strconv.ParseInt(parts[1], 10, 64)
	return &Cursor{time.UnixMilli(ms).UTC(), seq, parts[2]}, nil
}

// After returns the lowest sort key after the cursor. A row has a higher number than the one before, and the same time
// or a later one.
func (c *Cursor) After() string { return sortKey(c.At, c.Seq+1) }

// CursorOf returns the position after a row.
func (s Sealed) CursorOf() Cursor { return Cursor{s.rowTime(), s.rowNumber(), s.stringMember("hash")} }
