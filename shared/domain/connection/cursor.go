package connection

import (
	"cmp"
	"slices"
)

// SyncCursor is a position in the ring of members that are to be opened, in the order of their native ids. A synchronization begins after
// From, goes on after Last, and ends when it is back at From. So members that are slow to refuse do not keep the ones behind them from
// being tried: the next run, or the next synchronization, goes on after them.
type SyncCursor struct {
	From string `json:"from,omitempty"`
	Last string `json:"last,omitempty"` // empty until a member was tried
}

// next returns the cursor that the next synchronization begins with. One that was not completed is continued where it stopped.
func (c SyncCursor) next(completed bool) SyncCursor {
	if completed {
		return SyncCursor{From: c.From}
	}
	return SyncCursor{From: cmp.Or(c.Last, c.From)}
}

// MemberLeft sorts ids in the order of the ring and returns those that the synchronization has not tried yet.
func (c SyncCursor) Left(ids []string) []string {
	out := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return c.Last != "" && c.compare(id, c.Last) <= 0
	})
	slices.SortFunc(out, c.compare)
	return out
}

// compare orders two ids by their places in the ring after From.
func (c SyncCursor) compare(a, b string) int {
	return cmp.Or(cmp.Compare(c.turn(a), c.turn(b)), cmp.Compare(a, b))
}

// turn returns 0 for ids after From, and 1 for those that come after the end of the ring.
func (c SyncCursor) turn(id string) int {
	if id > c.From {
		return 0
	}
	return 1
}
