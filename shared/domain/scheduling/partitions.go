package scheduling

import (
	"crypto/rand"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// The partitions of schedules. Which schedules a resource or a group is attached to stands in
// inventory.AttachedPartition, and what readers of resources must know of a schedule in its head in
// inventory.IndexPartition.
const (
	SchedulePartition     table.Partition = "ORG#*#SCHED"
	ScheduleNamePartition table.Partition = "ORG#*#SCHEDNAME"
	AttachmentPartition   table.Partition = "ORG#*#SCHED#*" // one for each schedule
	CalendarPartition     table.Partition = "ORG#*#CALENDAR"
	CalendarNamePartition table.Partition = "ORG#*#CALENDARNAME"
	DuePartition          table.Partition = DuePrefix + "*"
)

// Access is what who reads schedules, with their attachments and calendars, needs to read.
func Access() table.Access {
	return table.Access{Reads: []table.Partition{
		SchedulePartition, AttachmentPartition, CalendarPartition,
		inventory.AttachedPartition, inventory.IndexPartition, inventory.ChunkPartition,
	}}
}

// ScheduleKey returns where a schedule is stored.
func ScheduleKey(org, scheduleID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SCHED", SK: scheduleID}
}

// AttachmentKey returns where the attachment of a resource or a group to a schedule is stored. The rows of a schedule
// are a partition, so that the few schedules that are due are read, and nothing of others.
func AttachmentKey(org, scheduleID, targetID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SCHED#" + scheduleID, SK: targetID}
}

// CalendarKey returns where a calendar is stored.
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

// DuePrefix begins the partition keys of the list of minutes at which something may be due in organizations. A
// transaction of an organization that writes to it runs in table.Within(ctx, DuePrefix).
const DuePrefix = "SCHEDDUE#"

// DueShards is how many partitions that list is spread over, by organization.
const DueShards = 16

// Due says that at a minute something is to be done about the schedules (or overrides) of an organization. It is a
// hint: who finds it looks at what is due, and puts a hint for the next minute that it finds before it deletes the
// ones that it has done. So a change of a schedule adds one without knowing the others, no row is written by all, and
// one too many does no harm.
type Due struct {
	Org    string    `json:"org"`
	Minute time.Time `json:"minute"`
	// of the write: a hint that was put anew meanwhile is not taken away by who has looked at the old one
	Nonce string `json:"nonce"`
	// when the organization was due first whose evaluation fails since; zero when it does not
	Since time.Time `json:"since,omitzero"`
}

// FirstDue returns the minute at which an organization was due first: of a hint that was postponed, that of the hints
// before it.
func (d Due) FirstDue() time.Time {
	if d.Since.IsZero() {
		return d.Minute
	}
	return d.Since
}

// DuePK returns the partition of a shard of the list. Its sort keys begin with the minute: what is due now is a range,
// from the beginning up to DueUpTo.
func DuePK(shard int) string { return dueSpread.PKs()[shard] }

var dueSpread = table.Spread{PK: strings.TrimSuffix(DuePrefix, "#"), Shards: DueShards}

// minuteForm sorts as time does.
const minuteForm = "2006-01-02T15:04Z"

// DueKey returns where an organization is listed for a minute.
func DueKey(org string, minute time.Time) table.Key {
	pk := dueSpread.Key(org).PK
	return table.Key{PK: pk, SK: minute.UTC().Format(minuteForm) + "#" + org}
}

// DueUpTo returns the sort key before which, in each shard, everything that is due at a time is listed.
func DueUpTo(now time.Time) string { return now.UTC().Format(minuteForm) + "$" } // $ follows #

// AddDue returns the write that lists an organization for a minute. It is unconditional and may be repeated.
func AddDue(org string, minute time.Time) (table.Write, error) {
	return PostponeDue(org, minute, time.Time{})
}

// PostponeDue returns the write that lists an organization whose evaluation fails for a later minute; since is when it
// was due first.
func PostponeDue(org string, minute, since time.Time) (table.Write, error) {
	it, err := table.NewItem(DueKey(org, minute), Due{Org: org, Minute: minute.UTC(), Nonce: rand.Text(), Since: since})
	return table.Put(it), err
}
