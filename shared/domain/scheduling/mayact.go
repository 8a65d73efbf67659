package scheduling

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/foundation/fault"
)

// This file answers one question: may an order act on a resource now? The evaluator calls it when it decides a
// schedule, a preview calls it for each firing, and the executor calls it right before it calls a provider, that is
// at the beginning of an order and of each of its chunks.
//
// To add a rule: read the state that it needs in ReadStanding, copy it to the resource in Standing.Apply, store it in
// Subject, and append a function to rules. Class covers every field of Subject, so the evaluator decides resources
// separately when a new field differs.

// Cause is the origin of an act.
type Cause int

// The causes.
const (
	BySchedule    Cause = iota // a firing, or the enforcement of drift
	ByOverride                 // the beginning of an override, a wake link too
	ByOverrideEnd              // the end of an override, which restores
	ByHand
)

// Intent is a requested act on a resource at one moment.
type Intent struct {
	Verb      cloud.Verb
	Cause     Cause
	At        time.Time  // of the act; it may be later than the minute at which the act was due
	Timetable *Timetable // of the schedule that made the order; nil without a schedule or calendars
	Force     bool       // an act by hand that ignores overrides
}

// rule returns why an intent is not carried out on a resource, or the zero Skip.
type rule func(*Subject, Intent) Skip

// rules run in this order; the first non-zero Skip wins.
var rules = []rule{checkCalendar, checkAccount, checkSchedulable, checkEvent, checkOverride}

// MayAct returns why the intent is not carried out on the resource, or the zero Skip when it is. It reads neither the
// store nor the clock.
func (s *Subject) MayAct(in Intent) Skip {
	for _, check := range rules {
		if skip := check(s, in); skip.Reason != Acts {
			return skip
		}
	}
	return Skip{}
}

// Class returns a key of the state that MayAct depends on. MayAct returns the same result for all resources of one
// class.
func (s *Subject) Class() string { return fmt.Sprintf("%+v", *s) }

// checkCalendar refuses an intent when a calendar of its schedule blocks it at the moment of the act.
func checkCalendar(_ *Subject, in Intent) Skip {
	if in.Timetable == nil {
		return Skip{}
	}
	if c := in.Timetable.closedBy(in.Verb, in.At); c != nil {
		return Skip{ClosedByCalendar, c.String()}
	}
	return Skip{}
}

func checkAccount(s *Subject, _ Intent) Skip {
	switch {
	case s.ReadOnly:
		return Skip{ReadOnlyAccount, "its cloud account is read_only"}
	case s.Disconnected != "":
		return Skip{Disconnected, s.Disconnected}
	}
	return Skip{}
}

func checkSchedulable(s *Subject, _ Intent) Skip {
	if s.Unschedulable != "" {
		return Skip{Unschedulable, s.Unschedulable}
	}
	return Skip{}
}

// checkEvent refuses an intent of a schedule on a target that an event readiness plan holds. Other intents, with
// their force, are checked against the list of holds when they are made and when each chunk begins
// (execution.LeaveOutEvents).
func checkEvent(s *Subject, in Intent) Skip {
	if in.Cause != BySchedule {
		return Skip{}
	}
	e, held := s.EventAt(in.At)
	if !held {
		return Skip{}
	}
	return Skip{
		HeldByEvent,
		fmt.Sprintf("event readiness plan %s holds it until its restore, due at %s", e.PlanID,
			e.To.UTC().Format(time.RFC3339)),
	}
}

// checkOverride refuses an intent of a schedule on a resource that an override holds. It refuses any other intent
// whose verb is the opposite of the override's, and the order of an override that does not hold the resource any
// more. An act by hand with force ignores overrides.
func checkOverride(s *Subject, in Intent) Skip {
	if in.Force && in.Cause == ByHand {
		return Skip{}
	}
	o, held := s.HeldBy(in.At)
	if !held && in.Cause == ByOverride {
		return Skip{OverrideEnded, "the override that asked for it has ended, or does not hold the resource any more"}
	}
	if !held || in.Cause != BySchedule && o.Wants() == in.Verb {
		return Skip{}
	}
	return Skip{
		Overridden,
		fmt.Sprintf("override %s (%s) holds it until %s", o.ID, o.Action, o.To.UTC().Format(time.RFC3339)),
	}
}

// HeldBy returns the override that holds the resource at a time. If several do, the one that began last wins.
func (s *Subject) HeldBy(at time.Time) (Override, bool) {
	var found Override
	held := false
	for _, o := range s.Overrides {
		if o.has(at) && (!held || o.isNewer(found)) {
			found, held = o, true
		}
	}
	return found, held
}

func (o Override) isNewer(than Override) bool {
	if !o.From.Equal(than.From) {
		return o.From.After(than.From)
	}
	return strings.Compare(o.ID, than.ID) > 0
}

// Standing is the overrides that hold the resources of an organization at one moment.
type Standing struct {
	overrides map[string][]Override // by resource id
}

// IsEmpty reports whether no override holds a resource, so that no resource need be looked up.
func (st Standing) IsEmpty() bool { return len(st.overrides) == 0 }

// Apply sets the overrides of the subject to those on the resource with an ID.
func (st Standing) Apply(resourceID string, s *Subject) { s.Overrides = st.overrides[resourceID] }

// ReadStanding reads the overrides that hold the resources of an organization now. It takes one round trip, and one
// or two more when an override is on a group. An override holds from the moment at which it is listed, even if the
// clock of its writer is ahead.
func (s *Store) ReadStanding(ctx context.Context, org string) (Standing, error) {
	live, err := override.ReadLive(ctx, s.table, org)
	if err != nil {
		return Standing{}, err
	}
	return s.StandingOf(ctx, org, live)
}

// StandingOf returns the resources that live overrides hold now, as far as the overrides' makers may still act. It
// takes up to three round trips when an override is on a group or when a maker's rights are read.
func (s *Store) StandingOf(ctx context.Context, org string, live override.Live) (Standing, error) {
	now := s.clock.Now()
	held := live.At(now)
	st := Standing{overrides: map[string][]Override{}}
	reach, err := override.Reach(ctx, s.inventory, org, held)
	if err != nil {
		return st, fmt.Errorf("read the resources that overrides of %s hold: %w", org, err)
	}
	for _, h := range held {
		o := Override{ID: h.ID, Action: string(h.Action), Span: Span{From: h.Since(), To: h.ExpiresAt}}
		if o.From.After(now) {
			o.From = now
		}
		for _, resourceID := range reach[h.ID] {
			st.add(resourceID, o)
		}
	}
	return st, nil
}

func (st Standing) add(resourceID string, o Override) {
	if resourceID != "" {
		st.overrides[resourceID] = append(st.overrides[resourceID], o)
	}
}

// ReadAsking returns the timetable of the schedule that made an order, with its calendars at the time at. It returns
// nil when the schedule has no calendars or was deleted. It takes one round trip, two with calendars.
func (s *Store) ReadAsking(ctx context.Context, org, scheduleID string, at time.Time) (*Timetable, error) {
	sch, err := s.ReadSchedule(ctx, org, scheduleID)
	if fault.Is(err, fault.NotFound) || err == nil && len(sch.CalendarIDs) == 0 {
		return nil, nil //nolint:nilnil // nothing can keep such a schedule from acting
	}
	if err != nil {
		return nil, err
	}
	calendars, err := s.ReadCalendars(ctx, org, slices.Clone(sch.CalendarIDs)...)
	if err != nil {
		return nil, err
	}
	return NewTimetable(sch, calendars, Span{at.Add(-time.Minute), at.Add(time.Minute)})
}
