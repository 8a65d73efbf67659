package schedules

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// maxUpcoming is the most firings of all schedules in one list.
const maxUpcoming = 200

// UpcomingFiring is a cron of a schedule at a minute that will come.
type UpcomingFiring struct {
	At              time.Time  `json:"at" doc:"UTC"`
	LocalTime       string     `json:"localTime" example:"2026-03-29T08:00:00+02:00" doc:"In the timezone of the schedule"`
	ScheduleID      string     `json:"scheduleID"`
	ScheduleName    string     `json:"scheduleName"`
	CronID          string     `json:"cronID"`
	Action          cloud.Verb `json:"action" enum:"start,stop"`
	AttachmentCount int64      `json:"attachmentCount" doc:"How many resources and groups are attached to the schedule"`
	ByTag           bool       `json:"byTag" doc:"The schedule also takes the resources whose tag names it"`
	Skipped         *string    `json:"skipped" doc:"calendar: the schedule does not act at this minute; else null. GET /schedules/{scheduleID}/preview names the resources"`
	SkippedDetail   *string    `json:"skippedDetail"`
}

// Upcoming is the firings of all schedules, the next first.
type Upcoming struct {
	Firings []UpcomingFiring `json:"firings"`
	More    bool             `json:"more" doc:"There are more than 200 until to"`
}

type upcomingInput struct {
	To rest.Time `query:"to" doc:"The end of the list: 24 hours from now when left out. A time more than 92 days from now counts as 92 days"`
}

// listUpcoming lists the firings of all enabled schedules that the caller may see. It takes two round trips, and those
// of the visible schedules of a narrow grant.
func (s *service) listUpcoming(ctx context.Context, in *upcomingInput) (Upcoming, error) {
	now := s.p.Clock.Now()
	end := clock.Earliest(cmp.Or(in.To.Time, now.Add(24*time.Hour)), now.Add(maxPreview))
	span := scheduling.Span{From: now, To: clock.Latest(end, now)}
	all, err := s.visibleSchedules(ctx)
	if err != nil {
		return Upcoming{}, err
	}
	all = slices.DeleteFunc(all, func(sch scheduling.Schedule) bool { return !sch.Enabled || sch.Deleting })
	firings, err := s.firingsOf(ctx, all, span)
	if err != nil {
		return Upcoming{}, err
	}
	out := Upcoming{Firings: []UpcomingFiring{}, More: len(firings) > maxUpcoming}
	named := identity.Allows(identity.CallerFrom(ctx), calendarReading)
	for _, f := range firings[:min(len(firings), maxUpcoming)] {
		if !named {
			hideCalendar(&f.Skip)
		}
		out.Firings = append(out.Firings, newUpcoming(&f))
	}
	return out, nil
}

// firingsOf returns the next firings of schedules within a span, in the order of their times: all of them, or more than
// maxUpcoming.
func (s *service) firingsOf(ctx context.Context, all []scheduling.Schedule, span scheduling.Span) (
	out []scheduling.Firing, err error,
) {
	var named []string
	for i := range all {
		named = append(named, all[i].CalendarIDs...)
	}
	calendars, err := s.store.ReadCalendars(ctx, identity.CallerOrg(ctx), named...)
	if err != nil {
		return nil, err
	}
	for i := range all {
		t, err := scheduling.NewTimetable(all[i], calendars, span)
		if err != nil {
			return nil, fault.Wrap("read schedule "+all[i].ID, err)
		}
		n := 0
		for f := range t.Firings(span) {
			if out = append(out, f); n == maxUpcoming {
				break
			}
			n++
		}
	}
	slices.SortStableFunc(out, func(a, b scheduling.Firing) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Timetable.Schedule.Name, b.Timetable.Schedule.Name))
	})
	return out, nil
}

func newUpcoming(f *scheduling.Firing) UpcomingFiring {
	sch := &f.Timetable.Schedule
	return UpcomingFiring{
		At: f.At, LocalTime: f.Local().Format(time.RFC3339), ScheduleID: sch.ID, ScheduleName: sch.Name,
		CronID: f.Cron.ID, Action: f.Cron.Action, AttachmentCount: sch.Attachments, ByTag: sch.Tagged,
		Skipped: rest.Optional(string(f.Skip.Reason)), SkippedDetail: rest.Optional(f.Skip.Detail),
	}
}
