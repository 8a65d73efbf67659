package scheduling

import (
	"cmp"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// The forms of an entry's From and To.
const (
	dateForm = "2006-01-02"
	timeForm = "2006-01-02T15:04"
)

// maxEntryDays is how long one entry can be.
const maxEntryDays = 366

// Closure is a time in which a calendar keeps firings from acting.
type Closure struct {
	Span
	CalendarID string
	Calendar   string // its name
	Entry      string // the name of the entry
	Effect     Effect
}

// localSpan is a time as clocks show it.
type localSpan struct {
	from, to wall // to is the end
}

// parse reads the entry; field names it in errors (fault.Invalid).
func (e Entry) parse(field string) (localSpan, error) {
	from, day, ok := parseLocal(e.From)
	if !ok {
		return localSpan{},
			fault.New(fault.Invalid, "%s.from: %.40q is no date like 2026-12-24 and no time like 2026-12-24T18:00",
				field, e.From)
	}
	to := from + day
	if e.To != "" {
		last, day, ok := parseLocal(e.To)
		if !ok {
			return localSpan{},
				fault.New(fault.Invalid, "%s.to: %.40q is no date like 2026-12-26 and no time like 2026-12-26T18:00",
					field, e.To)
		}
		to = last + day
	}
	switch {
	case to <= from && e.To == "":
		return localSpan{},
			fault.New(fault.Invalid, "%s.to: it is missing; a window that begins at a time (%s) needs its end", field,
				e.From)
	case to <= from:
		return localSpan{}, fault.New(fault.Invalid, "%s.to: %s is not after %s", field, e.To, e.From)
	case to-from > maxEntryDays*minutesADay:
		return localSpan{},
			fault.New(fault.Invalid, "%s: from %s to %s is longer than %d days", field, e.From, e.To, maxEntryDays)
	}
	return localSpan{from, to}, nil
}

// parseLocal reads a date, which lasts a day, or a time, which lasts nothing.
func parseLocal(s string) (at, lasts wall, ok bool) {
	if t, err := time.Parse(dateForm, s); err == nil {
		return wallOf(t, time.UTC), minutesADay, t.Year() >= firstYear
	}
	t, err := time.Parse(timeForm, s)
	return wallOf(t, time.UTC), 0, err == nil && t.Year() >= firstYear
}

// firstYear is the first year that a calendar can name.
const firstYear = 1970

// Check refuses (fault.Invalid, naming field and value) a calendar that cannot be read, and an entry that is over and
// is not one of known: those were given when they were not.
func (c Calendar) Check(now time.Time, known []Entry) error {
	if _, err := Zone("timezone", cmp.Or(c.Timezone, "UTC")); err != nil {
		return err
	}
	if len(c.Entries) == 0 && c.ICalendar == "" {
		return fault.New(fault.Invalid, "entries, iCalendar: the calendar has no day; send one of them")
	}
	if len(c.Entries) > MaxEntries {
		return fault.New(fault.Invalid, "entries: %d are too many; a calendar has at most %d", len(c.Entries),
			MaxEntries)
	}
	for i, e := range c.Entries {
		field := indexed("entries", i)
		span, err := e.parse(field)
		if err != nil {
			return err
		}
		// The earth has a day until it has passed everywhere.
		if over := wallOf(now, time.UTC) - mostWest/60; !e.Yearly && span.to <= over && !slices.Contains(known, e) {
			return fault.New(fault.Invalid, "%s: %s is in the past; send a day to come, or yearly", field,
				cmp.Or(e.To, e.From))
		}
	}
	_, err := parseEvents("iCalendar", c.ICalendar, true)
	return err
}

// closures returns what the calendar closes in a time, for schedules of the zone loc unless it has one of its own.
func (c Calendar) closures(loc *time.Location, horizon Span) ([]Closure, error) {
	if c.Timezone != "" {
		var err error
		if loc, err = Zone("timezone", c.Timezone); err != nil {
			return nil, err
		}
	}
	var out []Closure
	add := func(name string, s Span) {
		if s.From.Before(horizon.To) && s.To.After(horizon.From) {
			out = append(out, Closure{s, c.ID, c.Name, name, c.Effect})
		}
	}
	for i, e := range c.Entries {
		span, err := e.parse(indexed("entries", i))
		if err != nil {
			return nil, err
		}
		for _, s := range e.years(span, horizon) {
			add(e.Name, Span{s.from.instant(loc), s.to.instant(loc)})
		}
	}
	events, err := parseEvents("iCalendar", c.ICalendar, false)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		for _, s := range e.spans(loc, horizon) {
			add(e.name, s)
		}
	}
	return out, nil
}

// years returns the span, for a yearly entry in each year that reaches into a time. 29 February is a day of leap years
// alone.
func (e Entry) years(s localSpan, horizon Span) []localSpan {
	if !e.Yearly {
		return []localSpan{s}
	}
	var out []localSpan
	day, minute := s.from.dayNumber()
	first := civilOf(day)
	for y := max(first.year, horizon.From.Year()-2); y <= horizon.To.Year()+1; y++ {
		if at := dayOf(y, first.month, first.day); civilOf(at).day == first.day {
			from := wall(at*minutesADay + minute)
			out = append(out, localSpan{from, from + s.to - s.from})
		}
	}
	return out
}

// Zone reads the name of a time zone; the error (fault.Invalid) names the field and the value.
func Zone(field, name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fault.New(
			fault.Invalid, "%s: %.64q is no time zone; send an IANA name such as Europe/Berlin or UTC", field, name)
	}
	return loc, nil
}
