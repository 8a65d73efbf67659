package evaluator

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const eventPlan = "evt_01k00000000000000000000009"

// holdForEvent has an event readiness plan hold instances of ours, from now on.
func (a *fixture) holdForEvent(until time.Time, instances ...int) {
	a.Helper()
	for _, n := range instances {
		h := scheduling.EventHold{
			PlanID: eventPlan, PolicyID: fmt.Sprint("asp_", n), UID: fmt.Sprint("i-", n),
			Since: a.Clock.Now(), Until: until,
		}
		a.Write(scheduling.BeginEventHold(ours, h)[0])
	}
}

// endEvent ends the holds on instances of ours, as their last restore does.
func (a *fixture) endEvent(instances ...int) {
	a.Helper()
	for _, n := range instances {
		ws := apitest.Value(scheduling.EndEventHold(a.In(ours), a.Table, ours, fmt.Sprint("asp_", n), a.Clock.Now()))(a)
		a.Must(a.Table.Transact(table.Within(a.In(ours), scheduling.DuePrefix), ws...))
	}
}

func TestEvaluator_SkipsTargetsOfAnEventAndMakesTheStopGoodAtItsEnd(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, hours, 0, 1)
	a.runUntil(atTime(1, 18, 0))
	before := len(a.listBulks(ours))
	a.holdForEvent(atTime(1, 23, 0), 0)
	a.runUntil(atTime(1, 22, 0))
	checkEqual(t, "asked during the event", a.requests()[before:], []string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	checkEqual(t, "stopped during the event", a.targetsOf(ours, a.listBulks(ours)[before]), []string{"i-1"})
	log := onlyFirings(a.readLog(sch.ID))
	if last := log[len(log)-1]; skipReasons(last) != "event 1" || last.Skipped[0].ResourceUID != "i-0" ||
		last.Skipped[0].Detail == "" {
		t.Errorf("%+v", last)
	}
	a.Clock.Advance(30 * time.Second)
	a.endEvent(0)
	a.runUntil(atTime(1, 22, 10))
	checkEqual(t, "asked by the end of the event", a.requests()[before+1:],
		[]string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	checkEqual(t, "stopped after the event", a.targetsOf(ours, a.listBulks(ours)[before+1]), []string{"i-0"})
	if n := len(apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(t).Ended()); n != 0 {
		t.Errorf("%d holds that have ended are still on the list", n)
	}
}

func TestEvaluator_AFiringOfBeforeTheEventIsNotRepeatedAtItsEnd(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, hours, 0)
	a.runUntil(atTime(1, 20, 0))
	before := len(a.listBulks(ours))
	a.setStatus(cloud.Running, 0) // somebody starts it in the evening, and has an event then
	a.holdForEvent(atTime(1, 22, 0), 0)
	a.runUntil(atTime(1, 22, 0))
	a.endEvent(0)
	a.runUntil(atTime(1, 22, 10))
	checkEqual(t, "asked during the event and after it", a.requests()[before:], nil)
}

func TestEvaluator_AnOverrideActsWhenTheEventEnds(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, hours, 0)
	a.holdInstance(override.ForceOff, 0, 24*time.Hour)
	a.holdForEvent(atTime(1, 9, 0), 0)
	before := len(a.listBulks(ours))
	a.runUntil(atTime(1, 9, 0))
	a.endEvent(0)
	a.runUntil(atTime(1, 9, 5))
	checkEqual(t, "asked by the end of the event", a.requests()[before:], []string{"stop 1 override:force_off"})
}

// The inventory still shows an instance as running after somebody has stopped it in the cloud. The start is ordered
// all the same, because the executor reads the live state.
func TestEvaluator_TheEndOfAnEventStartsWhatTheInventoryTakesForRunning(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, hours, 0)
	a.holdForEvent(atTime(1, 12, 0), 0)
	before := len(a.listBulks(ours))
	a.runUntil(atTime(1, 12, 0)) // it was to start at 8:00
	a.endEvent(0)
	a.runUntil(atTime(1, 12, 5))
	checkEqual(t, "asked by the end of the event", a.requests()[before:],
		[]string{"start 1 schedule:" + sch.Name + ":cron_0"})
}

func TestEvaluator_DriftOfATargetIsEnforcedOnlyAfterTheEvent(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 0
	}, hours, 0, 1)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 0, 1)
	a.runUntil(atTime(1, 19, 50))
	before := len(a.listBulks(ours))
	a.setStatus(cloud.Running, 0, 1)
	a.holdForEvent(atTime(2, 6, 0), 0)
	a.runUntil(atTime(1, 23, 0))
	for _, b := range a.listBulks(ours)[before:] {
		checkEqual(t, "stopped again during the event", a.targetsOf(ours, b), []string{"i-1"})
	}
	if len(a.listBulks(ours)) == before {
		t.Error("nothing was stopped again")
	}
	for _, e := range a.readLog(sch.ID) {
		for _, s := range e.Skipped {
			if e.Kind != "firing" && s.ResourceUID == "i-0" {
				t.Errorf("the drift of a target is told of during its event: %+v", e)
			}
		}
	}
	n := len(a.listBulks(ours))
	a.endEvent(0)
	a.runUntil(atTime(2, 2, 0))
	found := false
	for _, b := range a.listBulks(ours)[n:] {
		for _, uid := range a.targetsOf(ours, b) {
			found = found || uid == "i-0"
		}
	}
	if !found {
		t.Error("the target is not stopped again after the event")
	}
}

func TestEvaluator_AHoldOfOneOrganizationIsNoneOfTheOther(t *testing.T) {
	a := newFixture(t)
	a.scheduleOf(theirs, nil, hours, 0)
	a.holdForEvent(atTime(2, 0, 0), 0)
	a.runUntil(atTime(1, 19, 5))
	bs := a.listBulks(theirs)
	if len(bs) != 2 {
		t.Fatalf("%d bulk actions", len(bs))
	}
	checkEqual(t, "targets of theirs", a.targetsOf(theirs, bs[1]), []string{"i-0"})
}
