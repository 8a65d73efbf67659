package resourcegroups

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/reference"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

const wayOut = "detach it from schedules, end or delete the others, wait for bulk actions, then delete"

// deleteGroup deletes a group without uses. Round trips: nine, and two when the group is attached to schedules.
func (s *service) deleteGroup(ctx context.Context, in *GroupInput) (rest.Deleted, error) {
	g, err := s.readGroup(ctx, in.GroupID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newBriefGroup(g)})
	released, err := s.releaseUnused(ctx, g)
	if err != nil {
		return rest.Deleted{}, err
	}
	extra, err := s.andRebuild(ctx, released, true)
	if err != nil {
		return rest.Deleted{}, err
	}
	return rest.Deleted{ID: g.ID},
		s.inventory.DeleteGroup(table.Within(ctx, workqueue.Prefix), identity.CallerOrg(ctx), g, extra...)
}

// releaseUnused returns the writes that go with the deletion of a group, or the error that lists its uses. The writes
// fail when a use begins meanwhile.
func (s *service) releaseUnused(ctx context.Context, g inventory.Group) ([]table.Write, error) {
	holds, err := s.inventory.CountGroupHolds(ctx, identity.CallerOrg(ctx), g.ID)
	if err != nil {
		return nil, err
	}
	bulk, unclaimed, err := s.bulkUses(ctx, g)
	if err != nil {
		return nil, err
	}
	uses, err := s.usesOf(ctx, g.ID)
	if err != nil {
		return nil, err
	}
	named := fmt.Sprintf("resource group %s (%s)", g.ID, g.Name)
	if err = identity.InUse(ctx, named, append(uses, bulk...), wayOut); err != nil {
		return nil, err
	}
	return []table.Write{unclaimed, inventory.ReleaseGroup(identity.CallerOrg(ctx), g.ID, holds)}, nil
}

// usesOf lists the records that name a group: schedules, overrides and wake links, and those whose scope it is.
func (s *service) usesOf(ctx context.Context, groupID string) ([]fault.Use, error) {
	org := identity.CallerOrg(ctx)
	schedules, err := scheduling.New(s.p).UsesOfGroup(ctx, org, groupID)
	if err != nil {
		return nil, err
	}
	var out []fault.Use
	for _, sch := range schedules {
		out = append(out, fault.Use{Kind: "schedule", ID: sch.ID, Name: sch.Name, Policy: "schedules:read"})
	}
	held, err := override.UsesOfGroup(ctx, s.p.Table, org, groupID, s.p.Clock.Now())
	if err != nil {
		return nil, err
	}
	scoped, err := reference.ListUses(ctx, s.p.Table, org, event.Scope{Type: event.ScopeGroup, ID: groupID})
	return append(append(out, held...), scoped...), err
}

// bulkUses returns the bulk action that is under way on a group, and the write that goes with the deletion of the
// group: it fails when a bulk action begins meanwhile.
func (s *service) bulkUses(ctx context.Context, g inventory.Group) ([]fault.Use, table.Write, error) {
	key := execution.GroupClaimKey(identity.CallerOrg(ctx), g.ID)
	claim, err := table.Read[execution.GroupClaim](ctx, s.p.Table, key)
	if fault.Is(err, fault.NotFound) {
		return nil, table.Check(key, table.Absent()), nil
	}
	if err != nil {
		return nil, table.Write{}, fault.Wrap("read the bulk action under way on "+g.ID, err)
	}
	b, err := table.Read[execution.Bulk](ctx, s.p.Table, execution.BulkKey(identity.CallerOrg(ctx), claim.BulkActionID))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, table.Write{}, fault.Wrap("read bulk action "+claim.BulkActionID, err)
	}
	var uses []fault.Use
	if err == nil && !b.Over() {
		uses = []fault.Use{{Kind: "bulk action", ID: b.ID, Name: string(b.Status)}}
	}
	return uses, table.Delete(key, table.Any(table.Absent(), table.Equal("bulkActionID", claim.BulkActionID))), nil
}
