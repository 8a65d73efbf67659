package evaluation

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// openBook reads the schedules of an organization, and their calendars for a span: two round trips, side by side. The
// book does not have their resources yet.
func (s *Store) openBook(ctx context.Context, org string, span scheduling.Span) (*book, error) {
	all, err := s.schedules.ListSchedules(ctx, org)
	if err != nil {
		return nil, err
	}
	calendars := map[string]scheduling.Calendar{}
	for _, sch := range all {
		if len(sch.CalendarIDs) == 0 {
			continue
		}
		if calendars, err = s.calendars(ctx, org); err != nil {
			return nil, err
		}
		break
	}
	b := &book{groups: map[string]inventory.Group{}, ids: map[string]bool{}, failed: map[string]error{}}
	for _, sch := range all {
		b.add(sch, calendars, horizon(span))
	}
	return b, nil
}

// add adds a schedule to the book. A schedule that cannot be read fails alone.
func (b *book) add(sch scheduling.Schedule, calendars map[string]scheduling.Calendar, span scheduling.Span) {
	b.ids[sch.ID] = true
	err := recovered(func() error {
		t, err := scheduling.NewTimetable(sch, calendars, span)
		if err == nil {
			b.timetables = append(b.timetables, t)
		}
		return err
	})
	if err != nil {
		b.failed[sch.ID] = fmt.Errorf("read schedule %s: %w", sch.ID, err)
	}
}

// calendars returns the calendars of an organization, by their ids.
func (s *Store) calendars(ctx context.Context, org string) (map[string]scheduling.Calendar, error) {
	all, err := s.schedules.ListCalendars(ctx, org)
	out := make(map[string]scheduling.Calendar, len(all))
	for _, c := range all {
		out[c.ID] = c
	}
	return out, err
}

// attached returns, by member id, the schedules that reach each member. It fails if one of them cannot be read.
func (s *Store) attached(ctx context.Context, org string, members []inventory.Member,
	span scheduling.Span,
) (map[string][]*scheduling.Timetable, error) {
	b, err := s.openBook(ctx, org, span)
	if err != nil || len(b.ids) == 0 || len(members) == 0 {
		return nil, err
	}
	byID := map[string]*scheduling.Timetable{}
	for _, t := range b.timetables {
		byID[t.Schedule.ID] = t
	}
	ids := make([]string, len(members))
	for i, m := range members {
		ids[i] = m.ResourceID
	}
	found, err := s.inventory.ByIDs(ctx, org, ids, inventory.SeeEverything().WithSchedules(scheduling.Heads{}))
	if err != nil {
		return nil, fmt.Errorf("read the schedules of %d resources: %w", len(ids), err)
	}
	out := map[string][]*scheduling.Timetable{}
	for _, r := range found {
		for _, id := range r.ScheduleIDs {
			if b.failed[id] != nil {
				return nil, b.failed[id]
			}
			if t := byID[id]; t != nil {
				out[r.ID] = append(out[r.ID], t)
			}
		}
	}
	return out, nil
}

// wanted returns the actions that the schedules want of members at a time, by member id. A member without a desired
// action is missing.
func (s *Store) wanted(ctx context.Context, org string, members []inventory.Member,
	at time.Time,
) (map[string]cloud.Verb, error) {
	by, err := s.attached(ctx, org, members, scheduling.Span{From: at, To: at})
	if err != nil {
		return nil, err
	}
	out := map[string]cloud.Verb{}
	for id, ts := range by {
		if w, some := scheduling.Wanted(at, ts); some {
			out[id] = w.Cron.Action
		}
	}
	return out, nil
}

// nextStops is how far ahead NextStop searches.
const nextStops = 8 * 24 * time.Hour

// NextStop returns the first time after a time, within eight days, when the schedules stop one of members. It returns
// the zero time if there is none.
func (s *Store) NextStop(ctx context.Context, org string, members []inventory.Member,
	after time.Time,
) (time.Time, error) {
	span := scheduling.Span{From: after.Add(time.Nanosecond), To: after.Add(nextStops)}
	by, err := s.attached(ctx, org, members, span)
	if err != nil {
		return time.Time{}, err
	}
	seen, first := map[*scheduling.Timetable]bool{}, time.Time{}
	for _, ts := range by {
		for _, t := range ts {
			if seen[t] {
				continue
			}
			seen[t] = true
			if at := nextStop(t, span); !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first, nil
}

// nextStop returns the first stop of a span that acts, or the zero time.
func nextStop(t *scheduling.Timetable, span scheduling.Span) time.Time {
	for f := range t.Firings(span) {
		if f.Cron.Action == cloud.Stop && f.Skip.Reason == scheduling.Acts {
			return f.At
		}
	}
	return time.Time{}
}
