package schedules

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// visibleSchedules returns the schedules that the caller may see: all of them, or those that take a resource in the
// caller's scopes.
func (s *service) visibleSchedules(ctx context.Context) ([]scheduling.Schedule, error) {
	all, err := s.store.ListSchedules(ctx, identity.CallerOrg(ctx))
	if err != nil || identity.CallerFrom(ctx).Scopes(reading).All || len(all) == 0 {
		return all, err
	}
	taken, err := s.takenInScope(ctx)
	return slices.DeleteFunc(all, func(sch scheduling.Schedule) bool { return !taken[sch.ID] }), err
}

// takenInScope returns the IDs of the schedules that take a resource in the scopes of a caller with narrow grants.
func (s *service) takenInScope(ctx context.Context) (map[string]bool, error) {
	c := identity.CallerFrom(ctx)
	found, err := s.inventory.FindResources(ctx, c.Org, inventory.List{
		Filter: inventory.Filter{Sight: inventory.SightOf(c, reading).WithSchedules(scheduling.Heads{})}, By: inventory.ByUID,
	})
	out := map[string]bool{}
	for i := range found {
		for _, id := range found[i].ScheduleIDs {
			out[id] = true
		}
	}
	return out, err
}

// readVisible reads a schedule that the caller may see.
func (s *service) readVisible(ctx context.Context, scheduleID string) (scheduling.Schedule, error) {
	sch, err := s.readSchedule(ctx, scheduleID)
	if err != nil || identity.CallerFrom(ctx).Scopes(reading).All {
		return sch, err
	}
	taken, err := s.takenInScope(ctx)
	if err == nil && !taken[sch.ID] {
		err = missingSchedule(scheduleID)
	}
	return sch, err
}

// inScope returns the resources whose schedules the caller may see.
func (s *service) inScope(ctx context.Context) (inventory.ResourceSet, error) {
	c := identity.CallerFrom(ctx)
	sets, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes(reading))
	if err != nil {
		return inventory.ResourceSet{}, err
	}
	return sets[0], nil
}

// groupsInScope returns the IDs of the groups that contain a resource the caller may see, or nil if the caller may
// see all groups.
func (s *service) groupsInScope(ctx context.Context) (map[string]bool, error) {
	c := identity.CallerFrom(ctx)
	scopes := c.Scopes(reading)
	if scopes.All {
		return nil, nil //nolint:nilnil // nil is all of them
	}
	parts, err := s.inventory.GroupsInScope(ctx, c.Org, scopes, "")
	out := map[string]bool{}
	for i := range parts {
		out[parts[i].ID] = true
	}
	return out, err
}

// seesGroup returns fault.NotFound for a group that does not exist or that the caller may not see.
func (s *service) seesGroup(ctx context.Context, groupID string) error {
	unknown := fault.New(fault.NotFound, "resource group %.64q does not exist", groupID)
	if !id.IsValid("grp", groupID) {
		return unknown
	}
	seen, err := s.groupsInScope(ctx)
	if err != nil {
		return err
	}
	if seen != nil && !seen[groupID] {
		return unknown
	}
	_, err = s.inventory.ReadGroup(ctx, identity.CallerOrg(ctx), groupID)
	return err
}
