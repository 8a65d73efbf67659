package inventory

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/foundation/fault"
)

// EncodePlacements writes placements in some 18 bytes each, ordered by id; DecodePlacements reads them again.
func EncodePlacements(places []GroupPlacement) ([]byte, error) {
	set := make([]place, len(places))
	for i, p := range places {
		u, ok := parseID(p.ResourceID)
		if !ok {
			return nil, fault.New(fault.Invalid, "%.64q is not the id of a resource", p.ResourceID)
		}
		set[i] = place{u, p.Tier, p.Order}
	}
	return encodePlaces(set), nil
}

// DecodePlacements decodes the output of EncodePlacements.
func DecodePlacements(b []byte) ([]GroupPlacement, error) {
	set, err := decodePlaces(b)
	out := make([]GroupPlacement, len(set))
	for i, p := range set {
		out[i] = GroupPlacement{formatID(p.id), p.tier, p.order}
	}
	return out, err
}

// ExpandGroups expands groups like ExpandGroup, all as of the same moment. It takes one round trip, or two if members
// have changed. A group that is gone is missing from the result.
func (s *Store) ExpandGroups(ctx context.Context, org string, ids ...string) (map[string][]Member, error) {
	v, err := s.openIndexWith(ctx, org, func(id string) bool { return slices.Contains(ids, id) })
	if err != nil {
		return nil, fmt.Errorf("expand %d groups of %s: %w", len(ids), org, err)
	}
	out := make(map[string][]Member, len(ids))
	for i := range v.groups {
		if g := &v.groups[i]; slices.Contains(ids, g.ID) {
			out[g.ID] = v.expand(g)
		}
	}
	return out, nil
}
