package resourcegroups

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
)

// addStates sets the states of groups, and the member counts of dynamic ones.
func (s *service) addStates(ctx context.Context, groups []*Group) error {
	ids := make([]string, len(groups))
	for i := range groups {
		ids[i] = groups[i].ID
	}
	c := identity.CallerFrom(ctx)
	counts, err := s.inventory.CountStates(ctx, c.Org, ids, inventory.SightOf(c, reading))
	if err != nil {
		return err
	}
	for i := range groups {
		if states := counts[groups[i].ID]; states != nil {
			groups[i].States = states
		}
		if groups[i].MemberCount == nil {
			groups[i].MemberCount = new(groups[i].members())
		}
	}
	return nil
}

// members returns the number of members in all states.
func (g *Group) members() (n int) {
	for _, in := range g.States {
		n += in
	}
	return n
}
