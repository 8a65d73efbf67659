package actions

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// maxLatest is how many of the newest bulk actions are searched for one that the caller may see.
const maxLatest = 20

func (s *service) latestBulk(ctx context.Context, _ *struct{}) (execution.Bulk, error) {
	org := identity.CallerOrg(ctx)
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return execution.Bulk{}, err
	}
	q := table.Query{PK: execution.BulkPK(org), Reverse: true, Limit: maxLatest}
	if reach[0].All() {
		q.Limit = 1
	}
	bulks, _, err := table.ReadPage[execution.Bulk](ctx, s.p.Table, q)
	if err != nil {
		return execution.Bulk{}, fmt.Errorf("read latest bulk action: %w", err)
	}
	for _, b := range bulks {
		all, err := s.isWithin(ctx, org, b, reach[0])
		if err == nil && all {
			b, err = execution.ReadProgress(ctx, s.p.Table, org, b)
		}
		if all || err != nil {
			return b.WithoutInternals(), err
		}
	}
	return execution.Bulk{}, fault.New(fault.NotFound, "the organization has had no bulk action")
}

// BulkPath names a bulk action in a path. It is exported because the framework ignores unexported embedded structs.
type BulkPath struct {
	BulkActionID string `path:"bulkActionID" maxLength:"64" doc:"The bulk action"`
}

func (s *service) getBulkAction(ctx context.Context, in *BulkPath) (execution.Bulk, error) {
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return execution.Bulk{}, err
	}
	b, err := s.readBulk(ctx, in.BulkActionID)
	if err != nil {
		return execution.Bulk{}, err
	}
	all, err := s.isWithin(ctx, identity.CallerFrom(ctx).Org, b, reach[0])
	if err == nil && !all {
		err = noBulk(b.ID)
	}
	return b.WithoutInternals(), err
}

func noBulk(bulkID string) error { return fault.New(fault.NotFound, "no bulk action %q", bulkID) }

// readBulk reads a bulk action of the caller's organization.
func (s *service) readBulk(ctx context.Context, bulkID string) (execution.Bulk, error) {
	if !id.IsValid("bulk", bulkID) {
		return execution.Bulk{}, noBulk(bulkID)
	}
	b, err := execution.ReadBulk(ctx, s.p.Table, identity.CallerOrg(ctx), bulkID)
	if fault.Is(err, fault.NotFound) {
		return b, noBulk(bulkID)
	}
	if err != nil {
		return b, fmt.Errorf("read bulk action %s: %w", bulkID, err)
	}
	return b, nil
}

// isWithin reports whether a bulk action has resources and all of them are in reach.
func (s *service) isWithin(ctx context.Context, org string, b execution.Bulk, reach inventory.ResourceSet) (bool,
	error,
) {
	if reach.All() {
		return true, nil
	}
	if b.Plan == nil || b.Plan.Stage == execution.Unplanned {
		members, err := execution.BulkTargets(ctx, s.p.Table, s.inventory, org, b)
		for _, m := range members {
			if !reach.HasUID(m.UID) {
				return false, nil
			}
		}
		return len(members) > 0, err
	}
	return s.plannedWithin(ctx, org, b.ID, reach)
}

// plannedWithin checks the planned resources of a bulk action until one is out of reach.
func (s *service) plannedWithin(ctx context.Context, org, bulkID string, reach inventory.ResourceSet) (bool, error) {
	q, some := execution.ChunksOf(org, bulkID), false
	q.Limit = 100
	for {
		chunks, next, err := table.ReadPage[execution.Chunk](ctx, s.p.Table, q)
		if err != nil {
			return false, fmt.Errorf("read the resources of bulk action %s: %w", bulkID, err)
		}
		for _, c := range chunks {
			for _, m := range c.Members {
				if !reach.HasUID(m.ResourceUID) {
					return false, nil
				}
				some = true
			}
		}
		if q.Cursor = next; q.Cursor == "" {
			return some, nil
		}
	}
}
