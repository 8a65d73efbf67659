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

// Shard is what is known of the use of the resources of a shard, by native id.
type Shard struct {
	Histories map[string]History
	Confirmed map[string]Confirmed // the newest of each resource
}

// Use is what is known of the use of a resource.
type Use struct {
	History   History
	Confirmed Confirmed
}

// Of returns what is known of a resource.
func (s *Shard) Of(uid string) Use { return Use{s.Histories[uid], s.Confirmed[uid]} }

// ReadShard returns the measurements of all resources of a shard on the days from up to until, inclusive, and the
// confirmed metrics. It takes a round trip per megabyte of the shard.
func (s *Store) ReadShard(ctx context.Context, org string, shard int, from, until time.Time) (Shard, error) {
	q := table.Query{PK: PKs(org)[shard], From: accountPrefix, To: accountPrefix + "~", Limit: perPage}
	out := Shard{map[string]History{}, map[string]Confirmed{}}
	first, last := DayOf(from), DayOf(until)
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return out, fmt.Errorf("read shard %d of the measurements: %w", shard, err)
		}
		for _, it := range page.Items {
			_, rest, _ := strings.Cut(it.SK, "#")
			switch day, _, _ := strings.Cut(rest, "#"); {
			case day == confirmedMark:
				err = out.addConfirmed(it)
			case day >= first && day <= last:
				err = addAll(out.Histories, it, day)
			}
			if err != nil {
				return out, err
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out, nil
		}
	}
}

// addConfirmed adds the confirmations of an item. Items come in the order of their days.
func (s *Shard) addConfirmed(it table.Item) error {
	c, err := table.Decode[confirmations](it)
	for _, one := range c.All {
		s.Confirmed[one.UID] = one
	}
	return err
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
