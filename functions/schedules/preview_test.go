package schedules

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// attachTo attaches instances to a schedule, and returns the warnings.
func (f *fixture) attachTo(scheduleID string, instances ...int) []string {
	f.Helper()
	var out []string
	for _, n := range instances {
		a := apitest.Data[Attached](f.Call(ada, "POST /schedules/"+scheduleID+"/attachments",
			fmt.Sprintf(`{"resourceID":%q}`, f.ids[n])))
		out = append(out, a.Warnings...)
	}
	return out
}

func (f *fixture) readPreview(scheduleID, query string) Preview {
	f.Helper()
	return apitest.Data[Preview](f.Call(ada, "GET /schedules/"+scheduleID+"/preview"+query))
}

// previewLines are the firings of a preview, each with how many it acts on and why it leaves others out.
func previewLines(p Preview) string {
	var b strings.Builder
	for _, f := range p.Firings {
		why := ""
		if f.Skipped != nil {
			why = *f.Skipped
		}
		fmt.Fprintf(&b, "%s %s %s %d %v %s\n", f.At.Format("01-02T15:04Z"), f.LocalTime, f.Action, f.ActsOn, f.LeftOut,
			why)
	}
	return b.String()
}

func TestPreview_OverTheDayOnWhichClocksAreSet(t *testing.T) {
	f := newFixture(t)
	made := f.newSchedule(`{"name":"Night","timezone":"Europe/Berlin",` +
		`"crons":[{"cronExpression":"30 2 * * *","action":"stop"}]}`)
	f.attachTo(made.ID, 0, 1)
	nights := previewLines(f.readPreview(made.ID, "?from=2026-03-28&to=2026-03-31"))
	f.Equal("firings", nights, `03-28T01:30Z 2026-03-28T02:30:00+01:00 stop 2 map[] 
03-29T01:00Z 2026-03-29T03:00:00+02:00 stop 2 map[] 
03-30T00:30Z 2026-03-30T02:30:00+02:00 stop 2 map[] 
`)
	f.Equal("in autumn", previewLines(f.readPreview(made.ID, "?from=2026-10-25&to=2026-10-26")),
		"10-25T00:30Z 2026-10-25T02:30:00+02:00 stop 2 map[] \n")
	p := f.readPreview(made.ID, "?from=2026-03-28&to=2026-03-29")
	if p.ExpectedSavingUSD != nil || !strings.Contains(p.SavingNote, "no public price") || p.WithoutRate != 2 ||
		p.Firings[0].ExpectedSavingUSD != nil {
		t.Errorf("a saving of no prices: %+v", p)
	}
	reached := []string{p.Firings[0].Resources[0].ResourceUID, p.Firings[0].Resources[1].ResourceUID}
	slices.Sort(reached)
	f.Equal("reached", fmt.Sprint(p.ResourceCount, reached), "2 [i-0 i-1]")
	f.Equal("without a time it is seven days", len(f.readPreview(made.ID, "").Firings), 7)
}

