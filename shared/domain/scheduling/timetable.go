package scheduling

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// Timetable is a parsed schedule with its calendars. It is safe for concurrent use.
type Timetable struct {
	Schedule Schedule
	loc      *time.Location
	lines    []line
	closures []Closure
}

type line struct {
	CronLine
	cron Cron
}

// Firing is one cron of a schedule at one minute. Skip is why the schedule does not act at that minute, for all
// resources.
type Firing struct {
	At        time.Time // UTC, a whole minute
	Timetable *Timetable
	Cron      CronLine
	Skip      Skip
}

// Local returns the time of the firing in the zone of its schedule.
func (f Firing) Local() time.Time { return f.At.In(f.Timetable.loc) }

// NewTimetable parses a schedule and its calendars, which are given by ID. The calendars apply within horizon only:
// call Firings within horizon; Last looks for closed firings back to its beginning. The error is fault.Invalid and
// names the field and the value.
func NewTimetable(s Schedule, calendars map[string]Calendar, horizon Span) (*Timetable, error) {
	loc, err := Zone("timezone", s.Timezone)
	if err != nil {
		return nil, err
	}
	t := &Timetable{Schedule: s, loc: loc, lines: make([]line, len(s.Crons))}
	for i, c := range s.Crons {
		if t.lines[i], err = newLine(indexed("crons", i), c); err != nil {
			return nil, err
		}
	}
	for _, id := range s.CalendarIDs {
		c, ok := calendars[id]
		if !ok {
			continue // a calendar is deleted only when no schedule names it
		}
		closed, err := c.closures(loc, horizon)
		if err != nil {
			return nil, fault.Wrap("read calendar "+id, err)
		}
		t.closures = append(t.closures, closed...)
	}
	slices.SortStableFunc(t.closures, func(a, b Closure) int { return a.From.Compare(b.From) })
	return t, nil
}

func newLine(field string, c CronLine) (line, error) {
	cron, err := ParseCron(field+".cronExpression", c.Expression)
	if err != nil {
		return line{}, err
	}
	if c.Action != cloud.Start && c.Action != cloud.Stop {
		return line{}, fault.New(fault.Invalid, "%s.action: %.20q is neither start nor stop", field, c.Action)
	}
	return line{c, cron}, nil
}

func indexed(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// Firings yields the firings in a span in time order; firings of one minute have the order of the crons. A disabled
// schedule also yields its firings, each skipped.
func (t *Timetable) Firings(s Span) iter.Seq[Firing] {
	return func(yield func(Firing) bool) {
		next := make([]time.Time, len(t.lines)) // zero: no further firing
		for i := range t.lines {
			next[i] = t.lines[i].next(s.From.Add(-time.Nanosecond), t.loc, s.To)
		}
		for {
			i := earliest(next)
			if i < 0 || !yield(t.firing(&t.lines[i], next[i])) {
				return
			}
			next[i] = t.lines[i].next(next[i], t.loc, s.To)
		}
	}
}

// next returns the first firing later than after and before end, or the zero time when there is none.
func (l *line) next(after time.Time, loc *time.Location, end time.Time) time.Time {
	if at, ok := l.cron.Next(after, loc); ok && at.Before(end) {
		return at
	}
	return time.Time{}
}

// earliest returns the index of the earliest non-zero time, or -1 when all are zero. The first of equal times wins.
func earliest(times []time.Time) int {
	found := -1
	for i, t := range times {
		if !t.IsZero() && (found < 0 || t.Before(times[found])) {
			found = i
		}
	}
	return found
}

func (t *Timetable) firing(l *line, at time.Time) Firing {
	f := Firing{At: at, Timetable: t, Cron: l.CronLine}
	switch c := t.closedBy(l.Action, at); {
	case !t.Schedule.Enabled:
		f.Skip = Skip{Disabled, "the schedule is not enabled"}
	case c != nil:
		f.Skip = Skip{ClosedByCalendar, c.String()}
	}
	return f
}

// closedBy returns the closure that blocks the verb v at a time, or nil.
func (t *Timetable) closedBy(v cloud.Verb, at time.Time) *Closure {
	for i := range t.closures {
		c := &t.closures[i]
		if c.From.After(at) {
			return nil
		}
		if c.has(at) && c.Effect.blocks(v) {
			return c
		}
	}
	return nil
}

// String returns the calendar, its entry and its effect.
func (c *Closure) String() string {
	name := c.Calendar
	if c.Entry != "" {
		name += ", " + c.Entry
	}
	return fmt.Sprintf("calendar %s (%s): %s", c.CalendarID, name, c.Effect)
}

// NextAction returns NextFiring, and the action of the cron that is due then: the start, if a start and a stop are due.
func (t *Timetable) NextAction(after time.Time) (at time.Time, action cloud.Verb) {
	if at = t.NextFiring(after); at.IsZero() {
		return at, ""
	}
	for i := range t.lines {
		l := &t.lines[i]
		if due, ok := l.cron.Next(after, t.loc); ok && due.Equal(at) && action != cloud.Start {
			action = l.Action
		}
	}
	return at, action
}

// NextFiring returns the first minute after a time at which a cron of the schedule fires, whether it acts or not. It
// returns the zero time when there is none.
func (t *Timetable) NextFiring(after time.Time) time.Time {
	var first time.Time
	for i := range t.lines {
		if at, ok := t.lines[i].cron.Next(after, t.loc); ok && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Last returns the last firing at or before a time that acted, as far as the schedule itself and its calendars
// decide. It returns false when there is none. If a start and a stop fall in one minute, it returns the start.
func (t *Timetable) Last(at time.Time) (Firing, bool) {
	var last Firing
	if !t.Schedule.Enabled {
		return last, false
	}
	found := false
	for i := range t.lines {
		l := &t.lines[i]
		when, ok := l.cron.Prev(at, t.loc)
		for ok {
			c := t.closedBy(l.Action, when)
			if c == nil {
				break
			}
			when, ok = l.cron.Prev(c.From.Add(-time.Nanosecond), t.loc)
		}
		if ok && (!found || when.After(last.At) || when.Equal(last.At) && l.Action == cloud.Start) {
			last, found = Firing{At: when, Timetable: t, Cron: l.CronLine}, true
		}
	}
	return last, found
}
