package evaluation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// reach is the way from a schedule to a resource: directly, or by a group with the resource's place there.
type reach struct {
	timetable *scheduling.Timetable
	groupID   string
	since     time.Time // firings before that do not reach it
}

// subject is a resource that schedules reach, each in one way.
type subject struct {
	inventory.Member
	scheduling.Subject
	by []reach
}

// timetables returns the schedules that reach the resource.
func (s *subject) timetables() []*scheduling.Timetable {
	out := make([]*scheduling.Timetable, len(s.by))
	for i, r := range s.by {
		out[i] = r.timetable
	}
	return out
}

// book is a snapshot of an organization's schedules and the resources they reach.
type book struct {
	timetables []*scheduling.Timetable // without failed schedules
	subjects   []*subject
	groups     map[string]inventory.Group
	ids        map[string]bool  // of all schedules
	failed     map[string]error // why a schedule could not be read, by its id
}

// has reports whether the organization has a schedule.
func (b *book) has(scheduleID string) bool { return b.ids[scheduleID] }

// leaveOut removes a schedule from the book.
func (b *book) leaveOut(t *scheduling.Timetable) {
	b.timetables = slices.DeleteFunc(slices.Clone(b.timetables), func(o *scheduling.Timetable) bool { return o == t })
}

// fail removes a schedule that could not be read from the book.
func (b *book) fail(t *scheduling.Timetable, err error) {
	b.leaveOut(t)
	b.failed[t.Schedule.ID] = err
}

// plan is the result of an evaluation before it is carried out.
type plan struct {
	orders  map[orderKey]*execution.Order
	entries map[entryKey]*Entry
	fired   int
}

// orderKey identifies an order: the resources that one cron acts on through one group, or through no group.
type orderKey struct {
	scheduleID, cronID, groupID string
	minute                      int64
}

type entryKey struct {
	scheduleID, cronID string
	minute             int64
}

// caughtUp is the age from which a firing counts as caught up. A caught-up firing is dropped if its schedule was
// changed meanwhile.
const caughtUp = 2 * time.Minute

// due returns the firings of a schedule in a span that count: no firings from before its creation, and no caught-up
// firings from before its last change.
func due(t *scheduling.Timetable, span scheduling.Span) []scheduling.Firing {
	if !t.Schedule.Enabled {
		return nil
	}
	made, changed := t.Schedule.CreatedAt.Truncate(time.Minute), t.Schedule.UpdatedAt.Truncate(time.Minute)
	var out []scheduling.Firing
	for f := range t.Firings(span) {
		if f.At.Before(made) || f.At.Before(changed) && span.To.Sub(f.At) > caughtUp {
			continue
		}
		out = append(out, f)
	}
	return out
}

// fire plans the firings at the time now. If several firings act on one resource, only the last one does.
func (b *book) fire(firings map[*scheduling.Timetable][]dueFiring, now time.Time) *plan {
	p := &plan{orders: map[orderKey]*execution.Order{}, entries: map[entryKey]*Entry{}}
	first := now
	for _, fs := range firings {
		for _, f := range fs {
			if !f.decided {
				p.fired++
			}
			if f.At.Before(first) {
				first = f.At
			}
		}
	}
	if len(firings) == 0 {
		return p
	}
	known := map[string]decision{}
	for _, s := range b.subjects {
		k := s.class(first, firings)
		if k == "" {
			continue
		}
		d, ok := known[k]
		if !ok {
			d = s.decide(firings, now)
			known[k] = d
		}
		p.note(b, s, d)
	}
	return p
}

// class returns the key of the firings that reach the subject. Subjects of one class share one decision. The class is
// empty if no firing reaches the subject.
func (s *subject) class(first time.Time, firings map[*scheduling.Timetable][]dueFiring) string {
	var k strings.Builder
	for _, r := range s.by {
		if len(firings[r.timetable]) == 0 {
			continue
		}
		since := int64(0)
		if r.since.After(first) {
			since = r.since.Unix()
		}
		fmt.Fprintf(&k, "%s@%d ", r.timetable.Schedule.ID, since)
	}
	if k.Len() == 0 {
		return ""
	}
	return k.String() + s.Class()
}

// decision is the outcome of firings for the resources of a class: the firing that acts, if any, and the skips of the
// others.
type decision struct {
	acts    int // -1: none
	firings []dueFiring
	skips   []scheduling.Skip
}

// Superseded is the reason why a caught-up firing does not act: a later firing acts on the same resource.
const Superseded scheduling.Reason = "superseded"

