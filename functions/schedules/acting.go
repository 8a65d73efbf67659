package schedules

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

// checkAttach refuses a caller who may not act on each resource that is to be attached. The error is 404 for a
// resource that the caller does not see, else 403.
func (s *service) checkAttach(ctx context.Context, a scheduling.Attachment, found []inventory.Listed) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(execution.Acting).All {
		return nil
	}
	if a.GroupID != "" {
		members, err := s.inventory.ExpandGroup(ctx, c.Org, a.GroupID)
		if err != nil {
			return err
		}
		return execution.CheckMayAct(ctx, s.inventory, "resource group "+a.GroupID, execution.UIDs(members)...)
	}
	sees, err := s.inventory.ResourceSets(ctx, c.Org, c.Scopes("resources:read"), c.Scopes(execution.Acting))
	if err != nil {
		return err
	}
	if !sees[0].Has(a.ResourceID) && !sees[1].Has(a.ResourceID) {
		return fault.New(fault.NotFound, "resource %.64q does not exist", a.ResourceID)
	}
	return execution.CheckMayAct(ctx, s.inventory, "the schedule", found[0].UID)
}

// checkActs refuses a change that makes a schedule act differently if the caller may not act on each resource that
// the schedule then takes: resources attached to it, members of its groups, and resources whose tags name it. For a
// new schedule old is zero. It takes round trips only for a caller whose grants do not cover the organization.
func (s *service) checkActs(ctx context.Context, old, next scheduling.Schedule) error {
	c := identity.CallerFrom(ctx)
	if c.Scopes(execution.Acting).All || !actsOtherwise(old, next) {
		return nil
	}
	var direct []string
	if old.ID != "" && old.Attachments > 0 {
		all, err := s.store.ListAttachments(ctx, c.Org, old.ID)
		if err != nil {
			return err
		}
		for _, a := range all {
			if a.ResourceID != "" {
				direct = append(direct, a.ResourceID)
			}
		}
	}
	members, err := s.store.MembersAs(ctx, c.Org, scheduling.HeadOf(next), direct)
	if err != nil {
		return err
	}
	return execution.CheckMayAct(ctx, s.inventory, "schedule "+next.Name, execution.UIDs(members)...)
}

// actsOtherwise reports whether a change can make a schedule start or stop a resource at a time when it did not
// before. A change that only suppresses acts, such as disabling it or adding a calendar, cannot.
func actsOtherwise(old, next scheduling.Schedule) bool {
	if !next.Enabled {
		return false
	}
	named := next.Tagged && (!old.Tagged || next.Name != old.Name || next.Preset != old.Preset)
	released := slices.ContainsFunc(old.CalendarIDs, func(id string) bool {
		return !slices.Contains(next.CalendarIDs, id)
	})
	enforced := next.Drift == scheduling.EnforceDrift &&
		(old.Drift != next.Drift || old.GraceMinutes != next.GraceMinutes)
	return !old.Enabled || named || released || enforced || next.Timezone != old.Timezone ||
		!slices.EqualFunc(old.Crons, next.Crons, sameCron)
}

func sameCron(a, b scheduling.CronLine) bool {
	return a.Expression == b.Expression && a.Action == b.Action
}
