package inventory

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory/index"
)

// CountStates counts the members of groups by status, by the group's ID, limited to the sight. A dynamic group has no
// terminated members. A group without members in sight is left out. It takes one round trip, and one more if the
// members of a static group have changed.
func (s *Store) CountStates(ctx context.Context, org string, groupIDs []string, sight Visibility) (
	map[string]map[string]int, error,
) {
	if len(groupIDs) == 0 {
		return map[string]map[string]int{}, nil
	}
	v, err := s.openIndexWith(ctx, org, func(id string) bool {
		return slices.Contains(groupIDs, id) || sight.needsTeam(id)
	})
	if err != nil {
		return nil, fmt.Errorf("count the members of %d groups: %w", len(groupIDs), err)
	}
	v.st.RLock()
	defer v.st.RUnlock()
	seen, counts := v.newScopeTest(sight.Resources), v.newGroupCounts(groupIDs)
	for r := range v.st.Rows() {
		if seen == nil || seen(r) {
			v.countMember(r, counts)
		}
	}
	out := make(map[string]map[string]int, len(counts))
	for _, c := range counts {
		if len(c.byState) > 0 {
			out[c.group.ID] = countsByName(v.st.Symbols, c.byState)
		}
	}
	return out, nil
}

// countMember counts a row in the groups that it is a member of.
func (v *view) countMember(r index.Row, counts []groupCount) {
	gone := cloud.Status(r.Word(index.StatusRef)) == cloud.Terminated
	for _, c := range counts {
		if (!gone || c.group.Selector == nil) && v.isMember(r, c.group) {
			c.byState[r.Ref(index.StatusRef)]++
		}
	}
}

// groupCount counts the members of a group by the symbol of their status.
type groupCount struct {
	group   *Group
	byState map[uint32]int
}

func (v *view) newGroupCounts(groupIDs []string) []groupCount {
	var out []groupCount
	for i := range v.groups {
		if g := &v.groups[i]; slices.Contains(groupIDs, g.ID) {
			out = append(out, groupCount{g, map[uint32]int{}})
		}
	}
	return out
}
