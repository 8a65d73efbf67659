package schedules

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

var (
	ada = apitest.Caller(apitest.Org, "ada", "owner")
	eve = apitest.Caller(apitest.OtherOrg, "eve", "owner")
)

// fixture has five instances, and the operations of schedules and calendars.
type fixture struct {
	*apitest.Fixture
	ids []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t, Operations, calendars.Operations)}
	f.ids = inventorytest.Discover(f.Fixture, apitest.Org, "aws-ec2", inventorytest.Instances(5)...)
	return f
}

// newSchedule makes one.
func (f *fixture) newSchedule(body string) Schedule {
	f.Helper()
	return apitest.Data[Schedule](f.Call(ada, "POST /schedules", body))
}

const daily = `{"name":"Day","timezone":"Europe/Berlin","crons":[` +
	`{"cronExpression":"0 8 * * *","action":"start"},{"cronExpression":"0 20 * * *","action":"stop"}]}`

func TestSchedules_FromCreationToEnd(t *testing.T) {
	f := newFixture(t)
	made := f.newSchedule(daily)
	if !id.IsValid("sch", made.ID) || !id.IsValid("cron", made.Crons[0].ID) || !made.Enabled || !made.ByTag ||
		made.Drift != "report" {
		t.Errorf("made: %+v", made)
	}
	f.Equal("next", made.NextFiringAt.UTC(), "2026-03-10 19:00:00 +0000 UTC") // 20:00 in Berlin
	f.Equal("read", f.read(made.ID), apitest.JSON(made))
	path := "/schedules/" + made.ID
	got := apitest.Data[Schedule](f.Call(ada, "PUT "+path,
		fmt.Sprintf(`{"name":"Days","enabled":false,"crons":[`+
			`{"id":%q,"cronExpression":"0 9 * * *","action":"start"},{"cronExpression":"0 21 * * *","action":"stop"}]}`,
			made.Crons[0].ID)))
	f.Equal("kept its cron", got.Crons[0].ID, made.Crons[0].ID)
	f.Equal("changed",
		fmt.Sprint(got.Name, got.Enabled, got.Crons[0].CronExpression, got.NextFiringAt,
			got.Crons[1].ID != made.Crons[1].ID), fmt.Sprint("Days", false, "0 9 * * *", nil, true))

	a := apitest.Data[Attached](f.Call(ada, "POST "+path+"/attachments", fmt.Sprintf(`{"resourceID":%q}`, f.ids[0])))
	f.Equal("attached", fmt.Sprint(a.ID, *a.ResourceUID, *a.Name, a.Warnings),
		fmt.Sprint(f.ids[0], "i-0", "web-0", []string{}))
	f.Equal("counted", f.getSchedule(made.ID).AttachmentCount, 1)
	f.Call(ada, "POST "+path+"/attachments", `{"resourceUID":"i-0"}`).Want(http.StatusConflict, f.ids[0])
	list := apitest.Data[rest.List[Attachment]](f.Call(ada, "GET "+path+"/attachments"))
	f.Equal("attachments", fmt.Sprint(list.Total, list.Items[0].ID), "1"+f.ids[0])
	f.Equal("of the resource", f.schedulesOf(0), fmt.Sprint([]string{made.ID}))
	f.Call(ada, "DELETE "+path+"/attachments/"+f.ids[1]).Want(http.StatusNotFound, f.ids[1])
	apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path+"/attachments/"+f.ids[0]))
	f.Equal("of the resource after", f.schedulesOf(0), "[]")
	f.Equal("counted after", f.getSchedule(made.ID).AttachmentCount, 0)

	f.Call(ada, "POST "+path+"/attachments", `{"resourceUID":"i-1"}`).Want(http.StatusOK)
	f.Equal("deleted", apitest.Data[rest.Deleted](f.Call(ada, "DELETE "+path)).ID, made.ID)
	f.Equal("of the resource at the end", f.schedulesOf(1), "[]")
	f.Call(ada, "GET "+path).Want(http.StatusNotFound, made.ID)
	f.newSchedule(strings.Replace(daily, "Day", "days", 1)) // its name is free
}

func (f *fixture) getSchedule(scheduleID string) Schedule {
	f.Helper()
	return apitest.Data[Schedule](f.Call(ada, "GET /schedules/"+scheduleID))
}

func (f *fixture) read(scheduleID string) string { return apitest.JSON(f.getSchedule(scheduleID)) }

// schedulesOf prints which schedules the inventory says that an instance has.
func (f *fixture) schedulesOf(n int) string {
	f.Helper()
	got := apitest.Value(inventory.New(f.Platform).ByIDs(f.In(apitest.Org), apitest.Org, f.ids[n:n+1],
		inventory.SeeEverything().WithSchedules(scheduling.Heads{})))(f)
	return fmt.Sprint(got[0].ScheduleIDs)
}
