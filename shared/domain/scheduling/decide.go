package scheduling

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
)

// Reason is why a firing does not act.
type Reason string

// The reasons. Acts is that of a firing that does.
const (
	Acts             Reason = ""
	Disabled         Reason = "disabled"             // the schedule is not enabled
	ClosedByCalendar Reason = "calendar"             // a calendar of the schedule keeps it from acting
	ReadOnlyAccount  Reason = "read_only_account"    // the account may never be acted on
	Disconnected     Reason = "disconnected_account" // nothing opens the account any more
	Unschedulable    Reason = "unschedulable"        // the resource cannot be started and stopped
	HeldByEvent      Reason = "event"                // an active event readiness plan holds the resource
	Overridden       Reason = "override"             // an override holds the resource
	OverrideEnded    Reason = "override_ended"       // the override that asked does not hold the resource any more
	Contradicted     Reason = "contradiction"        // a start of the same minute wins over this stop
)

// Skip is why a firing does not act, in a word and in a sentence; the zero Skip is that of one that does.
type Skip struct {
	Reason Reason
	Detail string
}

// The actions of overrides.
const (
	ForceOn  = "force_on"
	ForceOff = "force_off"
)

// Override holds a resource in a state for a time, against all schedules.
type Override struct {
	ID     string // ovr_…
	Action string // ForceOn, ForceOff
	Span
}

// Wants returns what the override has done.
func (o Override) Wants() cloud.Verb {
	if o.Action == ForceOn {
		return cloud.Start
	}
	return cloud.Stop
}

// Event is the time in which an event readiness plan holds a resource against overrides, calendars and schedules.
type Event struct {
	PlanID string // evt_…
	Span
	Now bool // the plan holds it now, which counts for firings of any minute that are carried out now
}

// Subject is what has to be known of a resource to tell what becomes of firings on it.
type Subject struct {
	ReadOnly      bool   // its account is
	Disconnected  string // why nothing opens its account any more; empty when it is connected
	Unschedulable string // why it cannot be started and stopped; empty when it can
	Overrides     []Override
	Events        []Event
}

// Decide tells what becomes of firings on a resource: those of one minute, of all schedules that it is attached to.
// What was due before now is judged as it stands now, at the moment of the act; a preview has no now, and gives the
// zero time. The answer has the order of the firings. Of those that act any one stands for all: they want the same.
func Decide(s *Subject, firings []Firing, now time.Time) []Skip {
	out := make([]Skip, len(firings))
	starts := ""
	for i := range firings {
		if out[i] = s.skip(&firings[i], now); out[i].Reason == Acts && firings[i].Cron.Action == cloud.Start &&
			starts == "" {
			starts = firings[i].Timetable.Schedule.ID
		}
	}
	if starts == "" {
		return out
	}
	for i := range firings {
		if out[i].Reason == Acts && firings[i].Cron.Action == cloud.Stop {
			out[i] = Skip{Contradicted,
				fmt.Sprintf("schedule %s starts it in the same minute, and a start wins over a stop", starts)}
		}
	}
	return out
}

// skip tells whether a firing acts, other firings aside. What a calendar kept from acting at the firing's own minute
// is not made up for.
func (s *Subject) skip(f *Firing, now time.Time) Skip {
	if f.Skip.Reason != Acts {
		return f.Skip
	}
	in := Intent{Verb: f.Cron.Action, Cause: BySchedule, At: f.At}
	if now.After(f.At) {
		in.At, in.Timetable = now, f.Timetable
	}
	return s.MayAct(in)
}

// EventAt returns the event readiness plan that holds the resource for a firing of a time.
func (s *Subject) EventAt(at time.Time) (Event, bool) {
	for _, e := range s.Events {
		if e.Now || e.has(at) {
			return e, true
		}
	}
	return Event{}, false
}

// Want is what the schedules of a resource want of it at a time: the action of the last firing that acted.
type Want struct {
	Firing
	Lasting bool // until the next firing; false when the schedule leaves what is between its firings to people
}

// Wanted tells what the schedules that a resource is attached to want of it at a time, overrides aside; false when
// they want nothing. The latest firing counts, and of a start and a stop in one minute the start.
func Wanted(at time.Time, attached []*Timetable) (Want, bool) {
	var w Want
	found := false
	for _, t := range attached {
		f, ok := t.Last(at)
		if ok && (!found || f.At.After(
			w.At) || f.At.Equal(w.At) && f.Cron.Action == cloud.Start && w.Cron.Action == cloud.Stop) {
			w.Firing, found = f, true
		}
	}
	w.Lasting = found && holds(attached)
	return w, found
}

// holds reports whether schedules together want something at all times.
func holds(attached []*Timetable) bool {
	var starts, stops bool
	for _, t := range attached {
		for i := range t.lines {
			starts = starts || t.Schedule.Enabled && t.lines[i].Action == cloud.Start
			stops = stops || t.Schedule.Enabled && t.lines[i].Action == cloud.Stop
		}
	}
	return starts && stops
}
