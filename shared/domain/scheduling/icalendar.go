package scheduling

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/emersion/go-ical"
	"github.com/teambition/rrule-go"

	"lamplighter.dev/shared/foundation/fault"
)

// Bounds of an iCalendar text.
const (
	maxEvents    = 500
	maxRecurring = 50 // events that repeat
	maxListed    = 500
	firstEvent   = 2000 // the year before which no event begins
)

// event is an event of an iCalendar text, in local time.
type event struct {
	name  string
	loc   *time.Location // nil: that of the calendar
	span  localSpan
	rule  *rrule.RRule // nil: it does not repeat
	extra []time.Time  // RDATE, as if it were UTC
	not   []time.Time  // EXDATE
}

// parseEvents reads the events of an iCalendar text (RFC 5545). The error (fault.Invalid) names the field and what cannot be read.
func parseEvents(field, text string) ([]event, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > MaxICalendar {
		return nil, fault.New(fault.Invalid, "%s: it has %d bytes, at most %d are taken; leave out past events", field, len(text), MaxICalendar)
	}
	found, err := decodeEvents(text)
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "%s: it is no iCalendar text (RFC 5545): %.200s", field, strings.TrimPrefix(err.Error(), "ical: "))
	}
	if len(found) == 0 || len(found) > maxEvents {
		return nil, fault.New(fault.Invalid, "%s: it has %d events (VEVENT); send 1 to %d", field, len(found), maxEvents)
	}
	out := make([]event, len(found))
	recurring := 0
	for i := range found {
		if out[i], err = newEvent(&found[i]); err != nil {
			return nil, fault.New(fault.Invalid, "%s: event %d (%.60s): %s", field, i+1, out[i].name, err)
		}
		if out[i].rule != nil {
			recurring++
		}
	}
	if recurring > maxRecurring {
		return nil, fault.New(fault.Invalid, "%s: %d events repeat; at most %d may", field, recurring, maxRecurring)
	}
	return out, nil
}

// decodeEvents reads all calendars of a text. The library panics at some malformed parameters.
func decodeEvents(text string) (out []ical.Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed: %v", r)
		}
	}()
	for dec := ical.NewDecoder(strings.NewReader(text)); ; {
		c, err := dec.Decode()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, c.Events()...)
	}
}

func newEvent(from *ical.Event) (event, error) {
	var e event
	e.name, _ = from.Props.Text(ical.PropSummary)
	start := from.Props.Get(ical.PropDateTimeStart)
	if start == nil {
		return e, errors.New("it has no DTSTART")
	}
	begin, loc, day, err := readTime(*start, start.Value)
	if err != nil {
		return e, err
	}
	e.loc = loc
	if begin.Year() < firstEvent {
		return e, fmt.Errorf("DTSTART %.20s is before the year %d", start.Value, firstEvent)
	}
	length, err := eventLength(from, begin, day)
	if err != nil {
		return e, err
	}
	e.span.from = wallOf(begin, time.UTC)
	e.span.to = e.span.from + wall(length/time.Minute)
	return e, e.readRecurrence(from, begin)
}

// readTime reads a date or a time of a property as if it were UTC; loc is the zone that it is in, nil when it names none.
func readTime(p ical.Prop, value string) (t time.Time, loc *time.Location, day bool, err error) {
	wrong := fmt.Errorf("%s %.30q is no date like 20261224 and no time like 20261224T180000", p.Name, value)
	if t, err = time.Parse("20060102", value); err == nil {
		return t, nil, true, nil
	}
	if t, err = time.Parse("20060102T150405Z", value); err == nil {
		return t, time.UTC, false, nil
	}
	if t, err = time.Parse("20060102T150405", value); err != nil {
		return t, nil, false, wrong
	}
	if name := p.Params.Get(ical.PropTimezoneID); name != "" {
		if loc, err = time.LoadLocation(name); err != nil {
			return t, nil, false, fmt.Errorf("%s names the zone %.60q, which is no IANA name", p.Name, name)
		}
	}
	return t, loc, false, nil
}

