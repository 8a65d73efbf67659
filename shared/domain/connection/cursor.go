package connection

import (
	"cmp"
	"slices"
)

// SyncCursor is a position in the ring of members to open, ordered by native ID. A synchronization begins after From,
// continues after Last, and ends when it is back at From. So members that refuse slowly do not block the ones behind
// them: the next run, or the next synchronization, continues after them.
type SyncCursor struct {
	From string `json:"from,omitempty"`
	Last string `json:"last,omitempty"` // empty until a member has been tried
}

// next returns the cursor for the next synchronization. If the synchronization was not completed, the next one
// continues at its last member.
func (c SyncCursor) next(completed bool) SyncCursor {
	if completed {
		return SyncCursor{From: c.From}
	}
	return SyncCursor{From: cmp.Or(c.Last, c.From)}
}

// Left sorts IDs in the order of the ring and returns those that the synchronization has not tried yet.
func (c SyncCursor) Left(ids []string) []string {
	out := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return c.Last != "" && c.compare(id, c.Last) <= 0
	})
	slices.SortFunc(out, c.compare)
	return out
}

// compare orders two IDs by their positions in the ring after From.
func (c SyncCursor) compare(a, b string) int {
	return cmp.Or(cmp.Compare(c.turn(a), c.turn(b)), cmp.Compare(a, b))
}

// turn returns 0 for IDs after From, and 1 for IDs after the end of the ring.
func (c SyncCursor) turn(id string) int {
	if id > c.From {
		return 0
	}
	return 1
}
