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

// newest is how many bulk actions are looked at for one that the caller may see.
const newest = 20

func (s *service) latestBulk(ctx context.Context, _ *struct{}) (execution.Bulk, error) {
	org := identity.From(ctx).Org
	reach, err := s.reach(ctx, reading)
	if err != nil {
		return execution.Bulk{}, err
	}
	q := table.Query{PK: execution.BulkPK(org), Reverse: true, Limit: newest}
	if reach[0].All() {
		q.Limit = 1
	}
	bulks, _, err := table.ReadPage[execution.Bulk](ctx, s.p.Table, q)
	if err != nil {
		return execution.Bulk{}, fmt.Errorf("read latest bulk action: %w", err)
	}
	for _, b := range bulks {
		if all, err := s.within(ctx, org, b, reach[0]); all || err != nil {
			return b.Public(), err
		}
	}
	return execution.Bulk{}, fault.New(fault.NotFound, "the organization has had no bulk action")
}

func (s *service) bulk(ctx context.Context, in *struct {
	BulkActionID string `path:"bulkActionID" maxLength:"64" doc:"The bulk action"`
},
) (execution.Bulk, error) {
	org := identity.From(ctx).Org
	missing := fault.New(fault.NotFound, "no bulk action %q", in.BulkActionID)
	if !id.Valid("bulk", in.BulkActionID) {
		return execution.Bulk{}, missing
	}
	reach, err := s.reach(ctx, reading)
	if err != nil {
		return execution.Bulk{}, err
	}
	b, err := table.Read[execution.Bulk](ctx, s.p.Table, execution.BulkKey(org, in.BulkActionID))
	if fault.Is(err, fault.NotFound) {
		return execution.Bulk{}, missing
	}
	if err != nil {
		return execution.Bulk{}, fmt.Errorf("read bulk action %s: %w", in.BulkActionID, err)
	}
	all, err := s.within(ctx, org, b, reach[0])
	if err == nil && !all {
		err = missing
	}
	return b.Public(), err
}

// within tells whether a bulk action acts on something, and only on what lies in reach.
func (s *service) within(ctx context.Context, org string, b execution.Bulk, reach inventory.Reach) (bool, error) {
	if reach.All() {
		return true, nil
	}
	if b.Plan == nil || b.Plan.Stage == execution.Unplanned {
		members, err := execution.Targets(ctx, s.inventory, org, b)
		for _, m := range members {
			if !reach.HasUID(m.UID) {
				return false, nil
			}
		}
		return len(members) > 0, err
	}
	return s.plannedWithin(ctx, org, b.ID, reach)
}

// plannedWithin looks at the resources that were written down for a bulk action, until one is out of reach.
func (s *service) plannedWithin(ctx context.Context, org, bulkID string, reach inventory.Reach) (bool, error) {
	q, some := table.Query{PK: execution.ChunkPK(org, bulkID), Limit: 100}, false
	for {
		chunks, next, err := table.ReadPage[execution.Chunk](ctx, s.p.Table, q)
		if err != nil {
			return false, fmt.Errorf("read what bulk action %s acts on: %w", bulkID, err)
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
