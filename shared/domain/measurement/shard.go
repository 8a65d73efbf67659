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

// ShardDays names measurements of a shard on the days From up to Until, inclusive.
type ShardDays struct {
	Shard       int
	From, Until time.Time
	UIDs        []string // the native ids of the wanted resources
}

// ReadShard reads the measurements and the confirmed metrics of the wanted resources of a shard into out, and removes
// the former ones. It takes a round trip per megabyte of the shard. After an error, out holds a part of them.
func (s *Store) ReadShard(ctx context.Context, org string, of ShardDays, out *Shard) error {
	q := table.Query{PK: PKs(org)[of.Shard], From: accountPrefix, To: accountPrefix + "~", Limit: perPage}
	out.reset(of.UIDs)
	first, last := DayOf(of.From), DayOf(of.Until)
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return fmt.Errorf("read shard %d of the measurements: %w", of.Shard, err)
		}
		for _, it := range page.Items {
			_, rest, _ := strings.Cut(it.SK, "#")
			switch day, _, _ := strings.Cut(rest, "#"); {
			case day == confirmedMark:
				err = out.addConfirmed(it)
			case day >= first && day <= last:
				if err = out.block.read(it); err == nil {
					out.addDay(day)
				}
			}
			if err != nil {
				return err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}
