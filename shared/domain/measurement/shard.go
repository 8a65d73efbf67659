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

// ReadShard returns the measurements of the wanted resources of a shard, and their confirmed metrics. It takes a round
// trip per megabyte of the shard.
func (s *Store) ReadShard(ctx context.Context, org string, of ShardDays) (*Shard, error) {
	q := table.Query{PK: PKs(org)[of.Shard], From: accountPrefix, To: accountPrefix + "~", Limit: perPage}
	out := newShard(of.UIDs)
	first, last := DayOf(of.From), DayOf(of.Until)
	var b block
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return nil, fmt.Errorf("read shard %d of the measurements: %w", of.Shard, err)
		}
		for _, it := range page.Items {
			_, rest, _ := strings.Cut(it.SK, "#")
			switch day, _, _ := strings.Cut(rest, "#"); {
			case day == confirmedMark:
				err = out.addConfirmed(it)
			case day >= first && day <= last:
				if err = b.read(it); err == nil {
					out.addDay(day, &b)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}
