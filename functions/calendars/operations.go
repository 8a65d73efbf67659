// Package calendars is the operation group of calendars: holidays and freeze windows that suppress schedules.
package calendars

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/scheduling"
)

const (
	calendars = "/calendars"
	one       = calendars + "/{calendarID}"
	reading   = "calendars:read"
	writing   = "calendars:write"
)

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Schedules")
	s := &service{p, scheduling.New(p)}
	invalid, missing, both := []int{http.StatusBadRequest}, []int{http.StatusNotFound},
		[]int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict}
	rest.Handle(g, rest.Op{
		ID: "listCalendars", Method: http.MethodGet, Path: calendars, Policy: reading, Statuses: invalid,
		Summary:     "List calendars",
		Description: "At most 100 an organization. Without their iCalendar texts; read one calendar to get its text.",
	}, s.listCalendars)
	rest.Handle(g, rest.Op{
		ID: "createCalendar", Method: http.MethodPost, Path: calendars, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a calendar", Description: shape,
	}, s.createCalendar)
	rest.Handle(g, rest.Op{
		ID: "getCalendar", Method: http.MethodGet, Path: one, Policy: reading, Statuses: missing,
		Summary: "Read a calendar",
	}, s.getCalendar)
	rest.Handle(g, rest.Op{
		ID: "updateCalendar", Method: http.MethodPut, Path: one, Policy: writing, Statuses: both,
		Summary: "Change a calendar",
		Description: "Changes only the fields present; entries replaces all entries, iCalendar the whole text. " +
			shape,
	}, s.updateCalendar)
	rest.Handle(g, rest.Op{
		ID: "deleteCalendar", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a calendar", Description: "A calendar used by schedules is 409, and the answer lists them.",
	}, s.deleteCalendar)
	return g
}

const shape = "The days are entries, an iCalendar text (RFC 5545 events, also repeating by days, weeks, months or " +
	"years), or both. Moved and cancelled instances are respected; an unsupported rule is 400 naming its line. " +
	"During these days the schedules that use the calendar do not start (effect stay_stopped), do not stop " +
	"(stay_running) or do neither (no_action); a suppressed firing is not caught up afterwards. An entry lasts " +
	"from a date to a date, inclusive, or from a local time to a local time, exclusive. A local time that occurs " +
	"twice means its first occurrence; a local time skipped by a clock change means the first minute after the " +
	"gap. Days are days in the calendar's timezone, or without one in the schedule's. 29 February exists in leap " +
	"years only. An entry in the past that is not yearly is refused, unless the calendar already has it. Names are " +
	"unique, ignoring case."

type service struct {
	p     *platform.Platform
	store *scheduling.Store
}

// CalendarInput names the calendar of a request.
type CalendarInput struct {
	CalendarID string `path:"calendarID" maxLength:"64"`
}

type listInput struct {
	rest.Page
	rest.Sort[scheduling.Calendar, orders]
}

// orders are the sort orders of calendars.
type orders struct{}

var _ rest.Orders[scheduling.Calendar] = orders{}

func (orders) Orders() []rest.Order[scheduling.Calendar] {
	return []rest.Order[scheduling.Calendar]{
		rest.OrderByText("name", func(c scheduling.Calendar) string { return c.Name }),
		rest.OrderByTime("createdAt", func(c scheduling.Calendar) time.Time { return c.CreatedAt }),
	}
}

func (s *service) listCalendars(ctx context.Context, in *listInput) (rest.List[Calendar], error) {
	all, err := s.store.ListCalendars(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[Calendar]{}, err
	}
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), newBrief), nil
}
