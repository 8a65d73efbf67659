package scheduling

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// Target is a resource that a schedule takes, with what has to be known of it.
type Target struct {
	Member   inventory.Member
	Subject  Subject
	Attached []*Timetable // all schedules that it is attached to, the asked one among them
}

// Foretold is a firing and what becomes of it: Skips has the order of the targets.
type Foretold struct {
	Firing
	Skips []Skip
}

// Preview tells what becomes of the firings of a schedule on its targets in a time. More firings than most are refused
// (fault.Invalid).
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

// minutes remembers which firings timetables have at one minute.
type minutes struct {
	at time.Time
	of map[*Timetable][]Firing
}

// turn goes on to another minute.
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

// decide tells what becomes of f, which is of this minute, on each target.
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

// FiringsAt returns the firings of one minute.
func (t *Timetable) FiringsAt(minute time.Time) []Firing {
	var out []Firing
	for f := range t.Firings(Span{minute, minute.Add(time.Minute)}) {
		out = append(out, f)
	}
	return out
}

// Contradiction is a minute at which one schedule starts what another one, or itself, stops.
type Contradiction struct {
	Start, Stop Firing
}

// FindContradiction returns the first minute of a time at which one of two schedules starts what the other one stops,
// calendars considered; false when there is none. It asks as to a resource that both take.
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
