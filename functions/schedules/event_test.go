package schedules

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// eventOn stores a plan of a status on the n-th instance, whose window is from 7:30 to 12:30 of 2026-04-07 in UTC.
func (f *fixture) eventOn(n int, status readiness.Status) readiness.Plan {
	f.Helper()
	found := apitest.Value(inventory.New(f.Platform).ByIDs(f.In(apitest.Org), apitest.Org, []string{f.ids[n]},
		inventory.SeeEverything()))(f)
	policy := readiness.Policy{ID: "asp_" + found[0].UID, Target: readiness.PolicyTarget{UID: found[0].UID}}
	f.Put(readiness.PolicyKey(apitest.Org, policy.ID), policy)
	p := readiness.Plan{
		ID: id.New("evt", f.Clock.Now()), Org: apitest.Org, Status: status, PreScaleMinutes: 30, PostEventMinutes: 30,
		ExpectedMultiplier: 3_000_000,
		EventStart:         time.Date(2026, 4, 7, 8, 0, 0, 0, time.UTC),
		EventEnd:           time.Date(2026, 4, 7, 12, 0, 0, 0, time.UTC),
		Targets:            []readiness.Target{{PolicyID: policy.ID}},
	}
	f.Put(readiness.Key(apitest.Org, p.ID), p)
	return p
}

// TestPreview_SkipsTargetsOfScheduledEventsWithReasonEvent previews three stops of a day: before, in and after the
// window of a plan.
func TestPreview_SkipsTargetsOfScheduledEventsWithReasonEvent(t *testing.T) {
	for status, want := range map[readiness.Status]string{
		readiness.Scheduled: "event", readiness.Scheduling: "event", readiness.ScalingUp: "event",
		readiness.Draft: "", readiness.Cancelled: "", readiness.Failed: "", readiness.Completed: "",
	} {
		t.Run(string(status), func(t *testing.T) {
			f := newFixture(t)
			s := apitest.Data[Schedule](f.Call(ada, "POST /schedules",
				`{"name":"Stops","timezone":"UTC","crons":[{"cronExpression":"0 7,9,13 * * *","action":"stop"}]}`))
			f.attachTo(s.ID, 0, 1)
			p := f.eventOn(0, status)
			got := f.readPreview(s.ID, "?from=2026-04-07&to=2026-04-07T23:00:00Z")
			if len(got.Firings) != 3 {
				t.Fatalf("%s", previewLines(got))
			}
			for i, inside := range []bool{false, true, false} {
				f.Equal(previewLines(got), got.Firings[i].ActsOn, map[bool]int{true: 1, false: 2}[inside && want != ""])
			}
			if want == "" {
				return
			}
			r := got.Firings[1].Resources[0]
			if r.ResourceID != f.ids[0] || *r.Skipped != want || got.Firings[1].LeftOut[want] != 1 ||
				!strings.Contains(*r.Detail, p.ID) {
				t.Errorf("%s", apitest.JSON(r))
			}
		})
	}
}

// TestPreview_OfAnActivePlanFollowsItsHolds previews a stop that a live hold covers, and one on a target that the
// plan has released.
func TestPreview_OfAnActivePlanFollowsItsHolds(t *testing.T) {
	f := newFixture(t)
	s := apitest.Data[Schedule](f.Call(ada, "POST /schedules",
		`{"name":"Stops","timezone":"UTC","crons":[{"cronExpression":"0 9 * * *","action":"stop"}]}`))
	f.attachTo(s.ID, 0, 1)
	p := f.eventOn(0, readiness.Active)
	const day = "?from=2026-04-07&to=2026-04-07T23:00:00Z"
	f.Equal("without a hold", f.readPreview(s.ID, day).Firings[0].ActsOn, 2)
	uid := apitest.Read[readiness.Policy](f.Fixture, readiness.PolicyKey(apitest.Org, p.Targets[0].PolicyID)).Target.UID
	h := scheduling.EventHold{
		PlanID: p.ID, PolicyID: p.Targets[0].PolicyID, UID: uid, Since: p.ScaleUpAt(),
		Until: p.ScaleDownAt(),
	}
	f.Write(scheduling.BeginEventHold(apitest.Org, h)[0])
	f.Equal("with a hold", f.readPreview(s.ID, day).Firings[0].LeftOut["event"], 1)
}
