package schedules

import (
	"cmp"
	"context"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// maxName is the maximum number of characters of a name.
const maxName = 128

// NewSchedule is the body of POST /schedules.
type NewSchedule struct {
	Name         string   `json:"name,omitempty" maxLength:"128" doc:"With a preset its name when absent"`
	Description  string   `json:"description,omitempty" maxLength:"500"`
	Timezone     string   `json:"timezone,omitempty" maxLength:"64" default:"UTC" doc:"IANA"`
	Crons        []Cron   `json:"crons,omitempty" maxItems:"50" doc:"With a preset its crons when absent"`
	CalendarIDs  []string `json:"calendarIDs,omitempty" maxItems:"10"`
	Enabled      *bool    `json:"enabled,omitempty" doc:"true when absent"`
	Preset       string   `json:"preset,omitempty" maxLength:"64"`
	ByTag        *bool    `json:"byTag,omitempty" doc:"true when absent"`
	Drift        string   `json:"drift,omitempty" enum:"report,enforce" default:"report"`
	GraceMinutes int      `json:"graceMinutes,omitempty" minimum:"0" maximum:"1440"`
}

func (s *service) createSchedule(ctx context.Context, in *struct{ Body NewSchedule }) (Schedule, error) {
	sch, err := s.scheduleOf(in.Body)
	if err != nil {
		return Schedule{}, err
	}
	if sch.Name, err = displayname.CleanName("name", sch.Name, maxName); err != nil {
		return Schedule{}, err
	}
	if err = s.checkActs(ctx, scheduling.Schedule{}, sch); err != nil {
		return Schedule{}, err
	}
	c := identity.CallerFrom(ctx)
	sch.CreatedBy, sch.Maker = c.Email, c.User
	err = scheduling.LimitedSchedules(c.Org).Add(ctx, s.p.Table, func(take table.Write) error {
		if err := s.checkRoom(ctx); err != nil {
			return err
		}
		sch, err = s.store.CreateSchedule(ctx, c.Org, sch, take)
		return err
	})
	if err != nil {
		return Schedule{}, err
	}
	out := s.newSchedule(sch)
	audit.NoteChange(ctx, audit.Change{Target: sch.ID, After: out})
	return out, nil
}

// checkRoom refuses one schedule more than the maximum.
func (s *service) checkRoom(ctx context.Context) error {
	all, err := s.store.ListSchedules(ctx, identity.CallerOrg(ctx))
	if err == nil && len(all) >= scheduling.MaxSchedules {
		return fault.New(fault.Invalid, "the organization has %d schedules, which is the most; delete one first",
			len(all))
	}
	return err
}

// scheduleOf builds the schedule that a body describes. The error is fault.Invalid if it is malformed.
func (s *service) scheduleOf(in NewSchedule) (scheduling.Schedule, error) {
	now := s.p.Clock.Now()
	sch := scheduling.Schedule{
		ID: id.New("sch", now), Name: cmp.Or(in.Name, in.Preset), Description: in.Description,
		Timezone:    cmp.Or(in.Timezone, "UTC"),
		CalendarIDs: in.CalendarIDs, Enabled: in.Enabled == nil || *in.Enabled, Preset: in.Preset,
		Tagged: in.ByTag == nil || *in.ByTag,
		Drift:  cmp.Or(in.Drift, scheduling.ReportDrift), GraceMinutes: in.GraceMinutes, CreatedAt: now, UpdatedAt: now,
	}
	var err error
	if in.Preset != "" {
		preset, err := findPreset(in.Preset)
		if err != nil {
			return sch, err
		}
		sch.Crons = preset.cronLines()
	}
	if in.Crons != nil || in.Preset == "" {
		if sch.Crons, err = newLines(in.Crons, nil); err != nil {
			return sch, err
		}
	}
	s.assignIDs(sch.Crons)
	return sch, checkSchedule(sch)
}

// checkSchedule refuses a malformed schedule.
func checkSchedule(sch scheduling.Schedule) error {
	if len(sch.Crons) == 0 {
		return fault.New(fault.Invalid, "crons: it is empty; send at least one, or a preset of GET /schedules/presets")
	}
	for i, id := range sch.CalendarIDs {
		if slices.Contains(sch.CalendarIDs[:i], id) {
			return fault.New(fault.Invalid, "calendarIDs: %.64q is named twice; name each once", id)
		}
	}
	_, err := scheduling.NewTimetable(sch, nil, scheduling.Span{})
	return err
}

// newLines parses crons. A sent ID must belong to one of old.
func newLines(in []Cron, old []scheduling.CronLine) ([]scheduling.CronLine, error) {
	out := make([]scheduling.CronLine, len(in))
	had := map[string]bool{}
	for i, c := range in {
		known := slices.ContainsFunc(old, func(l scheduling.CronLine) bool { return l.ID == c.ID })
		if c.ID != "" && (old != nil && !known || had[c.ID]) {
			return nil, fault.New(fault.Invalid, "crons[%d].id: %.64q is no cron of the schedule, or was sent "+
				"before; leave it out for a new one", i, c.ID)
		}
		if had[c.ID] = c.ID != ""; !known {
			c.ID = ""
		}
		out[i] = scheduling.CronLine{ID: c.ID, Expression: c.CronExpression, Action: c.Action}
	}
	return out, nil
}

// assignIDs gives IDs to the crons that have none.
func (s *service) assignIDs(lines []scheduling.CronLine) {
	for i := range lines {
		if lines[i].ID == "" {
			lines[i].ID = id.New("cron", s.p.Clock.Now())
		}
	}
}

// ChangedSchedule is the body of PUT /schedules/{scheduleID}.
type ChangedSchedule struct {
	Name         rest.Patch[string]   `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description  rest.Patch[string]   `json:"description,omitzero" maxLength:"500"`
	Timezone     rest.Patch[string]   `json:"timezone,omitzero" minLength:"1" maxLength:"64"`
	Crons        rest.Patch[[]Cron]   `json:"crons,omitzero" minItems:"1" maxItems:"50"`
	CalendarIDs  rest.Patch[[]string] `json:"calendarIDs,omitzero" maxItems:"10"`
	Enabled      rest.Patch[bool]     `json:"enabled,omitzero"`
	ByTag        rest.Patch[bool]     `json:"byTag,omitzero"`
	Drift        rest.Patch[string]   `json:"drift,omitzero" enum:"report,enforce"`
	GraceMinutes rest.Patch[int]      `json:"graceMinutes,omitzero" minimum:"0" maximum:"1440"`
}

type updateInput struct {
	ScheduleInput
	Body ChangedSchedule
}

func (s *service) updateSchedule(ctx context.Context, in *updateInput) (Schedule, error) {
	old, err := s.readSchedule(ctx, in.ScheduleID)
	if err != nil {
		return Schedule{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: s.newSchedule(old)})
	next := old
	if err = in.Body.applyTo(&next); err != nil {
		return Schedule{}, err
	}
	if next.Name, err = displayname.CleanName("name", next.Name, maxName); err != nil {
		return Schedule{}, err
	}
	s.assignIDs(next.Crons)
	if err = checkSchedule(next); err != nil {
		return Schedule{}, err
	}
	if err = s.checkActs(ctx, old, next); err != nil {
		return Schedule{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	if next, err = s.store.UpdateSchedule(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return Schedule{}, err
	}
	return s.newSchedule(next), nil
}

// applyTo changes the fields that were sent.
func (c ChangedSchedule) applyTo(to *scheduling.Schedule) error {
	for _, f := range []struct {
		name string
		null bool
	}{{"timezone", c.Timezone.Null}, {"crons", c.Crons.Null}, {"enabled", c.Enabled.Null}, {"byTag", c.ByTag.Null}} {
		if f.null {
			return fault.New(fault.Invalid, "%s: it cannot be null", f.name)
		}
	}
	c.Name.Apply(&to.Name)
	c.Description.Apply(&to.Description)
	c.Timezone.Apply(&to.Timezone)
	c.CalendarIDs.Apply(&to.CalendarIDs)
	c.Enabled.Apply(&to.Enabled)
	c.ByTag.Apply(&to.Tagged)
	c.Drift.Apply(&to.Drift)
	to.Drift = cmp.Or(to.Drift, scheduling.ReportDrift)
	c.GraceMinutes.Apply(&to.GraceMinutes)
	if !c.Crons.Sent {
		return nil
	}
	var err error
	to.Crons, err = newLines(c.Crons.Value, append([]scheduling.CronLine{}, to.Crons...))
	return err
}
