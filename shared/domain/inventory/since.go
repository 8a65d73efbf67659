package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// update is a record whose content has changed, and whether its status has.
type update struct {
	uid   string
	moved bool
}

// writeUpdates makes the writes of whole records. Records with a fact that says since when a state lasts are read
// before, a hundred per round trip: the stored record may know the time.
func (s *Store) writeUpdates(ctx context.Context, u *upsert) error {
	var keys []table.Key
	for _, up := range u.updates {
		if u.records[up.uid].Facts.TellSince() {
			keys = append(keys, ResourceKey(u.org, up.uid))
		}
	}
	before := map[table.Key]table.Item{}
	if len(keys) > 0 {
		var err error
		if before, err = s.table.BatchGet(ctx, keys...); err != nil {
			return fmt.Errorf("read facts of %d resources of %s: %w", len(keys), u.org, err)
		}
	}
	for _, up := range u.updates {
		had := Resource{}
		if it, ok := before[ResourceKey(u.org, up.uid)]; ok {
			var err error
			if had, err = table.Decode[Resource](it); err != nil {
				return err
			}
		}
		u.writes = append(u.writes, updateRecord(u.org, markSince(u.records[up.uid], had.Facts), up.moved))
	}
	return nil
}

// markSince returns the record with the times of changes that the service itself observed.
func markSince(rec Resource, earlier cloud.Facts) Resource {
	rec.Facts = rec.Facts.MarkSince(earlier, rec.LastSeenAt)
	return rec
}
