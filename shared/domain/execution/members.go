package execution

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Members expands a group for a bulk action. A dynamic group stands for what of its selection can be started and stopped:
// that an instance belongs to an Auto Scaling group is no failure of a selector that also finds it. What somebody put
// into a static group by hand is a member in any case, and fails with the reason when it cannot be acted on.
func Members(ctx context.Context, s *inventory.Store, org, groupID string) (inventory.Group, []inventory.Member, error) {
	g, err := s.Group(ctx, org, groupID)
	if err != nil {
		return g, nil, fmt.Errorf("read group %s: %w", groupID, err)
	}
	members, err := s.Members(ctx, org, groupID)
	if err != nil {
		return g, nil, fmt.Errorf("read members of group %s: %w", groupID, err)
	}
	if g.Selector != nil {
		members = slices.DeleteFunc(members, func(m inventory.Member) bool { return m.Unschedulable != "" })
	}
	return g, members, nil
}

// Targets are the resources that a bulk action acts on when it begins now: the members of its group, without those that
// whoever asked for it may not act on. They are none when the group is gone.
func Targets(ctx context.Context, s *inventory.Store, org string, b Bulk) ([]inventory.Member, error) {
	_, members, err := Members(ctx, s, org, b.GroupID)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil || b.Plan == nil || b.Plan.Scopes == nil {
		return members, err
	}
	may, err := s.Reach(ctx, org, *b.Plan.Scopes)
	if err != nil {
		return nil, fmt.Errorf("read what %s may act on: %w", b.ID, err)
	}
	return slices.DeleteFunc(members, func(m inventory.Member) bool { return !may[0].HasUID(m.UID) }), nil
}
