// Package calendars is the operation group of calendars: the holidays and freeze windows in which schedules do not act.
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
		Description: "At most 100 an organization, without their iCalendar texts: read one for its.",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "createCalendar", Method: http.MethodPost, Path: calendars, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a calendar", Description: shape,
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getCalendar", Method: http.MethodGet, Path: one, Policy: reading, Statuses: missing,
		Summary: "Read a calendar",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateCalendar", Method: http.MethodPut, Path: one, Policy: writing, Statuses: both,
		Summary: "Change a calendar",
		Description: "Changes only the fields present; entries replaces all entries, iCalendar the whole text. " +
			shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteCalendar", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a calendar", Description: "One that schedules name is 409, which lists them.",
	}, s.remove)
	return g
}

const shape = "Days are entries, an iCalendar text (RFC 5545, events, also repeating by days, weeks, months or " +
	"years), or both. " +
	"Instances that are moved or cancelled are followed; what cannot be followed is 400 naming its line. During them " +
	"the schedules that name the " +
	"calendar do not start (effect stay_stopped), do not stop (stay_running) or do neither (no_action); what a " +
	"firing would have done is not made up for afterwards. " +
	"An entry goes from a date to a date, which is included, or from a local time to a local time, which is not. " +
	"A local time that occurs twice, as clocks are set back, is the first of the two; one that is skipped is the " +
	"first minute " +
	"after the gap. Days are those of the calendar's timezone, or without one of " +
	"the schedule's. 29 February is a day of leap years alone. An entry that is over and not yearly is refused, " +
	"unless the calendar has it already. Names are unique without " +
	"regard to case."

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

// orders are what calendars can be sorted by.
type orders struct{}

var _ rest.Orders[scheduling.Calendar] = orders{}

func (orders) Orders() []rest.Order[scheduling.Calendar] {
	return []rest.Order[scheduling.Calendar]{
		rest.OrderByText("name", func(c scheduling.Calendar) string { return c.Name }),
		rest.OrderByTime("createdAt", func(c scheduling.Calendar) time.Time { return c.CreatedAt }),
	}
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[Calendar], error) {
	all, err := s.store.ListCalendars(ctx, identity.CallerOrg(ctx))
	if err != nil {
		return rest.List[Calendar]{}, err
	}
	in.Apply(all)
	return rest.MapItems(rest.PageOf(all, in.Page), newBrief), nil
}