func TestPreview_SaysWhyOneIsLeftOut(t *testing.T) {
	f := newFixture(t)
	cal := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars",
		`{"name":"Easter","effect":"stay_stopped",`+
			`"entries":[{"from":"2026-04-03","to":"2026-04-06","name":"Easter"}]}`))
	day := f.newSchedule(strings.Replace(daily, `"name"`, fmt.Sprintf(`"calendarIDs":[%q],"name"`, cal.ID), 1))
	// 20:00 in Berlin
	rival := f.newSchedule(`{"name":"Rival","timezone":"UTC",` +
		`"crons":[{"cronExpression":"0 18 5 4 *","action":"start"}]}`)
	f.attachTo(day.ID, 0, 1, 2)
	warnings := f.attachTo(rival.ID, 1)
	if len(warnings) != 1 || !strings.Contains(warnings[0], "2026-04-05T18:00:00Z") ||
		!strings.Contains(warnings[0], day.ID) {
		t.Errorf("warnings: %q", warnings)
	}
	f.holdInstance(2, override.ForceOn, time.Date(2026, 4, 5, 20, 0, 0, 0, time.UTC))

	holidays := previewLines(f.readPreview(day.ID, "?from=2026-04-04&to=2026-04-08"))
	f.Equal("holidays", holidays, `04-04T06:00Z 2026-04-04T08:00:00+02:00 start 0 map[calendar:3] calendar
04-04T18:00Z 2026-04-04T20:00:00+02:00 stop 2 map[override:1] 
04-05T06:00Z 2026-04-05T08:00:00+02:00 start 0 map[calendar:3] calendar
04-05T18:00Z 2026-04-05T20:00:00+02:00 stop 1 map[contradiction:1 override:1] 
04-06T06:00Z 2026-04-06T08:00:00+02:00 start 0 map[calendar:3] calendar
04-06T18:00Z 2026-04-06T20:00:00+02:00 stop 3 map[] 
04-07T06:00Z 2026-04-07T08:00:00+02:00 start 3 map[] 
04-07T18:00Z 2026-04-07T20:00:00+02:00 stop 3 map[] 
`)
	f.Change(inventory.AccountKey(apitest.Org, inventorytest.Account), table.Set("permissionLevel", "read_only"))
	f.Equal("read-only", previewLines(f.readPreview(day.ID, "?from=2026-04-07&to=2026-04-07T12:00:00Z")),
		"04-07T06:00Z 2026-04-07T08:00:00+02:00 start 0 map[read_only_account:3] \n")
	f.Change(inventory.AccountKey(apitest.Org, inventorytest.Account), table.Set("permissionLevel", "read_write"),
		table.Set("status", "disconnected"))
	f.Equal("disconnected", previewLines(f.readPreview(day.ID, "?from=2026-04-07&to=2026-04-07T12:00:00Z")),
		"04-07T06:00Z 2026-04-07T08:00:00+02:00 start 0 map[disconnected_account:3] \n")
	f.Call(ada, "PUT /schedules/"+day.ID, `{"enabled":false}`).Want(http.StatusOK)
	f.Equal("disabled", previewLines(f.readPreview(day.ID, "?from=2026-04-07&to=2026-04-07T12:00:00Z")),
		"04-07T06:00Z 2026-04-07T08:00:00+02:00 start 0 map[disabled:3] disabled\n")
}

// holdInstance stores a live override on an instance, from now on.
func (f *fixture) holdInstance(n int, action override.Action, until time.Time) {
	f.Helper()
	err := override.ChangeLive(f.In(apitest.Org), f.Table, apitest.Org,
		func(l override.Live) (override.Live, []table.Write, error) {
			next, err := l.With(override.Override{
				ID: override.NewID(f.Clock.Now()), ResourceID: f.ids[n],
				Action:    action,
				CreatedAt: f.Clock.Now(), ExpiresAt: until,
			})
			return next, nil, err
		})
	if err != nil {
		f.Fatal(err)
	}
}

// TestPreview_NamesCalendarsToWhoMayReadThem: others learn that a calendar keeps the schedule from acting.
func TestPreview_NamesCalendarsToWhoMayReadThem(t *testing.T) {
	f := newFixture(t)
	cal := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars",
		`{"name":"Takeover of Globex","effect":"stay_stopped",`+
			`"entries":[{"from":"2026-04-03","to":"2026-04-06","name":"Signing"}]}`))
	day := f.newSchedule(strings.Replace(daily, `"name"`, fmt.Sprintf(`"calendarIDs":[%q],"name"`, cal.ID), 1))
	path := "GET /schedules/" + day.ID + "/preview?from=2026-04-04&to=2026-04-05"
	f.Call(ada, path).Want(http.StatusOK, "Takeover of Globex")
	got := f.Call(apitest.Caller(apitest.Org, "bob", "schedules:read,resources:read"), path).Want(http.StatusOK,
		`"skipped":"calendar"`, "calendars:read").Body
	if strings.Contains(got, "Globex") || strings.Contains(got, "Signing") {
		t.Errorf("the preview names the calendar: %s", got)
	}
}

