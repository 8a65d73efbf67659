// Package evaluation decides what schedules and overrides want done now, and has it done once: the list of organizations that are due
// at which minute, what is to be done in one of them, and the log of what was done and what was skipped.
package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// Shards is how many partitions the list of what is due is spread over, by organization.
const Shards = 8

// DuePrefix begins the partition keys of the list; an organization's transaction that writes one runs in
// table.Within(ctx, evaluation.DuePrefix).
const DuePrefix = "EVALUATE#"

// DuePartition is of the shards of the list.
const DuePartition table.Partition = DuePrefix + "*"

// Due is an organization of which something is due at a minute: a cron of a schedule, the end of an override, a look at drift. It only
// says when to look: what is due is decided by who looks, and a row too many does no harm.
type Due struct {
	Org    string `json:"org"`
	Minute int64  `json:"minute"` // since 1970
	By     string `json:"by"`     // what made it due last: a row that was written anew meanwhile is not taken away
}

// DuePK returns the partition of a shard, what is due first in front.
func DuePK(shard int) string { return fmt.Sprintf("%s%02d", DuePrefix, shard) }

// DueKey returns where it is listed that the organization is due at the minute.
func DueKey(org string, minute int64) table.Key {
	return table.Key{PK: DuePK(table.ShardOf(org, Shards)), SK: fmt.Sprintf("%010d#%s", minute, org)}
}

// MinuteOf returns the minute in which something of the time at is due: the first one that begins at it or after it.
func MinuteOf(at time.Time) int64 {
	return int64(at.Add(time.Minute-time.Nanosecond).Truncate(time.Minute).Unix() / 60)
}

// NoteDue returns the write that has the organization be looked at in the minute of at, because of by: an id that no other change has. It
// is unconditional and may be repeated. It belongs into every transaction that makes something due, or due earlier: a schedule, an
// attachment, a calendar, an override.
func NoteDue(org string, at time.Time, by string) (table.Write, error) {
	minute := MinuteOf(at)
	it, err := table.NewItem(DueKey(org, minute), Due{org, minute, by})
	return table.Put(it), err
}

// untilOf is the sort key behind all that is due at the minute or before.
func untilOf(minute int64) string { return fmt.Sprintf("%010d#~", minute) }

// duePage is how many rows of what is due are read at a time.
const duePage = 1000

// ReadDue reads what of a shard is due at the minute or before, by organization: one round trip where that is little.
func ReadDue(ctx context.Context, s table.Store, shard int, minute int64) (map[string][]Due, error) {
	ctx, out := table.Within(ctx, DuePrefix), map[string][]Due{}
	for q := (table.Query{PK: DuePK(shard), To: untilOf(minute), Limit: duePage}); ; {
		rows, next, err := table.ReadPage[Due](ctx, s, q)
		if err != nil {
			return out, fmt.Errorf("read what is due: %w", err)
		}
		for _, d := range rows {
			out[d.Org] = append(out[d.Org], d)
		}
		if q.Cursor = next; q.Cursor == "" {
			return out, nil
		}
	}
}

// forget takes rows off the list that were looked at, unless they were written anew meanwhile.
func (s *Store) forget(ctx context.Context, rows []Due) error {
	for _, d := range rows {
		_, err := s.p.Table.Write(within(ctx), table.Delete(DueKey(d.Org, d.Minute), table.Any(table.Absent(), table.Equal("by", d.By))))
		if _, anew := errors.AsType[*table.ConditionError](err); err != nil && !anew {
			return fmt.Errorf("note that %s was looked at: %w", d.Org, err)
		}
	}
	return nil
}
