package resourcegroups

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/domain/budgeting"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// unscheduled refuses to delete a group that is attached to schedules, or that budgets are for. It gives the write that goes with the deletion: it fails when
// one takes the group meanwhile.
func (s *service) unscheduled(ctx context.Context, g inventory.Group) (table.Write, error) {
	uses, err := scheduling.New(s.p).UsesOfGroup(ctx, callerOrg(ctx), g.ID)
	if err != nil {
		return table.Write{}, err
	}
	if len(uses) > 0 {
		var by []string
		for _, sch := range uses[:min(len(uses), named)] {
			by = append(by, fmt.Sprintf("schedule %s (%s)", sch.ID, sch.Name))
		}
		return table.Write{}, fault.New(fault.Conflict, "resource group %s (%s) is in use by %s: detach it from them, then delete", g.ID, g.Name, strings.Join(by, ", "))
	}
	if err = budgeting.NewStore(s.p.Table).CheckUnused(ctx, callerOrg(ctx), budgeting.ResourceGroup, g.ID); err != nil {
		return table.Write{}, err
	}
	return table.Delete(inventory.AttachedGroupKey(callerOrg(ctx), g.ID), table.Any(table.Absent(), table.Equal("n", 0))), nil
}