func TestPreview_OfAScheduleThatIsNotStored(t *testing.T) {
	f := newFixture(t)
	body := fmt.Sprintf(`{"preset":"office-hours","timezone":"America/New_York","resourceIDs":[%q,%q],`+
		`"from":"2026-03-13","to":"2026-03-17"}`, f.ids[0], f.ids[1])
	a := f.Call(ada, "POST /schedules/preview", body)
	p := apitest.Data[Preview](a)
	f.Equal("firings", previewLines(p), `03-13T12:00Z 2026-03-13T08:00:00-04:00 start 2 map[] 
03-13T23:00Z 2026-03-13T19:00:00-04:00 stop 2 map[] 
03-16T12:00Z 2026-03-16T08:00:00-04:00 start 2 map[] 
03-16T23:00Z 2026-03-16T19:00:00-04:00 stop 2 map[] 
`)
	f.Equal("stored",
		fmt.Sprint(p.ScheduleID == nil, apitest.Data[rest.List[Schedule]](f.Call(ada, "GET /schedules")).Total),
		"true 0")
	f.Call(ada, "POST /schedules/preview",
		strings.Replace(body, f.ids[0], id.New("res", apitest.Start), 1)).Want(http.StatusNotFound, "resourceIDs")
}

func TestSchedules_Refusals(t *testing.T) {
	f := newFixture(t)
	day := f.newSchedule(daily)
	path := "/schedules/" + day.ID
	with := func(field, value string) string {
		return fmt.Sprintf(`{"name":"x","crons":[{"cronExpression":"0 8 * * *","action":"start"}],%q:%s}`, field, value)
	}
	cron := func(expression string) string {
		return fmt.Sprintf(
			`{"name":"x","crons":[{"cronExpression":"0 8 * * *","action":"stop"},`+
				`{"cronExpression":%q,"action":"start"}]}`, expression)
	}
	for _, c := range []struct {
		name, request, body string
		status              int
		says                []string
	}{
		{"no crons", "POST /schedules", `{"name":"x"}`, 400, []string{"crons"}},
		{
			"no name", "POST /schedules", `{"crons":[{"cronExpression":"0 8 * * *","action":"start"}]}`, 400,
			[]string{"name"},
		},
		{"a name that is taken", "POST /schedules", strings.Replace(daily, "Day", "dAY", 1), 409, []string{"name"}},
		{
			"30 February", "POST /schedules", cron("0 8 30 2 *"), 400,
			[]string{"crons[1].cronExpression", "0 8 30 2 *", "never"},
		},
		{
			"31 in months that have 30", "POST /schedules", cron("0 8 31 4,6 *"), 400,
			[]string{"crons[1].cronExpression", "never"},
		},
		{
			"minute 60", "POST /schedules", cron("60 8 * * *"), 400,
			[]string{"crons[1].cronExpression", "minute", `"60"`, "59"},
		},
		{"hour 24", "POST /schedules", cron("0 24 * * *"), 400, []string{"hour", `"24"`}},
		{"weekday 8", "POST /schedules", cron("0 8 * * 8"), 400, []string{"day of week", `"8"`}},
		{"a month of no name", "POST /schedules", cron("0 8 * foo *"), 400, []string{"month", `"foo"`}},
		{"six fields", "POST /schedules", cron("0 0 8 * * *"), 400, []string{"6 fields", "five"}},
		{"a macro", "POST /schedules", cron("@daily"), 400, []string{"@daily"}},
		{"a step of nothing", "POST /schedules", cron("*/0 8 * * *"), 400, []string{"step"}},
		{
			"an action of neither", "POST /schedules", strings.Replace(daily, `"stop"`, `"pause"`, 1), 400,
			[]string{"action"},
		},
		{
			"an unknown zone", "POST /schedules", with("timezone", `"Europe/Atlantis"`), 400,
			[]string{"timezone", "Europe/Atlantis"},
		},
		{"the zone of the machine", "POST /schedules", with("timezone", `"Local"`), 400, []string{"timezone", "Local"}},
		{
			"an unknown preset", "POST /schedules", `{"preset":"siesta"}`, 400,
			[]string{"preset", "siesta", "office-hours"},
		},
		{
			"an unknown calendar", "POST /schedules", with("calendarIDs", `["cal_01k00000000000000000000000"]`), 400,
			[]string{"calendarIDs"},
		},
		{
			"a calendar twice", "POST /schedules", with("calendarIDs", `["cal_1","cal_1"]`), 400,
			[]string{"calendarIDs", "cal_1"},
		},
		{"a grace below nothing", "POST /schedules", with("graceMinutes", "-1"), 400, []string{"graceMinutes"}},
		{"no crons any more", "PUT " + path, `{"crons":[]}`, 400, []string{"crons"}},
		{
			"a cron of another schedule", "PUT " + path,
			`{"crons":[{"id":"cron_1","cronExpression":"0 8 * * *","action":"start"}]}`, 400,
			[]string{"crons[0].id", "cron_1"},
		},
		{"a zone of null", "PUT " + path, `{"timezone":null}`, 400, []string{"timezone"}},
		{"a schedule that does not exist", "GET /schedules/sch_01k00000000000000000000000", "", 404, []string{"sch_"}},
		{"what is no id", "GET /schedules/x", "", 404, []string{"x"}},
		{"nothing to attach", "POST " + path + "/attachments", `{}`, 400, []string{"resourceID", "groupID"}},
		{
			"two to attach", "POST " + path + "/attachments", `{"resourceID":"a","groupID":"b"}`, 400,
			[]string{"exactly one"},
		},
		{
			"an unknown resource", "POST " + path + "/attachments", `{"resourceID":"res_01k00000000000000000000000"}`,
			404,
			[]string{"res_"},
		},
		{
			"an unknown group", "POST " + path + "/attachments", `{"groupID":"grp_01k00000000000000000000000"}`, 404,
			[]string{"grp_"},
		},
		{
			"a preview of 93 days", "GET " + path + "/preview?from=2026-04-01&to=2026-07-03", "", 400,
			[]string{"to", "92 days", "2026-07-03"},
		},
		{
			"a preview that runs backwards", "GET " + path + "/preview?from=2026-04-02&to=2026-04-01", "", 400,
			[]string{"from"},
		},
		{"a preview of no date", "GET " + path + "/preview?from=soon", "", 400, []string{"from"}},
		{
			"a new preview of 93 days", "POST /schedules/preview", with("to", `"2027-01-01","from":"2026-09-01"`), 400,
			[]string{"to", "92 days"},
		},
		{
			"a new preview of an impossible cron", "POST /schedules/preview", cron("0 8 30 2 *"), 400,
			[]string{"crons[1].cronExpression"},
		},
		{
			"too many firings", "POST /schedules/preview",
			strings.Replace(with("to", `"2026-04-01"`), "0 8 * * *", "* * * * *", 1), 400,
			[]string{"firings", "shorter"},
		},
		{
			"schedules of an unknown group", "GET /resource-groups/grp_01k00000000000000000000000/schedules", "", 404,
			[]string{"grp_"},
		},
	} {
		a := f.Call(ada, c.request, c.body)
		if a.Status != c.status || slices.ContainsFunc(c.says, func(w string) bool {
			return !strings.Contains(strings.ReplaceAll(a.Body, `\"`, `"`), w)
		}) {
			t.Errorf("%s: %s; want %d with %q", c.name, a, c.status, c.says)
		}
	}
}

