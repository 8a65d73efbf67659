package discovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ListParts returns the partitions of a pass in the regions that were begun, ordered by region and kind.
func ListParts(ctx context.Context, s table.Store, org, jobID string) ([]Part, error) {
	q, out := table.Query{PK: partsPK(org, jobID), Limit: 1000}, []Part(nil)
	for {
		regions, next, err := table.ReadPage[region](ctx, s, q)
		if err != nil {
			return nil, fmt.Errorf("read partitions of %s: %w", jobID, err)
		}
		for _, r := range regions {
			out = append(out, r.Parts...)
		}
		if q.Cursor = next; next == "" {
			slices.SortFunc(out, func(a, b Part) int {
				return cmp.Or(cmp.Compare(a.Region, b.Region), cmp.Compare(a.Kind, b.Kind))
			})
			return out, nil
		}
	}
}

// RecordParts records the progress of partitions. For each of their regions, parts must contain all partitions of the
// region. It costs a write per region.
func RecordParts(ctx context.Context, p *platform.Platform, in Input, parts []Part) error {
	var ws []table.Write
	byRegion := map[string][]Part{}
	for _, part := range parts {
		byRegion[part.Region] = append(byRegion[part.Region], part)
	}
	for name, parts := range byRegion {
		it, err := table.NewItem(PartsKey(in.Org, in.JobID, name), region{parts})
		if err != nil {
			return err
		}
		it.Expires = p.Clock.Now().Add(kept)
		ws = append(ws, table.Put(it))
	}
	return fault.Wrap("note partitions of "+in.JobID, p.Table.BatchWrite(ctx, ws...))
}
