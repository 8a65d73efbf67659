package measurement

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Shards is the number of shards that hold an organization's measurements. A resource is in the shard
// table.ShardOf(uid, Shards).
const Shards = shards

// accountPrefix begins the ids of accounts, and so the sort keys of measurements.
const accountPrefix = "ca_"

// ReadShard returns the measurements of all resources of a shard on the days from up to until, inclusive, by native
// id. It takes a round trip per megabyte of the shard.
func (s *Store) ReadShard(ctx context.Context, org string, shard int, from, until time.Time) (map[string]History,
	error,
) {
	q := table.Query{PK: PKs(org)[shard], From: accountPrefix, To: accountPrefix + "~", Limit: perPage}
	out := map[string]History{}
	first, last := DayOf(from), DayOf(until)
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return nil, fmt.Errorf("read shard %d of the measurements: %w", shard, err)
		}
		for _, it := range page.Items {
			_, rest, _ := strings.Cut(it.SK, "#")
			if day, _, _ := strings.Cut(rest, "#"); day < first || day > last {
				continue
			} else if err = addAll(out, it, day); err != nil {
				return nil, err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// addAll adds the series of an item, which are of a day, to the histories of their resources.
func addAll(to map[string]History, it table.Item, day string) error {
	p, err := table.Decode[packed](it)
	if err != nil {
		return err
	}
	all, err := decode(p.Z)
	if err != nil {
		return fmt.Errorf("%s %s: %w", it.PK, it.SK, err)
	}
	for i := range all {
		one := &all[i]
		h := to[one.UID]
		if h == nil {
			h = History{}
			to[one.UID] = h
		}
		if h[one.Measure] == nil {
			h[one.Measure] = map[string][hours]float32{}
		}
		h[one.Measure][day] = one.Hours
	}
	return nil
}