func TestSchedules_AnotherOrganizationSeesNothing(t *testing.T) {
	f := newFixture(t)
	day := f.newSchedule(daily)
	f.attachTo(day.ID, 0)
	cal := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars",
		`{"name":"c","effect":"no_action","entries":[{"from":"2026-12-24"}]}`))
	path := "/schedules/" + day.ID
	for _, request := range []string{
		"GET " + path, "PUT " + path + ` {"name":"mine"}`, "DELETE " + path, "GET " + path + "/preview",
		"GET " + path + "/attachments",
		"POST " + path + `/attachments {"resourceUID":"i-0"}`, "DELETE " + path + "/attachments/" + f.ids[0],
		"GET /calendars/" + cal.ID, "PUT /calendars/" + cal.ID + ` {"name":"mine"}`, "DELETE /calendars/" + cal.ID,
	} {
		f.Call(eve, request).Want(http.StatusNotFound)
	}
	f.Equal("schedules", apitest.Data[rest.List[Schedule]](f.Call(eve, "GET /schedules")).Total, 0)
	f.Equal("calendars", apitest.Data[rest.List[calendars.Calendar]](f.Call(eve, "GET /calendars")).Total, 0)
	f.Call(eve, "POST /schedules",
		strings.Replace(daily, `"name"`, fmt.Sprintf(`"calendarIDs":[%q],"name"`, cal.ID),
			1)).Want(http.StatusBadRequest, "calendarIDs")
	f.Call(eve, "POST /schedules/preview",
		strings.Replace(daily, `"name"`, fmt.Sprintf(`"resourceIDs":[%q],"name"`, f.ids[0]),
			1)).Want(http.StatusNotFound)
}

