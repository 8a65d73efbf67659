package scheduling

import (
	"cmp"
	"slices"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// The layouts of an entry's From and To.
const (
	dateForm = "2006-01-02"
	timeForm = "2006-01-02T15:04"
)

// maxEntryDays is the maximum length of one entry, in days.
const maxEntryDays = 366

// Closure is a time span during which a calendar blocks firings.
type Closure struct {
	Span
	CalendarID string
	Calendar   string // its name
	Entry      string // the name of the entry
	Effect     Effect
}

// localSpan is a span of local time, as wall clocks show it.
type localSpan struct {
	from, to wall // to is exclusive
}

// parse parses the entry. Errors are fault.Invalid and name field.
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

// parseLocal parses a date, with lasts = one day, or a time, with lasts = 0.
func parseLocal(s string) (at, lasts wall, ok bool) {
	if t, err := time.Parse(dateForm, s); err == nil {
		return wallOf(t, time.UTC), minutesADay, t.Year() >= firstYear
	}
	t, err := time.Parse(timeForm, s)
	return wallOf(t, time.UTC), 0, err == nil && t.Year() >= firstYear
}

// firstYear is the earliest year that a calendar entry may use.
const firstYear = 1970

// Check validates the calendar. It returns fault.Invalid, with field and value, when the calendar cannot be parsed or
// when an entry is over. It accepts past entries that are in known, because they were valid when they were created.
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
		// A date lasts until it is over in the westernmost zone.
		if over := wallOf(now, time.UTC) - mostWest/60; !e.Yearly && span.to <= over && !slices.Contains(known, e) {
			return fault.New(fault.Invalid, "%s: %s is in the past; send a day to come, or yearly", field,
				cmp.Or(e.To, e.From))
		}
	}
	_, err := parseEvents("iCalendar", c.ICalendar, true)
	return err
}

// closures returns the calendar's closures that overlap horizon. It uses loc unless the calendar has its own zone.
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

// years returns the spans of the entry: s itself, or for a yearly entry one span per year near horizon. An entry on
// 29 February occurs in leap years only.
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

// Zone parses the name of a time zone. The error is fault.Invalid and names the field and the value.
func Zone(field, name string) (*time.Location, error) {
	loc, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" {
		return nil, fault.New(
			fault.Invalid, "%s: %.64q is no time zone; send an IANA name such as Europe/Berlin or UTC", field, name)
	}
	return loc, nil
}