// eventLength returns how long an event is on the clock.
func eventLength(from *ical.Event, begin time.Time, day bool) (time.Duration, error) {
	length := time.Duration(0)
	if day {
		length = 24 * time.Hour
	}
	switch end, dur := from.Props.Get(ical.PropDateTimeEnd), from.Props.Get(ical.PropDuration); {
	case end != nil:
		t, _, _, err := readTime(*end, end.Value)
		if err != nil {
			return 0, err
		}
		length = t.Sub(begin)
	case dur != nil:
		d, err := dur.Duration()
		if err != nil {
			return 0, fmt.Errorf("DURATION %.30q is none", dur.Value)
		}
		length = d
	}
	if length <= 0 || length > maxEntryDays*24*time.Hour {
		return 0, fmt.Errorf("it lasts %s; an event lasts more than nothing and at most %d days", length, maxEntryDays)
	}
	return length, nil
}

func (e *event) readRecurrence(from *ical.Event, begin time.Time) error {
	var err error
	if e.not, err = listTimes(from.Props[ical.PropExceptionDates]); err != nil {
		return err
	}
	if e.extra, err = listTimes(from.Props[ical.PropRecurrenceDates]); err != nil {
		return err
	}
	text := from.Props.Get(ical.PropRecurrenceRule)
	if text == nil {
		return nil
	}
	opt, err := rrule.StrToROption(text.Value)
	if err != nil {
		return fmt.Errorf("RRULE %.60q: %w", text.Value, err)
	}
	if opt.Freq > rrule.DAILY || len(opt.Byhour)+len(opt.Byminute)+len(opt.Bysecond) > 0 {
		return fmt.Errorf("RRULE %.60q: an event repeats by days, weeks, months or years", text.Value)
	}
	if e.loc != nil && strings.Contains(text.Value, "Z") && !opt.Until.IsZero() {
		opt.Until = time.Unix(int64(wallOf(opt.Until, e.loc))*60, 0).UTC()
	}
	opt.Dtstart = begin
	if e.rule, err = rrule.NewRRule(*opt); err != nil {
		return fmt.Errorf("RRULE %.60q: %w", text.Value, err)
	}
	if _, some := e.rule.Iterator()(); !some {
		return fmt.Errorf("RRULE %.60q: it never happens", text.Value)
	}
	return nil
}

// listTimes reads the times of properties that list some.
func listTimes(props []ical.Prop) ([]time.Time, error) {
	var out []time.Time
	for i := range props {
		for value := range strings.SplitSeq(props[i].Value, ",") {
			t, _, _, err := readTime(props[i], value)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	if len(out) > maxListed {
		return nil, fmt.Errorf("%s lists %d times; at most %d", props[0].Name, len(out), maxListed)
	}
	return out, nil
}

// spans returns when the event is, as far as it reaches into a time.
func (e event) spans(loc *time.Location, horizon Span) []Span {
	if e.loc != nil {
		loc = e.loc
	}
	set := rrule.Set{}
	if e.rule != nil {
		set.RRule(e.rule)
	} else {
		set.RDate(time.Unix(int64(e.span.from)*60, 0).UTC())
	}
	for _, t := range e.extra {
		set.RDate(t)
	}
	for _, t := range e.not {
		set.ExDate(t)
	}
	length := e.span.to - e.span.from
	first := horizon.From.Add(-time.Duration(length)*time.Minute - 48*time.Hour)
	var out []Span
	for _, t := range set.Between(first, horizon.To.Add(48*time.Hour), true) {
		from := wallOf(t, time.UTC)
		if s := (Span{from.instant(loc), (from + length).instant(loc)}); s.From.Before(horizon.To) && s.To.After(horizon.From) {
			out = append(out, s)
		}
	}
	return out
}
