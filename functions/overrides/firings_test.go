package overrides

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/schedules"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// newSchedule attaches our group to a schedule that stops it at 19:00 and starts it at 08:00 UTC.
func (a *fixture) newSchedule() scheduling.Schedule {
	a.Helper()
	now, store := a.Clock.Now(), scheduling.New(a.Platform)
	sch := apitest.Value(store.CreateSchedule(a.In(ours), ours, scheduling.Schedule{
		ID: id.New("sch", now), Name: "Office", Timezone: "UTC", Enabled: true, CreatedAt: now, UpdatedAt: now,
		Drift: scheduling.ReportDrift,
		Crons: []scheduling.CronLine{
			{ID: "cron_1", Expression: "0 8 * * *", Action: cloud.Start},
			{ID: "cron_2", Expression: "0 19 * * *", Action: cloud.Stop},
		},
	}))(a)
	a.Must(store.Attach(a.In(ours), ours,
		scheduling.Attachment{ScheduleID: sch.ID, GroupID: a.group.ID, CreatedAt: now}))
	return sch
}

func TestFirings_NameTheOverrideThatKeptAScheduleFromActing(t *testing.T) {
	a := newFixture(t)
	a.Mount(Operations, schedules.Operations)
	sch := a.newSchedule()
	o := a.holdGroup(override.ForceOn, 24*time.Hour)
	due := time.Date(2026, a.Clock.Now().Month(), a.Clock.Now().Day(), 19, 0, 0, 0, time.UTC)
	a.Clock.Advance(due.Sub(a.Clock.Now()))
	rows := apitest.Rows[scheduling.Due](a.Fixture, duePKs()...)
	apitest.Value(evaluation.New(a.Platform).Evaluate(a.Anywhere(), ours, a.Clock.Now(), rows))(t)
	l := apitest.Data[rest.List[schedules.PastFiring]](a.call("GET /schedules/" + sch.ID + "/firings").AtMost(2))
	if l.Total != 1 || l.Items[0].CronID != "cron_2" || !l.Items[0].At.Equal(due) || l.Items[0].SkippedCount != 3 ||
		l.Items[0].Resources != 0 ||
		l.Items[0].Skipped[0].Reason != "override" || !strings.Contains(l.Items[0].Skipped[0].Detail, o.ID) {
		t.Errorf("%+v", l)
	}
	a.call("GET /schedules/sch_01k00000000000000000000009/firings").Want(404, "sch_01k00000000000000000000009")
	a.Call(apitest.Caller(theirs, "eve", "*:*"), "GET /schedules/"+sch.ID+"/firings").Want(404)
}

// A wake link starts until the next stop of the schedules, and then they stop it.
func TestWake_LastsUntilTheNextStopOfItsSchedules(t *testing.T) {
	a := newFixture(t)
	a.newSchedule()
	a.Clock.Advance(time.Date(2026, a.Clock.Now().Month(), a.Clock.Now().Day(), 22, 0, 0, 0,
		time.UTC).Sub(a.Clock.Now()))
	_, page := a.newLink(map[string]any{"maxHours": 168})
	stop := a.Clock.Now().Add(21 * time.Hour)
	a.visitPage("GET "+page).Want(200, clockTime(stop))
	a.visitPage("POST "+page).Want(200, "Runs until", clockTime(stop))
	o := apitest.Data[rest.List[Override]](a.call("GET /overrides")).Items[0]
	if !o.ExpiresAt.Equal(stop) {
		t.Errorf("it ends at %s, want %s", o.ExpiresAt, stop)
	}
	a.Clock.Advance(21 * time.Hour)
	rows := apitest.Rows[scheduling.Due](a.Fixture, duePKs()...)
	apitest.Value(evaluation.New(a.Platform).Evaluate(a.Anywhere(), ours, a.Clock.Now(), rows))(t)
	stops := 0
	for _, b := range a.listBulks() {
		if b.Type == cloud.Stop {
			stops += b.Total
		}
	}
	if stops < 3 {
		t.Errorf("%d resources were asked to stop", stops)
	}
}
