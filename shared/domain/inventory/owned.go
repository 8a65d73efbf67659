package inventory

import (
	"context"
	"slices"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// MaxOwned is how many resources one team can own.
const MaxOwned = 10_000

// Own returns the writes that record the resources of a team in the index, from the given generation of the team on.
// They belong into the transaction of that change. A string that is no resource id is fault.Invalid.
func Own(org, teamID string, generation int64, resources []string) ([]table.Write, error) {
	it, err := table.NewItem(ownerKey(org, teamID), owner{teamID, generation, len(resources)})
	if err != nil || len(resources) == 0 {
		return []table.Write{table.Put(it), table.Delete(memberKey(org, teamID))}, err
	}
	set := make([]place, len(resources))
	for i, id := range resources {
		u, ok := parseID(id)
		if !ok {
			return nil, fault.New(fault.Invalid, "resources: %.64q is not the id of a resource", id)
		}
		set[i] = place{u, 1, 1}
	}
	members, err := table.NewItem(memberKey(org, teamID), memberItem{generation, encodePlaces(set)})
	return []table.Write{table.Put(it), table.Put(members)}, err
}

// Disown returns the writes that remove a team from the index. They belong into the transaction that deletes it.
func Disown(org, teamID string) []table.Write {
	return []table.Write{table.Delete(ownerKey(org, teamID)), table.Delete(memberKey(org, teamID))}
}

func ownerKey(org, teamID string) table.Key { return index.Key(org, setPrefix+teamID) }

// ListOwned lists the ids of the resources that a team owns, oldest first, without resources that have left the
// inventory. It takes one round trip, and one more if the team's resources have changed.
func (s *Store) ListOwned(ctx context.Context, org, teamID string) ([]string, error) {
	out := []string{}
	err := s.eachOwned(ctx, org, []string{teamID}, func(_ string, r index.Row) { out = append(out, formatID(r.ID())) })
	return out, err
}

// Owned is how many resources a team owns, and the ids (res_…) of the first of them.
type Owned struct {
	Count int
	IDs   []string
}

// OwnedFirst returns, by team, the number of its resources and the ids of the first ones, limited by the parameter
// most. It takes the round trips of ListOwned.
func (s *Store) OwnedFirst(ctx context.Context, org string, teamIDs []string, most int) (map[string]Owned, error) {
	out := make(map[string]Owned, len(teamIDs))
	err := s.eachOwned(ctx, org, teamIDs, func(teamID string, r index.Row) {
		o := out[teamID]
		if o.Count++; len(o.IDs) < most {
			o.IDs = append(o.IDs, formatID(r.ID()))
		}
		out[teamID] = o
	})
	return out, err
}

func (s *Store) eachOwned(ctx context.Context, org string, teamIDs []string,
	take func(teamID string, r index.Row),
) error {
	v, err := s.openIndexWith(ctx, org, func(id string) bool { return slices.Contains(teamIDs, id) })
	if err != nil {
		return err
	}
	unlock := v.st.RLockByID()
	defer unlock()
	for i := range v.owners {
		t := &v.owners[i]
		if m := v.sets.members[t.ID]; m != nil && t.Size > 0 && slices.Contains(teamIDs, t.ID) {
			each(v.st, m, func(r index.Row) { take(t.ID, r) })
		}
	}
	return nil
}

// each calls take with the rows of a set that are in the inventory, ordered by id. It needs the lock of RLockByID.
func each(st *index.State, m *memberSet, take func(index.Row)) {
	for _, p := range m.places {
		if r, ok := st.RowByID(p.id); ok {
			take(r)
		}
	}
}
