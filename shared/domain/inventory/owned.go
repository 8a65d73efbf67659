package inventory

import (
	"context"
	"slices"
)

// Owned lists the ids of the resources that a team owns, oldest first. What has left the inventory is not among them. One
// round trip, and one more when that has changed.
func (s *Store) Owned(ctx context.Context, org, teamID string) ([]string, error) {
	out := []string{}
	err := s.eachOwned(ctx, org, []string{teamID}, func(_ string, r *row) { out = append(out, formatID(r.id)) })
	return out, err
}

// OwnedCounts tells how many resources each of teams owns. Round trips as of Owned.
func (s *Store) OwnedCounts(ctx context.Context, org string, teamIDs []string) (map[string]int, error) {
	out := make(map[string]int, len(teamIDs))
	err := s.eachOwned(ctx, org, teamIDs, func(teamID string, _ *row) { out[teamID]++ })
	return out, err
}

func (s *Store) eachOwned(ctx context.Context, org string, teamIDs []string, take func(teamID string, r *row)) error {
	v, err := s.opened(ctx, org, func(id string) bool { return slices.Contains(teamIDs, id) })
	if err != nil {
		return err
	}
	unlock := v.st.indexed()
	defer unlock()
	for i := range v.owners {
		t := &v.owners[i]
		if m := v.st.sets.members[t.ID]; m != nil && t.Size > 0 && slices.Contains(teamIDs, t.ID) {
			v.st.each(m, func(r *row) { take(t.ID, r) })
		}
	}
	return nil
}

// each gives the rows of a set that are in the inventory, in the order of their ids. It needs the lock of indexed.
func (st *state) each(m *memberSet, take func(*row)) {
	for _, p := range m.places {
		if i, ok := st.byID[p.id]; ok && !st.rows[i].gone {
			take(&st.rows[i])
		}
	}
}
