package scheduling

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Store reads and writes the schedules of organizations, their attachments and calendars.
type Store struct {
	table     table.Store
	clock     clock.Clock
	inventory *inventory.Store
}

// New returns a Store on the table, the clock and the inventory of p.
func New(p *platform.Platform) *Store { return &Store{p.Table, p.Clock, inventory.New(p)} }

// ReadSchedule reads a schedule. It returns fault.NotFound when the schedule does not exist or is being deleted. It
// takes one round trip.
func (s *Store) ReadSchedule(ctx context.Context, org, scheduleID string) (Schedule, error) {
	it, err := s.table.Get(ctx, ScheduleKey(org, scheduleID))
	missing := fault.New(fault.NotFound, "schedule %.64q does not exist", scheduleID)
	if fault.Is(err, fault.NotFound) || err == nil && it.Data == nil {
		return Schedule{}, missing
	}
	if err != nil {
		return Schedule{}, fmt.Errorf("read schedule %s: %w", scheduleID, err)
	}
	return decodeSchedule(it)
}

func decodeSchedule(it table.Item) (Schedule, error) {
	sch, err := table.Decode[Schedule](it)
	if err != nil {
		return sch, err
	}
	n, err := table.Decode[struct {
		Attachments int64 `json:"attachments"`
	}](it)
	sch.Attachments = n.Attachments
	return sch, err
}

// ListSchedules lists the schedules of an organization, oldest first, without those that are being deleted. It takes
// one round trip per megabyte.
func (s *Store) ListSchedules(ctx context.Context, org string) ([]Schedule, error) {
	items, err := s.readAll(ctx, ScheduleKey(org, "").PK)
	if err != nil {
		return nil, fmt.Errorf("list schedules of %s: %w", org, err)
	}
	out := make([]Schedule, 0, len(items))
	for _, it := range items {
		sch, err := decodeSchedule(it)
		if err != nil {
			return nil, err
		}
		if !sch.Deleting {
			out = append(out, sch)
		}
	}
	return out, nil
}

func (s *Store) readAll(ctx context.Context, pk string) ([]table.Item, error) {
	var items []table.Item
	for q := (table.Query{PK: pk, Limit: MaxSchedules}); ; {
		page, err := s.table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		items = append(items, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return items, nil
		}
	}
}

// CreateSchedule stores a new schedule together with the extra writes, in one transaction. It returns fault.Conflict
// when another schedule has its name, and fault.Invalid when one of its calendars does not exist. The context must
// allow writes within DuePrefix.
func (s *Store) CreateSchedule(ctx context.Context, org string, next Schedule, extra ...table.Write) (Schedule, error) {
	next.Generation = 1
	head, err := table.NewItem(HeadKey(org, next.ID), HeadOf(next))
	if err != nil {
		return next, err
	}
	return next, s.writeSchedule(ctx, org, Schedule{}, next, append([]table.Write{table.Put(head)}, extra...))
}

// UpdateSchedule replaces old, as it was read, by next. It returns fault.Conflict when the schedule has changed since
// or when another schedule has the new name, and fault.Invalid when a newly named calendar does not exist. The
// context must allow writes within DuePrefix.
func (s *Store) UpdateSchedule(ctx context.Context, org string, old, next Schedule) (Schedule, error) {
	next.Generation = old.Generation + 1
	head := table.Update(HeadKey(org, next.ID), []table.Change{
		table.Set("name", next.Name), table.Set("preset", next.Preset), table.Set("tagged", next.Tagged),
	}, table.Exists())
	return next, s.writeSchedule(ctx, org, old, next, []table.Write{head})
}

// writeSchedule writes a schedule with its head, name, first due hint and calendar uses in one transaction. old is
// zero for a new schedule. more[0] is the write of the head.
func (s *Store) writeSchedule(ctx context.Context, org string, old, next Schedule, more []table.Write) error {
	cond := []table.Cond{table.Absent()}
	if old.ID != "" {
		cond = []table.Cond{table.Equal("generation", old.Generation), table.Lacks("deleting")}
	}
	put, err := table.PutFields(ScheduleKey(org, next.ID), next, cond...)
	if err != nil {
		return err
	}
	names, err := scheduleNames(org).Rename(old.Name, next.Name, next.ID)
	if err != nil {
		return err
	}
	ws := append([]table.Write{put, more[0]}, names...)
	due, err := s.firstDue(org, next)
	if err != nil {
		return err
	}
	ws = append(ws, due...)
	held := len(ws)
	for _, id := range next.CalendarIDs {
		if !slices.Contains(old.CalendarIDs, id) {
			ws = append(ws, table.Update(CalendarKey(org, id), []table.Change{table.Add("uses", 1)}, table.Exists()))
		}
	}
	err = s.table.Transact(table.Within(ctx, DuePrefix), append(ws, more[1:]...)...)
	return table.ExplainLost(err, "write schedule "+next.ID, func(lost *table.ConditionError) error {
		return refusedSchedule(org, lost, next, held)
	})
}

// refusedSchedule returns the error for the failed conditions of writeSchedule.
func refusedSchedule(org string, lost *table.ConditionError, next Schedule, held int) error {
	for _, f := range lost.Failed {
		if f.Index >= held {
			return fault.New(fault.Invalid,
				"calendarIDs: a calendar of them does not exist; send the ids of GET /calendars")
		}
	}
	if taken := scheduleNames(org).Refusal(lost, next.Name); taken != nil {
		return taken
	}
	return fault.New(fault.Conflict, "schedule %s was changed by someone else meanwhile; read it and try again",
		next.ID)
}

// firstDue returns the write that adds a due hint for the next firing of a schedule.
func (s *Store) firstDue(org string, next Schedule) ([]table.Write, error) {
	t, err := NewTimetable(next, nil, Span{})
	if err != nil {
		return nil, err
	}
	at := t.NextFiring(s.clock.Now().Truncate(time.Minute).Add(-time.Minute))
	if at.IsZero() {
		return nil, nil
	}
	w, err := AddDue(org, at)
	return []table.Write{w}, err
}