func TestSchedules_AScopedCallerSeesWhatTakesTheirResources(t *testing.T) {
	f := newFixture(t)
	team := inventorytest.Team(f.Fixture, apitest.Org, "Web", f.ids[0], f.ids[1])
	mine, other := f.newSchedule(daily), f.newSchedule(strings.Replace(daily, "Day", "Other", 1))
	f.attachTo(mine.ID, 0, 2)
	f.attachTo(other.ID, 2, 3)
	tim := apitest.Caller(apitest.Org, "tim", "viewer team:"+team)
	list := apitest.Data[rest.List[Schedule]](f.Call(tim, "GET /schedules"))
	f.Equal("list", fmt.Sprint(list.Total, list.Items[0].ID), "1"+mine.ID)
	f.Call(tim, "GET /schedules/"+other.ID).Want(http.StatusNotFound)
	f.Call(tim, "GET /schedules/"+other.ID+"/preview").Want(http.StatusNotFound)
	on := apitest.Data[rest.List[Attachment]](f.Call(tim, "GET /schedules/"+mine.ID+"/attachments"))
	f.Equal("attachments", fmt.Sprint(on.Total, on.Items[0].ID), "1"+f.ids[0])
	p := apitest.Data[Preview](f.Call(tim, "GET /schedules/"+mine.ID+"/preview"))
	f.Equal("preview", fmt.Sprint(p.ResourceCount, len(p.Firings[0].Resources), p.Firings[0].Resources[0].ResourceID),
		"1 1"+f.ids[0])
	for _, c := range []identity.Caller{tim, apitest.Caller(apitest.Org, "eli", "editor team:"+team)} {
		f.Call(c, "POST /schedules", daily).Want(http.StatusForbidden)
		f.Call(c, "POST /schedules/"+mine.ID+"/attachments", `{"resourceUID":"i-1"}`).Want(http.StatusForbidden)
	}
	f.Call(tim, "POST /schedules/preview",
		strings.Replace(daily, `"name"`, fmt.Sprintf(`"resourceIDs":[%q],"name"`, f.ids[3]),
			1)).Want(http.StatusNotFound)
}

