package actions

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// bulkFilter is the query of GET /actions/bulk.
type bulkFilter struct {
	rest.Page
	Status  []string `query:"status" enum:"queued,running,completed,cancelled" maxItems:"4" doc:"Only with one of these statuses"`
	Type    string   `query:"type" enum:"start,stop"`
	GroupID string   `query:"group_id" maxLength:"64" doc:"Only on this resource group"`
}

func (f *bulkFilter) meets(b *execution.Bulk) bool {
	return rest.Among(f.Status, string(b.Status)) && (f.Type == "" || f.Type == string(b.Type)) &&
		(f.GroupID == "" || f.GroupID == b.GroupID)
}

// listBulks lists the bulk actions, the newest first.
func (s *service) listBulks(ctx context.Context, in *bulkFilter) (rest.List[execution.Bulk], error) {
	org := identity.CallerOrg(ctx)
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return rest.List[execution.Bulk]{}, err
	}
	var found rest.List[execution.Bulk]
	q := table.Query{PK: execution.BulkPK(org), Reverse: true}
	if reach[0].All() {
		r := rest.Reading[execution.Bulk]{Store: s.p.Table, Page: in.Page}
		found, err = r.Filtered(ctx, q, func(b execution.Bulk) bool { return in.meets(&b) })
	} else {
		found, err = s.listBulksWithin(ctx, in, reach[0])
	}
	if err != nil {
		return found, fmt.Errorf("list the bulk actions of %s: %w", org, err)
	}
	for i := range found.Items {
		b, err := execution.ReadProgress(ctx, s.p.Table, org, found.Items[i])
		if err != nil {
			return found, err
		}
		found.Items[i] = b.WithoutInternals()
	}
	return found, nil
}

// listBulksWithin lists those of the newest bulk actions whose resources are all in reach.
func (s *service) listBulksWithin(ctx context.Context, in *bulkFilter, reach inventory.ResourceSet) (
	rest.List[execution.Bulk], error,
) {
	org, out := identity.CallerOrg(ctx), rest.PageOf[execution.Bulk](nil, in.Page)
	newest, _, err := table.ReadPage[execution.Bulk](ctx, s.p.Table,
		table.Query{PK: execution.BulkPK(org), Reverse: true, Limit: maxLatest})
	for i := range newest {
		if !in.meets(&newest[i]) {
			continue
		}
		all, err := s.isWithin(ctx, org, newest[i], reach)
		if err != nil {
			return out, err
		}
		if all {
			out.Add(newest[i])
		}
	}
	return out, err
}
