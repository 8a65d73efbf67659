// Package scheduling decides which state schedules want for resources, and when. It evaluates cron expressions in a
// zone, calendars of holidays and freezes, and the result of a firing on a resource. A preview and the evaluator call
// the same functions (Timetable.Firings, Decide, Wanted), which read neither the store nor the clock. Store keeps
// schedules, their attachments and calendars. Heads gives the inventory the resources of each schedule.
//
// EventHolds lists the targets that event readiness plans hold: from before the first call that raises the capacity
// of a target until its last restore. The list is one item per organisation with one field per target, so a caller
// reads it in the same round trip as the accounts, resources or overrides that it reads anyway.
// docs/decisions/048-event-holds.md explains the rule.
package scheduling

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// Bounds of schedules and calendars.
const (
	MaxSchedules   = 500    // of an organization
	MaxCalendars   = 100    // of an organization
	MaxCrons       = 50     // of a schedule
	MaxCalendarIDs = 10     // of a schedule
	MaxAttachments = 10_000 // of a schedule
	MaxGroups      = 100    // attached to a schedule
	MaxOfTarget    = 20     // schedules of a resource or a group
	MaxEntries     = 500    // of a calendar
	MaxICalendar   = 64_000 // bytes of a calendar's iCalendar text
	MaxGrace       = 1440   // minutes until a drift is enforced
)

// The values of Schedule.Drift: the reaction when a person or program starts or stops a resource outside of the
// schedule.
const (
	ReportDrift  = "report"
	EnforceDrift = "enforce"
)

// Schedule is a set of crons in a zone, as it is stored.
type Schedule struct {
	ID           string     `json:"id"` // sch_…
	Name         string     `json:"name"`
	Description  string     `json:"description,omitempty"`
	Timezone     string     `json:"timezone"` // IANA
	Crons        []CronLine `json:"crons"`
	CalendarIDs  []string   `json:"calendarIDs,omitempty"`
	Enabled      bool       `json:"enabled"`
	Preset       string     `json:"preset,omitempty"` // the preset that it was made from
	Tagged       bool       `json:"tagged"`           // it takes the resources whose tag ScheduleTag names it
	Drift        string     `json:"drift"`            // ReportDrift, EnforceDrift
	GraceMinutes int        `json:"graceMinutes"`     // until a drift is enforced
	// the number of its attachment rows; stored in the field attachments, which each attachment updates
	Attachments int64 `json:"-"`
	Generation  int64 `json:"generation"` // incremented by each change, except of attachments
	Deleting    bool  `json:"deleting,omitempty"`
	// the email address of its maker; empty in rows older than this field
	CreatedBy string    `json:"createdBy,omitempty"`
	Maker     string    `json:"maker,omitempty"` // the ID of the user who made it
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// CronLine is one cron of a schedule.
type CronLine struct {
	ID         string     `json:"id"` // cron_…
	Expression string     `json:"cronExpression"`
	Action     cloud.Verb `json:"action"`
}

// Effect is how a calendar limits the firings of its days.
type Effect string

// The effects.
const (
	StayStopped Effect = "stay_stopped" // no start
	StayRunning Effect = "stay_running" // no stop
	NoAction    Effect = "no_action"    // neither
)

// blocks reports whether the effect prevents a firing with the verb v.
func (e Effect) blocks(v cloud.Verb) bool {
	return e == NoAction || e == StayStopped && v == cloud.Start || e == StayRunning && v == cloud.Stop
}

// Calendar is a list of holidays and freeze windows, as it is stored.
type Calendar struct {
	ID          string  `json:"id"` // cal_…
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Effect      Effect  `json:"effect"`
	Timezone    string  `json:"timezone,omitempty"` // IANA; empty means the zone of the schedule
	Entries     []Entry `json:"entries,omitempty"`
	ICalendar   string  `json:"iCalendar,omitempty"`
	// how often it was added to a schedule, stored in the field uses; a deletion requires that it has not changed
	Uses       int64     `json:"-"`
	Generation int64     `json:"generation"`
	CreatedAt  time.Time `json:"createdAt"`
	UpdatedAt  time.Time `json:"updatedAt"`
}

// Entry is a day, a range of days or a window of a calendar, in local time. From and To are both dates (2026-12-24),
// and then To is the last day, or both times (2026-12-24T18:00), and then To is exclusive. Without To the entry is
// one day. With Yearly it repeats every year from then on.
type Entry struct {
	Name   string `json:"name,omitempty"`
	From   string `json:"from"`
	To     string `json:"to,omitempty"`
	Yearly bool   `json:"yearly,omitempty"`
}

// Span is the time from From, inclusive, to To, exclusive.
type Span struct {
	From, To time.Time
}

// has reports whether t lies in the span.
func (s Span) has(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }
