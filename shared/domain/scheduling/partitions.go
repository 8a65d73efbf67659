package scheduling

import (
	"crypto/rand"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of schedules. inventory.AttachedPartition holds the schedules of each resource and group.
// inventory.IndexPartition holds the heads of schedules, for readers of resources.
const (
	SchedulePartition     table.Partition = "ORG#*#SCHED"
	ScheduleNamePartition table.Partition = "ORG#*#SCHEDNAME"
	AttachmentPartition   table.Partition = "ORG#*#SCHED#*" // one for each schedule
	CalendarPartition     table.Partition = "ORG#*#CALENDAR"
	CalendarNamePartition table.Partition = "ORG#*#CALENDARNAME"
	DuePartition          table.Partition = DuePrefix + "*"
)

// Access returns the partitions that a function must read to read schedules with their attachments and calendars.
func Access() table.Access {
	return table.Access{Reads: []table.Partition{
		SchedulePartition, AttachmentPartition, CalendarPartition,
		inventory.AttachedPartition, inventory.IndexPartition, inventory.ChunkPartition,
	}}
}

// ScheduleKey returns the key of a schedule.
func ScheduleKey(org, scheduleID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SCHED", SK: scheduleID}
}

// AttachmentKey returns the key of the attachment of a resource or a group to a schedule. Each schedule has its own
// partition, so that the evaluator reads the rows of due schedules only.
func AttachmentKey(org, scheduleID, targetID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SCHED#" + scheduleID, SK: targetID}
}

// CalendarKey returns the key of a calendar.
func CalendarKey(org, calendarID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "CALENDAR", SK: calendarID}
}

// LimitedSchedules returns the schedules of an organization as a list of MaxSchedules at most.
func LimitedSchedules(org string) table.LimitedList {
	return table.LimitedList{PK: scheduleNames(org).PK, Noun: "schedules"}
}

// LimitedCalendars returns the calendars of an organization as a list of MaxCalendars at most.
func LimitedCalendars(org string) table.LimitedList {
	return table.LimitedList{PK: calendarNames(org).PK, Noun: "calendars"}
}

// scheduleNames returns the names of an organization's schedules.
func scheduleNames(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + ScheduleNamePartition.Name(), Noun: "schedule"}
}

// calendarNames returns the names of an organization's calendars.
func calendarNames(org string) table.UniqueNames {
	return table.UniqueNames{PK: table.OrgPK(org) + CalendarNamePartition.Name(), Noun: "calendar"}
}

// DuePrefix begins the partition keys of the due list: the minutes at which schedules of an organization may be due.
// An organization's transaction that writes to the list runs in table.Within(ctx, DuePrefix).
const DuePrefix = "SCHEDDUE#"

// DueShards is the number of partitions of the due list. Organizations are spread over them.
const DueShards = 16

// Due is a hint that schedules or overrides of an organization are due at a minute. The evaluator first does the due
// work, then adds a hint for the next due minute, and then deletes the hints that it has done. So a changed schedule
// adds a hint without reading the others, no row is shared by all writers, and a superfluous hint does no harm.
type Due struct {
	Org    string    `json:"org"`
	Minute time.Time `json:"minute"`
	// differs for each write, so that an evaluator does not delete a hint that was written again meanwhile
	Nonce string `json:"nonce"`
	// when the organization was first due, if its evaluation fails since then; else zero
	Since time.Time `json:"since,omitzero"`
}

// FirstDue returns the minute at which an organization was first due. For a postponed hint it is the minute of the
// original hint.
func (d Due) FirstDue() time.Time {
	if d.Since.IsZero() {
		return d.Minute
	}
	return d.Since
}

// DuePK returns the partition of a shard of the due list. Its sort keys begin with the minute, so the due hints are
// the range from the beginning up to DueUpTo.
func DuePK(shard int) string { return dueSpread.PKs()[shard] }

var dueSpread = table.Spread{PK: strings.TrimSuffix(DuePrefix, "#"), Shards: DueShards}

// minuteForm is a layout whose text order is the time order.
const minuteForm = "2006-01-02T15:04Z"

// DueKey returns the key of an organization's hint for a minute.
func DueKey(org string, minute time.Time) table.Key {
	pk := dueSpread.Key(org).PK
	return table.Key{PK: pk, SK: minute.UTC().Format(minuteForm) + "#" + org}
}

// DueUpTo returns the sort key that follows, in each shard, all hints that are due at a time.
func DueUpTo(now time.Time) string { return now.UTC().Format(minuteForm) + "$" } // $ follows #

// AddDue returns the write that adds an organization's hint for a minute. It is unconditional and idempotent.
func AddDue(org string, minute time.Time) (table.Write, error) {
	return PostponeDue(org, minute, time.Time{})
}

// PostponeDue returns the write that adds a hint for a later minute, for an organization whose evaluation fails.
// since is when the organization was first due.
func PostponeDue(org string, minute, since time.Time) (table.Write, error) {
	it, err := table.NewItem(DueKey(org, minute), Due{Org: org, Minute: minute.UTC(), Nonce: rand.Text(), Since: since})
	return table.Put(it), err
}