func TestSchedules_ByTagAndByGroup(t *testing.T) {
	f := newFixture(t)
	tagged := inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2",
		cloud.Resource{
			UID: "i-a", Name: "a", Type: "aws-ec2", Region: "eu-west-1", Status: cloud.Running,
			Tags: map[string]string{"lamplighter:schedule": "Office Hours"},
		},
		cloud.Resource{
			UID: "i-b", Name: "b", Type: "aws-ec2", Region: "eu-west-1", Status: cloud.Running,
			Tags: map[string]string{"lamplighter-schedule": "office-hours"},
		},
		cloud.Resource{
			UID: "i-c", Name: "c", Type: "aws-ec2", Region: "eu-west-1", Status: cloud.Running,
			Tags: map[string]string{"lamplighter:schedule": "siesta"},
		},
	)
	f.ids = tagged
	f.Equal("before there is a schedule", f.schedulesOf(0)+f.schedulesOf(1), "[][]")
	office := f.newSchedule(`{"preset":"office-hours","timezone":"Europe/Berlin"}`)
	f.Equal("named", office.Name, "office-hours")
	f.Equal("of what is tagged", f.schedulesOf(0)+f.schedulesOf(1)+f.schedulesOf(2),
		fmt.Sprintf("[%s][%s][]", office.ID, office.ID))
	f.Call(ada, "PUT /schedules/"+office.ID, `{"name":"Berlin"}`).Want(http.StatusOK)
	f.Equal("by its preset", f.schedulesOf(1), fmt.Sprintf("[%s]", office.ID))
	f.Equal("taken", f.readPreview(office.ID, "").ResourceCount, 2)
	f.Call(ada, "PUT /schedules/"+office.ID, `{"byTag":false}`).Want(http.StatusOK)
	f.Equal("switched off", f.schedulesOf(1)+strconv.Itoa(f.readPreview(office.ID, "").ResourceCount), "[]0")

	g := f.addGroup("Web", inventory.Selector{Tags: map[string]string{"lamplighter:schedule": "siesta"}})
	a := apitest.Data[Attached](f.Call(ada, "POST /schedules/"+office.ID+"/attachments",
		fmt.Sprintf(`{"groupID":%q}`, g.ID)))
	f.Equal("attached", fmt.Sprint(a.ID, *a.Name, a.ResourceID == nil), fmt.Sprint(g.ID, "Web", true))
	f.Equal("of its member", f.schedulesOf(2), fmt.Sprintf("[%s]", office.ID))
	list := apitest.Data[rest.List[Schedule]](f.Call(ada, "GET /resource-groups/"+g.ID+"/schedules"))
	f.Equal("of the group", fmt.Sprint(list.Total, list.Items[0].ID), "1"+office.ID)
	f.Equal("reached", f.readPreview(office.ID, "").Firings[0].Resources[0].ResourceUID, "i-c")
	apitest.Data[rest.Deleted](f.Call(ada, "DELETE /schedules/"+office.ID+"/attachments/"+g.ID))
	f.Equal("of its member after", f.schedulesOf(2), "[]")
}

// addGroup stores a group.
func (f *fixture) addGroup(name string, sel inventory.Selector) inventory.Group {
	f.Helper()
	g := inventory.Group{
		ID: id.New("grp", f.Clock.Now()), Name: name, Selector: &sel,
		FailurePolicy: inventory.ContinueOnFailure, CreatedAt: f.Clock.Now(),
	}
	return apitest.Value(inventory.New(f.Platform).CreateGroup(f.In(apitest.Org), apitest.Org, g, nil))(f)
}

func TestCalendars_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	const ics = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//x//EN\r\nBEGIN:VEVENT\r\nUID:1\r\n` +
		`DTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20261224\r\nSUMMARY:Christmas\r\nRRULE:FREQ=YEARLY\r\n` +
		`END:VEVENT\r\nEND:VCALENDAR\r\n`
	made := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars",
		`{"name":"Holidays","effect":"stay_stopped","iCalendar":"`+ics+`"}`))
	if !id.IsValid("cal", made.ID) || made.ICalendar == nil || made.Timezone != nil {
		t.Errorf("made: %+v", made)
	}
	path := "/calendars/" + made.ID
	f.Equal("read", apitest.JSON(apitest.Data[calendars.Calendar](f.Call(ada, "GET "+path))), apitest.JSON(made))
	got := apitest.Data[calendars.Calendar](f.Call(ada, "PUT "+path,
		`{"effect":"no_action","entries":[{"from":"2026-12-31","yearly":true}],"timezone":"Europe/Berlin"}`))
	f.Equal("changed", fmt.Sprint(got.Name, got.Effect, len(got.Entries), *got.Timezone),
		fmt.Sprint("Holidays", "no_action", 1, "Europe/Berlin"))
	day := f.newSchedule(strings.Replace(daily, `"name"`, fmt.Sprintf(`"calendarIDs":[%q],"name"`, made.ID), 1))
	f.attachTo(day.ID, 0)
	// Christmas Eve and New Year's Eve
	f.Equal("no firing acts",
		strings.Count(previewLines(f.readPreview(day.ID, "?from=2026-12-24&to=2027-01-01")), " calendar\n"),
		4)
	f.Call(ada, "DELETE "+path).Want(http.StatusConflict, day.ID, "Day", "calendarIDs")
	f.Call(ada, "PUT /schedules/"+day.ID, `{"calendarIDs":[]}`).Want(http.StatusOK)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
}

