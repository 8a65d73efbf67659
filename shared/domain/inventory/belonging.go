package inventory

import (
	"context"
	"fmt"
)

// Belonging is the name of a resource, and the ids of its groups and teams in ascending order.
type Belonging struct {
	Name     string
	GroupIDs []string
	TeamIDs  []string
}

// Snapshot is the inventory at one moment. Callers read the names, groups and teams of resources from it, and write
// deltas after that.
type Snapshot struct {
	store *Store
	view  *view
}

// OpenSnapshot reads the index, with the members of all groups and teams. It takes one round trip, and one more if the
// index was compacted or the members have changed since the last read.
func (s *Store) OpenSnapshot(ctx context.Context, org string) (*Snapshot, error) {
	v, err := s.openIndexWith(ctx, org, func(string) bool { return true })
	if err != nil {
		return nil, fmt.Errorf("read what resources of %s belong to: %w", org, err)
	}
	return &Snapshot{s, v}, nil
}

// BelongingOf returns the name, groups and teams of the resource with a native id. It returns the zero Belonging for a
// resource that the inventory does not know.
func (s *Snapshot) BelongingOf(uid string) Belonging {
	st, all := s.view.st, SeeEverything()
	st.RLock()
	defer st.RUnlock()
	r, ok := st.RowByUID(uid)
	if !ok {
		return Belonging{}
	}
	return Belonging{Name: recordOf(st, r).Name, GroupIDs: s.view.groupsOf(r), TeamIDs: s.view.teamsOf(r, &all)}
}

// Compact compacts the index like CompactIndex, for a caller that has written less than half of the compaction
// threshold since the snapshot. It costs no round trip while the threshold is far.
func (s *Snapshot) Compact(ctx context.Context) error { return s.store.index.Tidy(ctx, s.view.read) }
