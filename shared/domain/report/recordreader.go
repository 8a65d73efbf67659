package report

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/domain/smarttag"
	"lamplighter.dev/shared/engine/table"
)

// RecordPolicy is the permission to see resources.
const RecordPolicy = "resources:read"

// RecordReading is the store access of a function that uses a RecordReader.
var RecordReading = table.Access{Reads: []table.Partition{
	inventory.ResourcePartition, inventory.IndexPartition, inventory.ChunkPartition, inventory.AttachedPartition,
	inventory.AccountPartition, smarttag.Partition,
}}

// RecordPageRows is how many resources are read at once, which limits memory.
const RecordPageRows = 5000

// RecordReader reads resources within the rights of the context's caller. It is safe for use by several goroutines.
type RecordReader struct {
	table     table.Store
	inventory *inventory.Store
	tagger    *smarttag.Tagger
}

// NewRecordReader returns a RecordReader.
func NewRecordReader(p *platform.Platform) *RecordReader {
	return &RecordReader{p.Table, inventory.New(p), smarttag.NewTagger(smarttag.NewStore(p.Table))}
}

// SightOf returns the resources that a caller may see, with schedules and smart tags. The costs are added to costs; nil
// leaves them out.
func (r *RecordReader) SightOf(c identity.Caller, costs inventory.CostReader) inventory.Visibility {
	return inventory.SightOf(c, RecordPolicy).WithSchedules(scheduling.Heads{}).WithCosts(costs).WithSmartTags(r.tagger)
}

// Page returns up to limit resources that match a filter, by UID, from the first one behind after on. UIDs never
// change, so resources that appear or vanish between two pages do not shift the others. The sight of the filter is
// ignored: it is that of the caller.
func (r *RecordReader) Page(ctx context.Context, f inventory.Filter, after string, limit int) ([]Record, error) {
	c, costs := identity.CallerFrom(ctx), pricing.NewCosts(r.table)
	f.Sight = r.SightOf(c, costs)
	found, err := r.inventory.FindResources(ctx, c.Org,
		inventory.List{Filter: f, By: inventory.ByUID, After: after, Limit: limit})
	out := make([]Record, len(found))
	for i := range found {
		out[i] = NewRecord(found[i], costs)
	}
	return out, err
}

// Each calls take with all resources that match a filter, by UID, until take returns false. It reads RecordPageRows of
// them at a time.
func (r *RecordReader) Each(ctx context.Context, f inventory.Filter, take func(*Record) (more bool, err error)) error {
	for after := ""; ; {
		page, err := r.Page(ctx, f, after, RecordPageRows)
		if err != nil {
			return err
		}
		for i := range page {
			if more, err := take(&page[i]); err != nil || !more {
				return err
			}
		}
		if len(page) < RecordPageRows {
			return nil
		}
		after = page[len(page)-1].UID
	}
}