// decide decides all firings that reach the subject, minute by minute.
func (s *subject) decide(firings map[*scheduling.Timetable][]dueFiring, now time.Time) decision {
	d := decision{acts: -1}
	for _, r := range s.by {
		for _, f := range firings[r.timetable] {
			if !f.At.Before(r.since.Truncate(time.Minute)) {
				d.firings = append(d.firings, f)
			}
		}
	}
	slices.SortStableFunc(d.firings, func(a, b dueFiring) int { return a.At.Compare(b.At) })
	for rest := d.firings; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].At.Equal(rest[0].At) {
			n++
		}
		d.skips = append(d.skips, s.judge(rest[:n], now)...)
		rest = rest[n:]
	}
	for i := range d.firings {
		if d.skips[i].Reason == scheduling.Acts && (d.acts < 0 || d.firings[i].At.After(d.firings[d.acts].At)) {
			d.acts = i
		}
	}
	return d
}

// judge decides the firings of one minute. Firings that an earlier evaluation has decided were judged at their own
// time.
func (s *subject) judge(minute []dueFiring, now time.Time) []scheduling.Skip {
	all, fresh := make([]scheduling.Firing, len(minute)), false
	for i, f := range minute {
		all[i], fresh = f.Firing, fresh || !f.decided
	}
	if !fresh {
		now = time.Time{}
	}
	return scheduling.Decide(&s.Subject, all, now)
}

// note adds a decision to the plan, without the firings that an earlier evaluation has decided.
func (p *plan) note(b *book, s *subject, d decision) {
	for i, f := range d.firings {
		if f.decided {
			continue
		}
		e := p.entry(f.Firing)
		switch {
		case i == d.acts:
			p.order(b, s, f.Firing)
			e.Acted++
		case d.skips[i].Reason == scheduling.Acts && f.At.Equal(d.firings[d.acts].At):
			// another schedule wants the same in the same minute
			e.Acted++
		case d.skips[i].Reason == scheduling.Acts:
			e.skip(s, scheduling.Skip{Reason: Superseded, Detail: "a later firing acts on it"})
		default:
			e.skip(s, d.skips[i])
		}
	}
}

// order adds the subject to the order of the firing.
func (p *plan) order(b *book, s *subject, f scheduling.Firing) {
	t := f.Timetable.Schedule
	k := orderKey{t.ID, f.Cron.ID, s.through(f.Timetable), f.At.Unix() / 60}
	p.addToOrder(k, s, func() *execution.Order { return newOrder(t, f.Cron, b.groups[k.groupID]) })
}

// addToOrder adds a resource to the order of a key. If there is no such order yet, begin makes it. Resources without a
// group have no sequence.
func (p *plan) addToOrder(k orderKey, s *subject, begin func() *execution.Order) {
	o := p.orders[k]
	if o == nil {
		o = begin()
		p.orders[k] = o
	}
	m := s.Member
	if k.groupID == "" {
		m.Tier, m.Order = 1, 1
	}
	o.Members = append(o.Members, m)
}

// newOrder returns an order of a cron without members, with the settings of the group if there is one.
func newOrder(t scheduling.Schedule, c scheduling.CronLine, g inventory.Group) *execution.Order {
	return &execution.Order{
		Verb: c.Action, Reason: execution.ReasonSchedule, ChangedBy: execution.ChangedBy("schedule", t.Name, c.ID),
		ScheduleID: t.ID,
		StepDelay:  g.StepDelaySeconds, FailurePolicy: fallback(g.FailurePolicy),
	}
}

// through returns the id of the group between a schedule and the resource, or "" if the schedule has no such group.
func (s *subject) through(t *scheduling.Timetable) string {
	for _, r := range s.by {
		if r.timetable == t {
			return r.groupID
		}
	}
	return ""
}

// numbered returns the orders of the plan, named after the round, and split if they are too large for one.
func (p *plan) numbered(round string, at time.Time) []execution.Order {
	keys := make([]orderKey, 0, len(p.orders))
	for k := range p.orders {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b orderKey) int {
		return cmp.Or(cmp.Compare(a.minute, b.minute), strings.Compare(a.scheduleID, b.scheduleID),
			strings.Compare(a.cronID, b.cronID), strings.Compare(a.groupID, b.groupID))
	})
	var out []execution.Order
	for _, k := range keys {
		e := p.entries[entryKey{k.scheduleID, k.cronID, k.minute}]
		for part := range slices.Chunk(p.orders[k].Members, execution.MaxTargets) {
			o := *p.orders[k]
			o.Members, o.Total, o.At, o.Cause = part, len(part), at, fmt.Sprintf("%s %d", round, len(out))
			e.BulkActionIDs = append(e.BulkActionIDs, o.ID())
			out = append(out, o)
		}
	}
	return out
}
