package schedules

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Schedule is a schedule as clients see it.
type Schedule struct {
	ID              string     `json:"id" example:"sch_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name            string     `json:"name"`
	Description     string     `json:"description"`
	Timezone        string     `json:"timezone" doc:"IANA" example:"Europe/Berlin"`
	Crons           []Cron     `json:"crons"`
	CalendarIDs     []string   `json:"calendarIDs"`
	Enabled         bool       `json:"enabled"`
	Preset          *string    `json:"preset" doc:"The preset that it was made of; null for none"`
	ByTag           bool       `json:"byTag" doc:"Takes the resources whose tag names it"`
	Drift           string     `json:"drift" enum:"report,enforce"`
	GraceMinutes    int        `json:"graceMinutes" doc:"Until a drift is enforced"`
	AttachmentCount int64      `json:"attachmentCount"`
	NextFiringAt    *time.Time `json:"nextFiringAt" doc:"The next minute at which a cron is due, even if it will be skipped; null if disabled"`
	// NextFiringAction is the action of NextFiringAt.
	NextFiringAction *cloud.Verb `json:"nextFiringAction" enum:"start,stop" doc:"What that cron does; if a start and a stop fall in that minute, start, which wins; null if disabled"`
	CreatedBy        *string     `json:"createdBy" doc:"The creator's mail address; null for schedules created before it was recorded. The schedule stays when its creator leaves, and the owners are told"`
	CreatedAt        time.Time   `json:"createdAt"`
	UpdatedAt        time.Time   `json:"updatedAt"`
}

// Cron is a cron of a schedule.
type Cron struct {
	ID             string     `json:"id" required:"false" maxLength:"64" example:"cron_01k6v0e4y0c2b7m9q8r5t3w1xz" doc:"Assigned by the service; when sent, it keeps the existing cron"`
	CronExpression string     `json:"cronExpression" minLength:"1" maxLength:"256" example:"0 8 * * 1-5"`
	Action         cloud.Verb `json:"action" enum:"start,stop"`
}

// newSchedule returns a schedule as it is shown.
func (s *service) newSchedule(sch scheduling.Schedule) Schedule {
	out := Schedule{
		ID: sch.ID, Name: sch.Name, Description: sch.Description, Timezone: sch.Timezone,
		Crons:       make([]Cron, len(sch.Crons)),
		CalendarIDs: append([]string{}, sch.CalendarIDs...), Enabled: sch.Enabled, Preset: rest.Optional(sch.Preset),
		ByTag: sch.Tagged,
		Drift: sch.Drift, GraceMinutes: sch.GraceMinutes, AttachmentCount: sch.Attachments,
		CreatedBy: rest.Optional(sch.CreatedBy),
		CreatedAt: sch.CreatedAt, UpdatedAt: sch.UpdatedAt,
	}
	for i, c := range sch.Crons {
		out.Crons[i] = Cron{c.ID, c.Expression, c.Action}
	}
	if t, err := scheduling.NewTimetable(sch, nil, scheduling.Span{}); err == nil && sch.Enabled {
		at, action := t.NextAction(s.p.Clock.Now())
		out.NextFiringAt, out.NextFiringAction = rest.Optional(at), rest.Optional(action)
	}
	return out
}

// readSchedule reads a schedule. A malformed ID is reported as missing without a look-up.
func (s *service) readSchedule(ctx context.Context, scheduleID string) (scheduling.Schedule, error) {
	if !id.IsValid("sch", scheduleID) {
		return scheduling.Schedule{}, missingSchedule(scheduleID)
	}
	sch, err := s.store.ReadSchedule(ctx, identity.CallerOrg(ctx), scheduleID)
	if err == nil && sch.Deleting {
		return sch, missingSchedule(scheduleID)
	}
	return sch, err
}

func missingSchedule(scheduleID string) error {
	return fault.New(fault.NotFound, "schedule %.64q does not exist", scheduleID)
}

type listInput struct {
	rest.Page
	rest.Sort[scheduling.Schedule, orders]
}

// orders are the sort orders of schedules.
type orders struct{}

var _ rest.Orders[scheduling.Schedule] = orders{}

func (orders) Orders() []rest.Order[scheduling.Schedule] {
	return []rest.Order[scheduling.Schedule]{
		rest.OrderByText("name", func(sch scheduling.Schedule) string { return sch.Name }),
		rest.OrderByTime("createdAt", func(sch scheduling.Schedule) time.Time { return sch.CreatedAt }),
	}
}

func (s *service) listSchedules(ctx context.Context, in *listInput) (rest.List[Schedule], error) {
	all, err := s.visibleSchedules(ctx)
	if err != nil {
		return rest.List[Schedule]{}, err
	}
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), s.newSchedule), nil
}

func (s *service) getSchedule(ctx context.Context, in *ScheduleInput) (Schedule, error) {
	sch, err := s.readVisible(ctx, in.ScheduleID)
	if err != nil {
		return Schedule{}, err
	}
	return s.newSchedule(sch), nil
}

func (s *service) deleteSchedule(ctx context.Context, in *ScheduleInput) (rest.Deleted, error) {
	if !id.IsValid("sch", in.ScheduleID) {
		return rest.Deleted{}, missingSchedule(in.ScheduleID)
	}
	// A deletion that was interrupted is completed.
	sch, err := s.store.ReadSchedule(ctx, identity.CallerOrg(ctx), in.ScheduleID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: s.newSchedule(sch)})
	return rest.Deleted{ID: sch.ID}, s.store.DeleteSchedule(ctx, identity.CallerOrg(ctx), sch)
}

type groupInput struct {
	GroupID string `path:"groupID" maxLength:"64"`
	rest.Page
}

func (s *service) listOfGroup(ctx context.Context, in *groupInput) (rest.List[Schedule], error) {
	if err := s.seesGroup(ctx, in.GroupID); err != nil {
		return rest.List[Schedule]{}, err
	}
	all, err := s.store.UsesOfGroup(ctx, identity.CallerOrg(ctx), in.GroupID)
	return rest.MapItems(rest.PageOf(all, in.Page), s.newSchedule), err
}
