package scheduling

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"
)

// event is an event of an iCalendar text, in local time.
type event struct {
	name     string
	uid      string
	sequence int // its revision (SEQUENCE)
	start    stamp
	span     localSpan
	// its length when its end is in another zone than its start; 0 means the length of span in local time
	exact     time.Duration
	rule      *rrule.RRule // nil: it does not repeat
	extra     []stamp      // RDATE
	not       []stamp      // EXDATE, and the instances that other events replace
	instance  *stamp       // RECURRENCE-ID: the instance of another event of the same uid that this one replaces
	cancelled bool
}

// stamp is a date or a time as it is written in the text: the local time as if it were UTC, and its zone. A nil zone
// means the zone of its event, or of the calendar.
type stamp struct {
	at  time.Time
	loc *time.Location
	day bool
}

// in converts the stamp to the local time of a zone, as if that were UTC.
func (s stamp) in(loc *time.Location) time.Time {
	if s.day || s.loc == nil || s.loc.String() == loc.String() {
		return s.at
	}
	w := wallOf(wallOf(s.at, time.UTC).instant(s.loc), loc)
	return time.Unix(int64(w)*60+int64(s.at.Second()), 0).UTC()
}

// propError is an invalid or unsupported property of an event.
type propError struct {
	prop string
	nth  int // index among the properties of that name
	text string
}

// Error returns the description of the error.
func (e *propError) Error() string { return e.text }

func wrongProp(prop string, nth int, format string, args ...any) error {
	return &propError{prop, nth, fmt.Sprintf(format, args...)}
}

// eventReader reads one event.
type eventReader struct {
	from   *ical.Event
	strict bool
	event
}

// refuse returns the error for an unsupported property, or nil when the reader is not strict.
func (r *eventReader) refuse(prop string, nth int, format string, args ...any) error {
	if !r.strict {
		return nil
	}
	return wrongProp(prop, nth, format, args...)
}

func (r *eventReader) read() (event, error) {
	r.name, _ = r.from.Props.Text(ical.PropSummary)
	r.uid, _ = r.from.Props.Text(ical.PropUID)
	if p := r.from.Props.Get(ical.PropSequence); p != nil {
		r.sequence, _ = p.Int()
	}
	if p := r.from.Props.Get(ical.PropStatus); p != nil {
		r.cancelled = strings.EqualFold(strings.TrimSpace(p.Value), "CANCELLED")
	}
	for _, step := range []func() error{r.readStart, r.readEnd, r.readInstance, r.readLists, r.readRule} {
		if err := step(); err != nil {
			return r.event, err
		}
	}
	return r.event, nil
}

func (r *eventReader) readStart() error {
	p := r.from.Props.Get(ical.PropDateTimeStart)
	if p == nil {
		return errors.New("it has no DTSTART")
	}
	var err error
	if r.start, err = readStamp(*p, p.Value, 0); err != nil {
		return err
	}
	if r.start.at.Year() < firstEvent {
		return wrongProp(p.Name, 0, "DTSTART %.20s is before the year %d", p.Value, firstEvent)
	}
	return nil
}

// readStamp parses a date or a time of the nth property of its name.
func readStamp(p ical.Prop, value string, nth int) (s stamp, err error) {
	if s.at, err = time.Parse("20060102", value); err == nil {
		s.day = true
		return s, nil
	}
	if s.at, err = time.Parse("20060102T150405Z", value); err == nil {
		s.loc = time.UTC
		return s, nil
	}
	if s.at, err = time.Parse("20060102T150405", value); err != nil {
		return s, wrongProp(
			p.Name, nth, "%s %.30q is no date like 20261224 and no time like 20261224T180000", p.Name, value)
	}
	if name := p.Params.Get(ical.PropTimezoneID); name != "" {
		if s.loc, err = time.LoadLocation(name); err != nil {
			return s, wrongProp(p.Name, nth, "%s names the zone %.60q, which is no IANA name", p.Name, name)
		}
	}
	return s, nil
}

// readEnd computes the length of the event from DTEND or DURATION.
func (r *eventReader) readEnd() error {
	length := time.Duration(0)
	if r.start.day {
		length = 24 * time.Hour
	}
	switch end, dur := r.from.Props.Get(ical.PropDateTimeEnd), r.from.Props.Get(ical.PropDuration); {
	case end != nil:
		var err error
		if length, err = r.lengthUntil(end); err != nil {
			return err
		}
	case dur != nil:
		d, err := dur.Duration()
		if err != nil {
			return wrongProp(ical.PropDuration, 0, "DURATION %.30q is none", dur.Value)
		}
		length = d
	}
	if length <= 0 || length > maxEntryDays*24*time.Hour {
		return wrongProp(ical.PropDateTimeEnd, 0, "it lasts %s; an event lasts more than nothing and at most %d days",
			length, maxEntryDays)
	}
	r.span.from = wallOf(r.start.at, time.UTC)
	r.span.to = r.span.from + wall(length/time.Minute)
	return nil
}

