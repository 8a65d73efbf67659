package calendars

import (
	"context"
	"fmt"
	"time"

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

// Calendar is the client's view of a calendar.
type Calendar struct {
	ID          string          `json:"id" example:"cal_01k6v0e4y0c2b7m9q8r5t3w1xz"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Effect      string          `json:"effect" enum:"stay_stopped,stay_running,no_action"`
	Timezone    *string         `json:"timezone" doc:"IANA; null: that of each schedule"`
	Entries     []CalendarEntry `json:"entries"`
	ICalendar   *string         `json:"iCalendar" doc:"As it was sent; null for none, and in lists"`
	CreatedAt   time.Time       `json:"createdAt"`
	UpdatedAt   time.Time       `json:"updatedAt"`
}

// CalendarEntry is a day, some days or a window of a calendar.
type CalendarEntry struct {
	Name   string `json:"name" required:"false" maxLength:"128"`
	From   string `json:"from" maxLength:"40" doc:"A date, or a local time" example:"2026-12-24"`
	To     string `json:"to" required:"false" maxLength:"40" doc:"The last day, or the end; absent, one day" example:"2026-12-26"`
	Yearly bool   `json:"yearly" required:"false" doc:"Every year from then on"`
}

func newCalendar(c scheduling.Calendar) Calendar {
	out := Calendar{
		ID: c.ID, Name: c.Name, Description: c.Description, Effect: string(c.Effect),
		Timezone: rest.Optional(c.Timezone),
		Entries:  make([]CalendarEntry, len(c.Entries)), ICalendar: rest.Optional(c.ICalendar), CreatedAt: c.CreatedAt,
		UpdatedAt: c.UpdatedAt,
	}
	for i, e := range c.Entries {
		out.Entries[i] = CalendarEntry(e)
	}
	return out
}

// newBrief returns a calendar without its text.
func newBrief(c scheduling.Calendar) Calendar {
	c.ICalendar = ""
	return newCalendar(c)
}

func newEntries(in []CalendarEntry) []scheduling.Entry {
	out := make([]scheduling.Entry, len(in))
	for i, e := range in {
		out[i] = scheduling.Entry(e)
	}
	return out
}

// NewCalendar is the body of POST /calendars.
type NewCalendar struct {
	Name        string          `json:"name" minLength:"1" maxLength:"128"`
	Description string          `json:"description,omitempty" maxLength:"500"`
	Effect      string          `json:"effect" enum:"stay_stopped,stay_running,no_action"`
	Timezone    string          `json:"timezone,omitempty" maxLength:"64"`
	Entries     []CalendarEntry `json:"entries,omitempty" maxItems:"500"`
	ICalendar   string          `json:"iCalendar,omitempty" maxLength:"64000"`
}

func (s *service) createCalendar(ctx context.Context, in *struct{ Body NewCalendar }) (Calendar, error) {
	now := s.p.Clock.Now()
	c := scheduling.Calendar{
		ID: id.New("cal", now), Name: in.Body.Name, Description: in.Body.Description,
		Effect:   scheduling.Effect(in.Body.Effect),
		Timezone: in.Body.Timezone, Entries: newEntries(in.Body.Entries), ICalendar: in.Body.ICalendar, CreatedAt: now,
		UpdatedAt: now,
	}
	if err := s.checkCalendar(&c, nil); err != nil {
		return Calendar{}, err
	}
	org := identity.CallerOrg(ctx)
	err := scheduling.LimitedCalendars(org).Add(ctx, s.p.Table, func(take table.Write) error {
		err := s.checkRoom(ctx)
		if err == nil {
			c, err = s.store.CreateCalendar(ctx, org, c, take)
		}
		return err
	})
	if err != nil {
		return Calendar{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: c.ID, After: newCalendar(c)})
	return newCalendar(c), nil
}

// checkCalendar normalizes the name, and refuses a malformed calendar.
func (s *service) checkCalendar(c *scheduling.Calendar, known []scheduling.Entry) error {
	var err error
	if c.Name, err = displayname.CleanName("name", c.Name, maxName); err != nil {
		return err
	}
	return c.Check(s.p.Clock.Now(), known)
}

// checkRoom refuses one calendar more than the maximum.
func (s *service) checkRoom(ctx context.Context) error {
	all, err := s.store.ListCalendars(ctx, identity.CallerOrg(ctx))
	if err == nil && len(all) >= scheduling.MaxCalendars {
		return fault.New(fault.Invalid, "the organization has %d calendars, which is the most; delete one first",
			len(all))
	}
	return err
}

func (s *service) getCalendar(ctx context.Context, in *CalendarInput) (Calendar, error) {
	c, err := s.readCalendar(ctx, in.CalendarID)
	if err != nil {
		return Calendar{}, err
	}
	return newCalendar(c), nil
}

// readCalendar reads a calendar. A malformed ID is reported as missing without a look-up.
func (s *service) readCalendar(ctx context.Context, calendarID string) (scheduling.Calendar, error) {
	if !id.IsValid("cal", calendarID) {
		return scheduling.Calendar{}, fault.New(fault.NotFound, "calendar %.64q does not exist", calendarID)
	}
	return s.store.ReadCalendar(ctx, identity.CallerOrg(ctx), calendarID)
}

// ChangedCalendar is the body of PUT /calendars/{calendarID}.
type ChangedCalendar struct {
	Name        rest.Patch[string]          `json:"name,omitzero" minLength:"1" maxLength:"128"`
	Description rest.Patch[string]          `json:"description,omitzero" maxLength:"500"`
	Effect      rest.Patch[string]          `json:"effect,omitzero" enum:"stay_stopped,stay_running,no_action"`
	Timezone    rest.Patch[string]          `json:"timezone,omitzero" maxLength:"64"`
	Entries     rest.Patch[[]CalendarEntry] `json:"entries,omitzero" maxItems:"500"`
	ICalendar   rest.Patch[string]          `json:"iCalendar,omitzero" maxLength:"64000"`
}

type updateInput struct {
	CalendarInput
	Body ChangedCalendar
}

func (s *service) updateCalendar(ctx context.Context, in *updateInput) (Calendar, error) {
	old, err := s.readCalendar(ctx, in.CalendarID)
	if err != nil {
		return Calendar{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newCalendar(old)})
	next := old
	if err = in.Body.applyTo(&next); err != nil {
		return Calendar{}, err
	}
	next.UpdatedAt = s.p.Clock.Now()
	if err = s.checkCalendar(&next, old.Entries); err != nil {
		return Calendar{}, err
	}
	if next, err = s.store.UpdateCalendar(ctx, identity.CallerOrg(ctx), old, next); err != nil {
		return Calendar{}, err
	}
	return newCalendar(next), nil
}

// applyTo changes the fields that were sent.
func (c ChangedCalendar) applyTo(to *scheduling.Calendar) error {
	if c.Effect.Null {
		return fault.New(fault.Invalid, "effect: it cannot be null; send stay_stopped, stay_running or no_action")
	}
	c.Name.Apply(&to.Name)
	c.Description.Apply(&to.Description)
	c.Timezone.Apply(&to.Timezone)
	c.ICalendar.Apply(&to.ICalendar)
	if c.Effect.Sent {
		to.Effect = scheduling.Effect(c.Effect.Value)
	}
	if c.Entries.Sent {
		to.Entries = newEntries(c.Entries.Value)
	}
	return nil
}

func (s *service) deleteCalendar(ctx context.Context, in *CalendarInput) (rest.Deleted, error) {
	c, err := s.readCalendar(ctx, in.CalendarID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newCalendar(c)})
	uses, err := s.store.UsesOfCalendar(ctx, identity.CallerOrg(ctx), c.ID)
	if err != nil {
		return rest.Deleted{}, err
	}
	if err = inUse(ctx, c, uses); err != nil {
		return rest.Deleted{}, err
	}
	return rest.Deleted{ID: c.ID}, s.store.DeleteCalendar(ctx, identity.CallerOrg(ctx), c)
}

// inUse returns the error that lists the schedules that use a calendar, or nil if there are none.
func inUse(ctx context.Context, c scheduling.Calendar, by []scheduling.Use) error {
	uses := make([]fault.Use, len(by))
	for i, u := range by {
		uses[i] = fault.Use{Kind: "schedule", ID: u.ID, Name: u.Name, Policy: "schedules:read"}
	}
	return identity.InUse(ctx, fmt.Sprintf("calendar %s (%s)", c.ID, c.Name), uses,
		"take it out of their calendarIDs, then delete")
}
