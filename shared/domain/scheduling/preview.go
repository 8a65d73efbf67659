package scheduling

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Target is a resource of a schedule, with the state that a preview needs.
type Target struct {
	Member   inventory.Member
	Subject  Subject
	Attached []*Timetable // all schedules of the resource, including the previewed one
}

// Foretold is a firing and its result on each target. Skips has the order of the targets.
type Foretold struct {
	Firing
	Skips []Skip
}

// Preview returns the firings of a schedule in span with their results on its targets. It returns fault.Invalid for
// more than most firings.
func Preview(t *Timetable, targets []Target, span Span, most int) ([]Foretold, error) {
	var out []Foretold
	for f := range t.Firings(span) {
		if len(out) == most {
			return nil, fault.New(fault.Invalid, "from, to: more than %d firings lie between %s and %s; send a "+
				"shorter time",
				most, span.From.UTC().Format(time.RFC3339), span.To.UTC().Format(time.RFC3339))
		}
		out = append(out, Foretold{Firing: f})
	}
	minute := minutes{of: map[*Timetable][]Firing{}}
	for i := range out {
		minute.turn(out[i].At)
		out[i].Skips = minute.decide(&out[i].Firing, targets)
	}
	return out, nil
}

// minutes caches the firings of timetables at one minute.
type minutes struct {
	at time.Time
	of map[*Timetable][]Firing
}

// turn sets the minute and clears the cache when the minute changes.
func (m *minutes) turn(at time.Time) {
	if !m.at.Equal(at) {
		m.at = at
		clear(m.of)
	}
}

func (m *minutes) firings(t *Timetable) []Firing {
	got, ok := m.of[t]
	if !ok {
		got = t.FiringsAt(m.at)
		m.of[t] = got
	}
	return got
}

// decide returns the result of f on each target. f must be a firing of the current minute.
func (m *minutes) decide(f *Firing, targets []Target) []Skip {
	out := make([]Skip, len(targets))
	var all []Firing
	for i := range targets {
		all = append(all[:0], *f)
		for _, t := range targets[i].Attached {
			all = append(all, m.firings(t)...)
		}
		out[i] = Decide(&targets[i].Subject, all, time.Time{})[0]
	}
	return out
}

// FiringsAt returns the firings of the schedule at one minute.
func (t *Timetable) FiringsAt(minute time.Time) []Firing {
	var out []Firing
	for f := range t.Firings(Span{minute, minute.Add(time.Minute)}) {
		out = append(out, f)
	}
	return out
}

// Contradiction is a minute at which a start and a stop of two schedules, or of one schedule, coincide.
type Contradiction struct {
	Start, Stop Firing
}

// FindContradiction returns the first minute in span at which one schedule starts and the other one stops, after
// their calendars. It returns false when there is none. It assumes a resource that both schedules take.
func FindContradiction(a, b *Timetable, span Span) (Contradiction, bool) {
	for f := range a.Firings(span) {
		if f.Skip.Reason != Acts {
			continue
		}
		for _, other := range b.FiringsAt(f.At) {
			if other.Skip.Reason != Acts || other.Cron.Action == f.Cron.Action {
				continue
			}
			if f.Cron.Action == cloud.Start {
				return Contradiction{f, other}, true
			}
			return Contradiction{other, f}, true
		}
	}
	return Contradiction{}, false
}
