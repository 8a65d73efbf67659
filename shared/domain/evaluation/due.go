// Package evaluation decides what schedules and overrides want done now, and has it done once: the list of organizations that are due
// at which minute, what is to be done in one of them, and the log of what was done and what was skipped.
package evaluation

import (
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

// NoteDue returns the write that has the organization be looked at in the minute of at. It is unconditional and may be repeated. It belongs
// into every transaction that makes something due, or due earlier: a schedule, an attachment, a calendar, an override.
func NoteDue(org string, at time.Time) (table.Write, error) {
	minute := MinuteOf(at)
	it, err := table.NewItem(DueKey(org, minute), Due{org, minute})
	return table.Put(it), err
}

// untilOf is the sort key behind all that is due at the minute or before.
func untilOf(minute int64) string { return fmt.Sprintf("%010d#~", minute) }
