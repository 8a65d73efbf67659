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
		h := scheduling.EventHold{PlanID: eventPlan, PolicyID: fmt.Sprint("asp_", n), UID: fmt.Sprint("i-", n),
			Since: a.Clock.Now(), Until: until}
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
	sch := a.schedule(nil, hours, 0, 1)
	a.until(at(1, 18, 0))
	before := len(a.bulks(ours))
	a.holdForEvent(at(1, 23, 0), 0)
	a.until(at(1, 22, 0))
	equal(t, "asked during the event", a.asked()[before:], []string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	equal(t, "stopped during the event", a.targets(ours, a.bulks(ours)[before]), []string{"i-1"})
	log := fired(a.log(sch.ID))
	if last := log[len(log)-1]; reasons(last) != "event 1" || last.Skipped[0].ResourceUID != "i-0" ||
		last.Skipped[0].Detail == "" {
		t.Errorf("%+v", last)
	}
	a.Clock.Advance(30 * time.Second)
	a.endEvent(0)
	a.until(at(1, 22, 10))
	equal(t, "asked by the end of the event", a.asked()[before+1:], []string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	equal(t, "stopped after the event", a.targets(ours, a.bulks(ours)[before+1]), []string{"i-0"})
	if n := len(apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(t).Ended()); n != 0 {
		t.Errorf("%d holds that have ended are still on the list", n)
	}
}

func TestEvaluator_AFiringOfBeforeTheEventIsNotRepeatedAtItsEnd(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, hours, 0)
	a.until(at(1, 20, 0))
	before := len(a.bulks(ours))
	a.status(cloud.Running, 0) // somebody starts it in the evening, and has an event then
	a.holdForEvent(at(1, 22, 0), 0)
	a.until(at(1, 22, 0))
	a.endEvent(0)
	a.until(at(1, 22, 10))
	equal(t, "asked during the event and after it", a.asked()[before:], nil)
}

func TestEvaluator_AnOverrideActsWhenTheEventEnds(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, hours, 0)
	a.hold(override.ForceOff, 0, 24*time.Hour)
	a.holdForEvent(at(1, 9, 0), 0)
	before := len(a.bulks(ours))
	a.until(at(1, 9, 0))
	a.endEvent(0)
	a.until(at(1, 9, 5))
	equal(t, "asked by the end of the event", a.asked()[before:], []string{"stop 1 override:force_off"})
}

// The inventory learns late of what somebody stops in the cloud: the executor asks the cloud itself.
func TestEvaluator_TheEndOfAnEventStartsWhatTheInventoryTakesForRunning(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, hours, 0)
	a.holdForEvent(at(1, 12, 0), 0)
	before := len(a.bulks(ours))
	a.until(at(1, 12, 0)) // it was to start at 8:00
	a.endEvent(0)
	a.until(at(1, 12, 5))
	equal(t, "asked by the end of the event", a.asked()[before:], []string{"start 1 schedule:" + sch.Name + ":cron_0"})
}

func TestEvaluator_DriftOfATargetIsEnforcedOnlyAfterTheEvent(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 0
	}, hours, 0, 1)
	a.until(at(1, 19, 0))
	a.status(cloud.Stopped, 0, 1)
	a.until(at(1, 19, 50))
	before := len(a.bulks(ours))
	a.status(cloud.Running, 0, 1)
	a.holdForEvent(at(2, 6, 0), 0)
	a.until(at(1, 23, 0))
	for _, b := range a.bulks(ours)[before:] {
		equal(t, "stopped again during the event", a.targets(ours, b), []string{"i-1"})
	}
	if len(a.bulks(ours)) == before {
		t.Error("nothing was stopped again")
	}
	for _, e := range a.log(sch.ID) {
		for _, s := range e.Skipped {
			if e.Kind != "firing" && s.ResourceUID == "i-0" {
				t.Errorf("the drift of a target is told of during its event: %+v", e)
			}
		}
	}
	n := len(a.bulks(ours))
	a.endEvent(0)
	a.until(at(2, 2, 0))
	found := false
	for _, b := range a.bulks(ours)[n:] {
		for _, uid := range a.targets(ours, b) {
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
	a.holdForEvent(at(2, 0, 0), 0)
	a.until(at(1, 19, 5))
	bs := a.bulks(theirs)
	if len(bs) != 2 {
		t.Fatalf("%d bulk actions", len(bs))
	}
	equal(t, "targets of theirs", a.targets(theirs, bs[1]), []string{"i-0"})
}