func TestCalendars_Refusals(t *testing.T) {
	f := newFixture(t)
	body := func(entry string) string { return `{"name":"x","effect":"no_action","entries":[` + entry + `]}` }
	for _, c := range []struct {
		name, body string
		says       []string
	}{
		{"no day", `{"name":"x","effect":"no_action"}`, []string{"entries", "iCalendar"}},
		{"no effect", `{"name":"x","entries":[{"from":"2026-12-24"}]}`, []string{"effect"}},
		{"an unknown effect", `{"name":"x","effect":"sleep","entries":[{"from":"2026-12-24"}]}`, []string{"effect"}},
		{"no date", body(`{"from":"Christmas"}`), []string{"entries[0].from", "Christmas"}},
		{"a day that no month has", body(`{"from":"2026-02-30"}`), []string{"entries[0].from", "2026-02-30"}},
		{
			"a day of the past", body(`{"from":"2026-12-24"},{"from":"2026-03-01"}`),
			[]string{"entries[1]", "2026-03-01", "past"},
		},
		{
			"an end before its beginning", body(`{"from":"2026-12-24","to":"2026-12-23"}`),
			[]string{"entries[0].to", "2026-12-23"},
		},
		{"a time without its end", body(`{"from":"2026-12-24T18:00"}`), []string{"entries[0].to"}},
		{"longer than a year", body(`{"from":"2026-12-24","to":"2028-12-24"}`), []string{"entries[0]", "366"}},
		{
			"an unknown zone",
			`{"name":"x","effect":"no_action","timezone":"Mars/Base","entries":[{"from":"2026-12-24"}]}`,
			[]string{"timezone", "Mars/Base"},
		},
		{"no iCalendar", `{"name":"x","effect":"no_action","iCalendar":"hello"}`, []string{"iCalendar"}},
		{
			"an iCalendar without events",
			`{"name":"x","effect":"no_action","iCalendar":"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}`,
			[]string{"iCalendar", "0 events"},
		},
		{
			"one that repeats each second",
			`{"name":"x","effect":"no_action","iCalendar":"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n` +
				`DTSTART:20261224T000000Z\r\nDURATION:PT1H\r\nRRULE:FREQ=SECONDLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"}`,
			[]string{"iCalendar", "RRULE", "SECONDLY"},
		},
	} {
		a := f.Call(ada, "POST /calendars", c.body)
		if a.Status != 400 || slices.ContainsFunc(c.says, func(w string) bool { return !strings.Contains(a.Body, w) }) {
			t.Errorf("%s: %s; want 400 with %q", c.name, a, c.says)
		}
	}
	// A day that was to come when it was sent stays when it is over.
	made := apitest.Data[calendars.Calendar](f.Call(ada, "POST /calendars", body(`{"from":"2026-03-20"}`)))
	f.Clock.Advance(30 * 24 * time.Hour)
	f.Call(ada, "PUT /calendars/"+made.ID,
		`{"entries":[{"from":"2026-03-20"},{"from":"2026-12-24"}]}`).Want(http.StatusOK)
	f.Call(ada, "PUT /calendars/"+made.ID, `{"entries":[{"from":"2026-03-21"}]}`).Want(http.StatusBadRequest, "past")
}
