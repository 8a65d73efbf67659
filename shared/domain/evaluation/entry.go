package evaluation

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// FiringPartition is the log of schedules.
const FiringPartition table.Partition = "ORG#*#FIRING"

// keptEntries is how long the log is kept.
const keptEntries = 90 * 24 * time.Hour

// namedSkips is how many skipped resources an entry names. It counts all of them.
const namedSkips = 50

// The kinds of entries.
const (
	Fired      = "firing"         // a cron was due
	DriftFound = "drift"          // a resource runs that the schedule has stopped
	DriftEnded = "drift_enforced" // it was stopped again
)

// Entry is a line of a schedule's log: the actions of one of its crons at one minute, or a drift.
type Entry struct {
	Kind          string         `json:"kind"`
	ScheduleID    string         `json:"scheduleID"`
	CronID        string         `json:"cronID"`
	Action        cloud.Verb     `json:"action"`
	At            time.Time      `json:"at"`          // the minute at which it was due
	EvaluatedAt   time.Time      `json:"evaluatedAt"` // time of the evaluation; later than At after an outage
	Acted         int            `json:"acted"`       // resources that were asked
	BulkActionIDs []string       `json:"bulkActionIDs,omitempty"`
	Skips         map[string]int `json:"skips,omitempty"` // how many were left out, by reason
	Skipped       []Skipped      `json:"skipped,omitempty"`
}

// Skipped is a resource of an entry that was skipped, with the reason.
type Skipped struct {
	ResourceID  string            `json:"resourceID"`
	ResourceUID string            `json:"resourceUID"`
	Reason      scheduling.Reason `json:"reason"`
	Detail      string            `json:"detail"`
}

// entry returns the line of a firing.
func (p *plan) entry(f scheduling.Firing) *Entry {
	k := entryKey{f.Timetable.Schedule.ID, f.Cron.ID, f.At.Unix() / 60}
	e := p.entries[k]
	if e == nil {
		e = &Entry{Kind: Fired, ScheduleID: k.scheduleID, CronID: k.cronID, Action: f.Cron.Action, At: f.At}
		p.entries[k] = e
	}
	return e
}

// skip counts a skipped resource, and names it if there is room.
func (e *Entry) skip(s *subject, why scheduling.Skip) {
	if e.Skips == nil {
		e.Skips = map[string]int{}
	}
	e.Skips[string(why.Reason)]++
	if len(e.Skipped) < namedSkips {
		e.Skipped = append(e.Skipped, Skipped{s.ResourceID, s.UID, why.Reason, why.Detail})
	}
}

// kept returns the log lines of the plan, oldest first: for each cron the lines with actions, and the last line. Lines
// of caught-up firings that were all superseded are left out, because there may be one for each minute of a day.
func (p *plan) kept(at time.Time) []Entry {
	last := map[entryKey]int64{}
	for k := range p.entries {
		cron := entryKey{k.scheduleID, k.cronID, 0}
		last[cron] = max(last[cron], k.minute)
	}
	var out []Entry
	for k, e := range maps.All(p.entries) {
		if e.Acted > 0 || k.minute == last[entryKey{k.scheduleID, k.cronID, 0}] {
			e.EvaluatedAt = at
			out = append(out, *e)
		}
	}
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.sk(), b.sk()) })
	return out
}

// sk returns the sort key of the entry. The entries of a schedule are adjacent, oldest first.
func (e Entry) sk() string {
	return fmt.Sprintf("%s#%010d#%s#%s", e.ScheduleID, e.At.Unix()/60, e.CronID, e.Kind)
}

// item returns the item of the entry.
func (e Entry) item(org string) (table.Item, error) {
	it, err := table.NewItem(table.Key{PK: FiringPK(org), SK: e.sk()}, e)
	it.Expires = e.EvaluatedAt.Add(keptEntries)
	return it, err
}

// FiringPK returns the partition of an organization's log.
func FiringPK(org string) string { return table.OrgPK(org) + "FIRING" }

// EntriesOf returns the query for the log of a schedule, newest first.
func EntriesOf(org, scheduleID string) table.Query {
	return table.Query{PK: FiringPK(org), From: scheduleID + "#", To: scheduleID + "#~", Reverse: true}
}
