package resourcegroups

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// checkJoining refuses a caller who adds resources on which they may not act to a group that is attached to
// schedules, because the schedules would start and stop them. joining returns the resources that the change adds. It
// takes round trips only for a caller whose grants do not cover the organization.
func (s *service) checkJoining(ctx context.Context, g inventory.Group,
	joining func() ([]inventory.Member, error),
) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(execution.Acting).All {
		return nil
	}
	schedules, err := s.inventory.SchedulesOfGroup(ctx, c.Org, scheduling.Heads{}, g.ID)
	if err != nil || len(schedules) == 0 {
		return err
	}
	members, err := joining()
	if err != nil {
		return err
	}
	return execution.CheckMayAct(ctx, s.inventory, "schedule "+schedules[0]+" of the group", execution.UIDs(members)...)
}

// newcomers returns the resources of after that have no place in before.
func (s *service) newcomers(ctx context.Context, before, after []inventory.GroupPlacement) ([]inventory.Member, error) {
	had := make(map[string]bool, len(before))
	for _, p := range before {
		had[p.ResourceID] = true
	}
	var ids []string
	for _, p := range after {
		if !had[p.ResourceID] {
			ids = append(ids, p.ResourceID)
		}
	}
	found, err := s.inventory.ByIDs(ctx, identity.CallerOrg(ctx), ids, inventory.SeeEverything())
	members, _ := execution.Resources(found)
	return members, err
}

// checkRegrouping is checkJoining for a change of the places or the selector of a group.
func (s *service) checkRegrouping(ctx context.Context, old, g inventory.Group,
	places []inventory.GroupPlacement,
) error {
	return s.checkJoining(ctx, old, func() ([]inventory.Member, error) {
		if g.Selector != nil {
			return s.inventory.SelectMembers(ctx, identity.CallerOrg(ctx), *g.Selector)
		}
		var before []inventory.GroupPlacement
		if old.Selector == nil {
			var err error
			if before, err = s.inventory.ListPlacements(ctx, identity.CallerOrg(ctx), old.ID); err != nil {
				return nil, err
			}
		}
		return s.newcomers(ctx, before, places)
	})
}