// lengthUntil returns the length of the event in local time, or its exact length when its end is in another zone than
// its start. An end without a zone is in the zone of the start.
func (r *eventReader) lengthUntil(p *ical.Prop) (time.Duration, error) {
	end, err := readStamp(*p, p.Value, 0)
	if err != nil {
		return 0, err
	}
	onClock := end.at.Sub(r.start.at)
	switch {
	case end.day != r.start.day:
		return onClock, r.refuse(p.Name, 0, "DTEND %.20q and DTSTART are not both dates, or both times", p.Value)
	case end.loc == nil || r.start.loc != nil && end.loc.String() == r.start.loc.String():
		return onClock, nil
	case r.start.loc == nil:
		return onClock, r.refuse(p.Name, 0, "DTEND %.20q is in the zone %s, and DTSTART names none; give both a "+
			"zone, or none", p.Value, end.loc)
	}
	exact := wallOf(end.at, time.UTC).instant(end.loc).Sub(wallOf(r.start.at, time.UTC).instant(r.start.loc))
	if exact <= 0 && !r.strict {
		return onClock, nil
	}
	r.exact = exact
	return exact, nil
}

// readInstance parses RECURRENCE-ID: the instance of a repeating event that this event replaces.
func (r *eventReader) readInstance() error {
	p := r.from.Props.Get(ical.PropRecurrenceID)
	if p == nil {
		return nil
	}
	at, err := readStamp(*p, p.Value, 0)
	switch {
	case err != nil && !r.strict:
		return nil
	case err != nil:
		return err
	case r.uid == "":
		return r.refuse(p.Name, 0,
			"RECURRENCE-ID %.20q names an instance, but the event has no UID that says of which event", p.Value)
	}
	r.instance = &at
	if p.Params.Get(ical.ParamRange) != "" {
		return r.refuse(p.Name, 0,
			"RECURRENCE-ID with RANGE is not supported; end the series before (UNTIL), and send a new one from there")
	}
	return nil
}

// readLists parses the added times (RDATE) and the excluded times (EXDATE) of the event.
func (r *eventReader) readLists() error {
	if len(r.from.Props["EXRULE"]) > 0 {
		if err := r.refuse("EXRULE", 0,
			"EXRULE is not supported, RFC 5545 has removed it; list the days as EXDATE"); err != nil {
			return err
		}
	}
	var err error
	if r.not, err = r.listStamps(ical.PropExceptionDates); err != nil {
		return err
	}
	r.extra, err = r.listStamps(ical.PropRecurrenceDates)
	return err
}

// listStamps parses the times of all properties with a name.
func (r *eventReader) listStamps(name string) ([]stamp, error) {
	var out []stamp
	for i, p := range r.from.Props[name] {
		for value := range strings.SplitSeq(p.Value, ",") {
			s, err := readStamp(p, value, i)
			if err != nil {
				return nil, err
			}
			if s.day != r.start.day {
				if err = r.refuse(name, i, "%s %.20q and DTSTART are not both dates, or both times", name,
					value); err != nil {
					return nil, err
				}
			}
			out = append(out, s)
		}
	}
	if len(out) > maxListed {
		return nil, wrongProp(name, 0, "%s lists %d times; at most %d", name, len(out), maxListed)
	}
	return out, nil
}

// readRule parses RRULE, the repetition of the event.
func (r *eventReader) readRule() error {
	p := r.from.Props.Get(ical.PropRecurrenceRule)
	if p == nil {
		return nil
	}
	if r.instance != nil {
		return r.refuse(p.Name, 0,
			"RRULE in an event with RECURRENCE-ID is not supported; give the new series a UID of its own")
	}
	opt, err := rrule.StrToROption(p.Value)
	if err != nil {
		return wrongProp(p.Name, 0, "RRULE %.60q: %s", p.Value, err)
	}
	if opt.Freq > rrule.DAILY || len(opt.Byhour)+len(opt.Byminute)+len(opt.Bysecond) > 0 {
		return wrongProp(p.Name, 0, "RRULE %.60q: an event repeats by days, weeks, months or years", p.Value)
	}
	if r.start.loc != nil && strings.Contains(p.Value, "Z") && !opt.Until.IsZero() {
		opt.Until = stamp{at: opt.Until, loc: time.UTC}.in(r.start.loc)
	}
	opt.Dtstart = r.start.at
	if r.rule, err = rrule.NewRRule(*opt); err != nil {
		return wrongProp(p.Name, 0, "RRULE %.60q: %s", p.Value, err)
	}
	if _, some := r.rule.Iterator()(); !some {
		return wrongProp(p.Name, 0, "RRULE %.60q: it never happens", p.Value)
	}
	return nil
}

// spans returns the spans of the event that overlap horizon.
func (e event) spans(loc *time.Location, horizon Span) []Span {
	if e.start.loc != nil {
		loc = e.start.loc
	}
	set := e.set(loc)
	length := e.span.to - e.span.from
	first := horizon.From.Add(-time.Duration(length)*time.Minute - 48*time.Hour)
	var out []Span
	for _, t := range set.Between(first, horizon.To.Add(48*time.Hour), true) {
		from := wallOf(t, time.UTC)
		s := Span{from.instant(loc), (from + length).instant(loc)}
		if e.exact > 0 {
			s.To = s.From.Add(e.exact)
		}
		if s.From.Before(horizon.To) && s.To.After(horizon.From) {
			out = append(out, s)
		}
	}
	return out
}

// set returns the start times of the event in the local time of its zone.
func (e event) set(loc *time.Location) *rrule.Set {
	set := &rrule.Set{}
	if e.rule != nil {
		set.RRule(e.rule)
	} else {
		set.RDate(e.start.at)
	}
	for _, s := range e.extra {
		set.RDate(s.in(loc))
	}
	for _, s := range e.not {
		set.ExDate(s.in(loc))
	}
	return set
}
