package scheduling

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// Timetable is a schedule that was read: when it fires. It may be used by many goroutines.
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

// Firing is one cron of a schedule at one minute. Skip says why the schedule does not act then on anything.
type Firing struct {
	At        time.Time // UTC, a whole minute
	Timetable *Timetable
	Cron      CronLine
	Skip      Skip
}

// Local returns the time of the firing in the zone of its schedule.
func (f Firing) Local() time.Time { return f.At.In(f.Timetable.loc) }

// NewTimetable reads a schedule with its calendars, which are given by their ids. What calendars say is known within
// the horizon alone: firings are asked for in it, and Last looks back to its beginning for what a calendar closed. The
// error (fault.Invalid) names field and value.
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
			continue // it was deleted: then no schedule named it
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

// Firings gives the firings of a time in their order, those of one minute in the order of the crons. A schedule that
// is not enabled has them too, each skipped.
func (t *Timetable) Firings(s Span) iter.Seq[Firing] {
	return func(yield func(Firing) bool) {
		next := make([]time.Time, len(t.lines)) // zero: none any more
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

// next returns the first firing after a time and before the end; the zero time when there is none.
func (l *line) next(after time.Time, loc *time.Location, end time.Time) time.Time {
	if at, ok := l.cron.Next(after, loc); ok && at.Before(end) {
		return at
	}
	return time.Time{}
}

// earliest returns which of times is the first, the first of equal ones; -1 when all are zero.
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

// closedBy returns what keeps the schedule from an act at a time; nil for nothing.
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

// String says which calendar it is, and what it does.
func (c *Closure) String() string {
	name := c.Calendar
	if c.Entry != "" {
		name += ", " + c.Entry
	}
	return fmt.Sprintf("calendar %s (%s): %s", c.CalendarID, name, c.Effect)
}

// NextFiring returns the first minute after a time at which a cron of the schedule fires, whether it acts or not; the
// zero time when there is none.
func (t *Timetable) NextFiring(after time.Time) time.Time {
	var first time.Time
	for i := range t.lines {
		if at, ok := t.lines[i].cron.Next(after, t.loc); ok && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Last returns the last firing not after a time that acted, as far as the schedule alone tells; false when there is
// none. Of a start and a stop in one minute it is the start.
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
