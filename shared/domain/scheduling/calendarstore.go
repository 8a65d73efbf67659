package scheduling

import (
	"context"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ReadCalendar reads a calendar. It returns fault.NotFound when the calendar does not exist. It takes one round trip.
func (s *Store) ReadCalendar(ctx context.Context, org, calendarID string) (Calendar, error) {
	it, err := s.table.Get(ctx, CalendarKey(org, calendarID))
	if fault.Is(err, fault.NotFound) || err == nil && it.Data == nil {
		return Calendar{}, fault.New(fault.NotFound, "calendar %.64q does not exist", calendarID)
	}
	if err != nil {
		return Calendar{}, fmt.Errorf("read calendar %s: %w", calendarID, err)
	}
	return decodeCalendar(it)
}

func decodeCalendar(it table.Item) (Calendar, error) {
	c, err := table.Decode[Calendar](it)
	if err != nil {
		return c, err
	}
	n, err := table.Decode[struct {
		Uses int64 `json:"uses"`
	}](it)
	c.Uses = n.Uses
	return c, err
}

// ListCalendars lists the calendars of an organization, oldest first. It takes one round trip per megabyte.
func (s *Store) ListCalendars(ctx context.Context, org string) ([]Calendar, error) {
	items, err := s.readAll(ctx, CalendarKey(org, "").PK)
	if err != nil {
		return nil, fmt.Errorf("list calendars of %s: %w", org, err)
	}
	out := make([]Calendar, len(items))
	for i, it := range items {
		if out[i], err = decodeCalendar(it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ReadCalendars reads calendars by their ids. It omits deleted calendars. It takes one round trip, or none for no
// ids.
func (s *Store) ReadCalendars(ctx context.Context, org string, ids ...string) (map[string]Calendar, error) {
	out := map[string]Calendar{}
	keys := make([]table.Key, 0, len(ids))
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		keys = append(keys, CalendarKey(org, id))
	}
	if len(keys) == 0 {
		return out, nil
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d calendars: %w", len(keys), err)
	}
	for _, it := range got {
		c, err := decodeCalendar(it)
		if err != nil {
			return nil, err
		}
		out[c.ID] = c
	}
	return out, nil
}

// CreateCalendar stores a new calendar together with the extra writes, in one transaction. It returns fault.Conflict
// when another calendar has its name.
func (s *Store) CreateCalendar(ctx context.Context, org string, next Calendar, extra ...table.Write) (Calendar, error) {
	return s.writeCalendar(ctx, org, Calendar{}, next, extra...)
}

// UpdateCalendar replaces old, as it was read, by next. It returns fault.Conflict when the calendar has changed
// since, or when another calendar has the new name.
func (s *Store) UpdateCalendar(ctx context.Context, org string, old, next Calendar) (Calendar, error) {
	return s.writeCalendar(ctx, org, old, next)
}

func (s *Store) writeCalendar(ctx context.Context, org string, old, next Calendar, extra ...table.Write) (Calendar,
	error,
) {
	next.Generation = old.Generation + 1
	cond := table.Absent()
	if old.ID != "" {
		cond = table.Equal("generation", old.Generation)
	}
	put, err := table.PutFields(CalendarKey(org, next.ID), next, cond)
	if err != nil {
		return next, err
	}
	names, err := calendarNames(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return next, err
	}
	ws := append([]table.Write{put}, names...)
	err = s.table.Transact(ctx, append(ws, extra...)...)
	return next, table.ExplainLost(err, "write calendar "+next.ID, func(lost *table.ConditionError) error {
		if taken := calendarNames(org).Refusal(lost, next.Name); taken != nil {
			return taken
		}
		return fault.New(fault.Conflict, "calendar %s was changed by someone else meanwhile; read it and try again",
			next.ID)
	})
}

// UsesOfCalendar lists the schedules that name a calendar, oldest first. It takes one round trip.
func (s *Store) UsesOfCalendar(ctx context.Context, org, calendarID string) ([]Use, error) {
	return s.usesWhere(ctx, org, func(sch Schedule) (int, bool) {
		return 0, slices.Contains(sch.CalendarIDs, calendarID)
	})
}

// DeleteCalendar deletes the calendar c. Read c before you call UsesOfCalendar to find that no schedule names it. It
// returns fault.Conflict when the calendar has changed or was added to a schedule since c was read.
func (s *Store) DeleteCalendar(ctx context.Context, org string, c Calendar) error {
	unused := table.Equal("uses", c.Uses)
	if c.Uses == 0 {
		unused = table.Any(table.Lacks("uses"), table.Equal("uses", 0))
	}
	err := s.table.Transact(ctx, table.Delete(CalendarKey(org, c.ID), table.Equal("generation", c.Generation), unused),
		calendarNames(org).Release(c.Name))
	if fault.Is(err, fault.Conflict) {
		return fault.New(fault.Conflict,
			"calendar %s was changed, or put into a schedule, by someone else meanwhile; read it and try again", c.ID)
	}
	if err != nil {
		return fmt.Errorf("delete calendar %s: %w", c.ID, err)
	}
	return nil
}
