package schedules

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/shared/testkit/apitest"
)

// upcoming is the listed firings: schedule, time, action and why it is skipped.
func (f *fixture) upcoming(grants, query string) string {
	f.Helper()
	got := apitest.Data[Upcoming](f.Call(apitest.Caller(apitest.Org, "eve", grants), "GET /schedules/upcoming"+query))
	var lines []string
	for _, u := range got.Firings {
		line := fmt.Sprint(u.ScheduleName, " ", u.LocalTime[:16], " ", u.Action)
		if u.Skipped != nil {
			line += " " + *u.Skipped
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ") + map[bool]string{true: ", more"}[got.More]
}

func TestUpcoming_ListsTheFiringsOfAllSchedules(t *testing.T) {
	f := newFixture(t) // it is Tuesday, 2026-03-10, 08:00 UTC
	day := f.newSchedule(daily)
	f.Equal("action of the next firing", *day.NextFiringAction, "stop")
	f.newSchedule(nights)
	off := f.newSchedule(strings.Replace(daily, `"Day"`, `"Off","enabled":false`, 1))
	if off.NextFiringAction != nil {
		t.Errorf("a disabled schedule has the next action %s", *off.NextFiringAction)
	}
	const all = "Day 2026-03-10T20:00 stop, Nights 2026-03-10T20:00 stop, Day 2026-03-11T08:00 start"
	f.Equal("a day", f.upcoming("*:*", "?to=2026-03-11T07:30:00Z"), all)
	f.Equal("24 hours when nothing is said", f.upcoming("*:*", ""), all+", Nights 2026-03-11T08:00 start")
	f.Call(ada, "POST /schedules/"+day.ID+"/attachments", fmt.Sprintf(`{"resourceID":%q}`, f.ids[0]))
	f.Equal("what a resource grant sees", f.upcoming("*:* resource:"+f.ids[0], "?to=2026-03-10T23:00:00Z"),
		"Day 2026-03-10T20:00 stop")
	if got := f.upcoming("*:*", "?to=2026-06-01T00:00:00Z"); !strings.HasSuffix(got, ", more") ||
		strings.Count(got, ", ") != maxUpcoming {
		t.Errorf("a long time: %d firings", strings.Count(got, ", "))
	}
	f.Equal("until a past time", f.upcoming("*:*", "?to=2026-03-09T00:00:00Z"), "")
	f.Equal("until a far time", f.upcoming("*:*", "?to=2099-01-01"), f.upcoming("*:*", "?to=2026-06-10T08:00:00Z"))
	f.Call(ada, "GET /schedules/upcoming?to=soon").Want(http.StatusBadRequest, "to")
}

func TestUpcoming_NamesCalendarsOnlyToThoseWhoMayReadThem(t *testing.T) {
	f := newFixture(t)
	c := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars",
		`{"name":"Inventory","effect":"no_action","entries":[{"from":"2026-03-10","to":"2026-03-10"}]}`))
	f.newSchedule(strings.Replace(nights, `"Nights"`, fmt.Sprintf(`"Nights","calendarIDs":[%q]`, c.ID), 1))
	for grants, named := range map[string]bool{"*:*": true, "schedules:read": false} {
		got := apitest.Data[Upcoming](f.Call(apitest.Caller(apitest.Org, "eve", grants), "GET /schedules/upcoming"))
		u := got.Firings[0]
		if u.Skipped == nil || *u.Skipped != "calendar" || strings.Contains(*u.SkippedDetail, "Inventory") != named {
			t.Errorf("%s: %v %v", grants, *u.Skipped, *u.SkippedDetail)
		}
	}
}
