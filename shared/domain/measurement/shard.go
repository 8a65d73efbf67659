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

// ShardDays names measurements of a shard on the days From up to Until, inclusive.
type ShardDays struct {
	Shard       int
	From, Until time.Time
	Only        func(uid string) bool // reports whether a resource is wanted; nil: all are
}

// wants reports whether a resource is wanted.
func (d *ShardDays) wants(uid string) bool { return d.Only == nil || d.Only(uid) }

// ReadShard returns the measurements of the wanted resources of a shard, and their confirmed metrics. It takes a round
// trip per megabyte of the shard.
func (s *Store) ReadShard(ctx context.Context, org string, of ShardDays) (Shard, error) {
	q := table.Query{PK: PKs(org)[of.Shard], From: accountPrefix, To: accountPrefix + "~", Limit: perPage}
	out := Shard{map[string]History{}, map[string]Confirmed{}}
	first, last := DayOf(of.From), DayOf(of.Until)
	for {
		page, err := s.table.Query(table.Eventually(ctx), q)
		if err != nil {
			return out, fmt.Errorf("read shard %d of the measurements: %w", of.Shard, err)
		}
		for _, it := range page.Items {
			_, rest, _ := strings.Cut(it.SK, "#")
			switch day, _, _ := strings.Cut(rest, "#"); {
			case day == confirmedMark:
				err = out.addConfirmed(it, &of)
			case day >= first && day <= last:
				err = out.addDay(it, day, &of)
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
func (s *Shard) addConfirmed(it table.Item, of *ShardDays) error {
	c, err := table.Decode[confirmations](it)
	for _, one := range c.All {
		if of.wants(one.UID) {
			s.Confirmed[one.UID] = one
		}
	}
	return err
}

// addDay adds the wanted series of an item, which are of a day, to the histories of their resources.
func (s *Shard) addDay(it table.Item, day string, of *ShardDays) error {
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
		if !of.wants(one.UID) {
			continue
		}
		h := s.Histories[one.UID]
		if h == nil {
			h = History{}
			s.Histories[one.UID] = h
		}
		if h[one.Measure] == nil {
			h[one.Measure] = map[string][hours]float32{}
		}
		h[one.Measure][day] = one.Hours
	}
	return nil
}
