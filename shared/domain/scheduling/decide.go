package scheduling

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
)

// Reason is why a firing does not act.
type Reason string

// The reasons. Acts means that the firing acts.
const (
	Acts             Reason = ""
	Disabled         Reason = "disabled"             // the schedule is not enabled
	ClosedByCalendar Reason = "calendar"             // a calendar of the schedule keeps it from acting
	ReadOnlyAccount  Reason = "read_only_account"    // the account may never be acted on
	Disconnected     Reason = "disconnected_account" // the account's connection does not work any more
	Unschedulable    Reason = "unschedulable"        // the resource cannot be started and stopped
	HeldByEvent      Reason = "event"                // an active event readiness plan holds the resource
	Overridden       Reason = "override"             // an override holds the resource
	OverrideEnded    Reason = "override_ended"       // the override behind the order no longer holds the resource
	Contradicted     Reason = "contradiction"        // a start of the same minute wins over this stop
)

// Skip is why a firing does not act: a reason code and a sentence. The zero Skip means that it acts.
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

// Wants returns the verb that the override orders.
func (o Override) Wants() cloud.Verb {
	if o.Action == ForceOn {
		return cloud.Start
	}
	return cloud.Stop
}

// Event is the time during which an event readiness plan holds a resource against overrides, calendars and schedules.
type Event struct {
	PlanID string // evt_…
	Span
	Now bool // the plan holds it now; it then blocks firings of every minute that are carried out now
}

// Subject is the state of a resource that Decide and MayAct depend on.
type Subject struct {
	ReadOnly      bool   // its account is read_only
	Disconnected  string // why its account's connection does not work; empty when it is connected
	Unschedulable string // why it cannot be started and stopped; empty when it can
	Overrides     []Override
	Events        []Event
}

// Decide returns a Skip for each firing, in the order of firings. The firings are those of one minute, of all
// schedules of the resource. A firing that was due before now is judged at now, the moment of the act. A preview
// passes the zero now. The firings that act all have the same verb.
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
			out[i] = Skip{
				Contradicted,
				fmt.Sprintf("schedule %s starts it in the same minute, and a start wins over a stop", starts),
			}
		}
	}
	return out
}

// skip returns why a firing does not act; it ignores other firings. A firing that a calendar closed at its own minute
// is not made up for later.
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

// EventAt returns the event readiness plan that holds the resource at a time, or now.
func (s *Subject) EventAt(at time.Time) (Event, bool) {
	for _, e := range s.Events {
		if e.Now || e.has(at) {
			return e, true
		}
	}
	return Event{}, false
}

// Want is the action that the schedules of a resource want at a time: the action of the last firing that acted.
type Want struct {
	Firing
	Lasting bool // the want holds until the next firing; false when the schedules only start or only stop
}

// Wanted returns the action that the attached schedules want at a time, without regard to overrides. It returns false
// when they want nothing. The latest firing counts; if a start and a stop fall in one minute, the start counts.
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

// holds reports whether the schedules together both start and stop, so that they want a state at all times.
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
