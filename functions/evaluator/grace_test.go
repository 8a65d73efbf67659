package evaluator

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/scheduling"
)

// A stop that no look at drift has seen passes between two looks, here because the evaluator is down.
func TestEvaluator_TheGraceOfADriftBeginsAnewAfterALaterStop(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 200
	}, []string{"start 0 8,22 * * *", "stop 0 19 * * *", "stop 20 22 * * *"}, 1)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 1)
	a.runUntil(atTime(1, 19, 35))
	a.setStatus(cloud.Running, 1) // by hand: a look before 20:40 finds the drift, which is due before midnight
	a.runUntil(atTime(1, 21, 55))
	a.Clock.Advance(atTime(1, 22, 55).Sub(a.Clock.Now()))
	enforced := func() bool {
		return slices.ContainsFunc(a.readLog(sch.ID), func(e evaluation.Entry) bool {
			return e.Kind == evaluation.DriftEnded
		})
	}
	if a.runUntil(atTime(2, 2, 0)); enforced() {
		t.Error("it is stopped less than its grace after the stop of 22:20")
	}
	if a.runUntil(atTime(2, 2, 0).Add(2 * time.Hour)); !enforced() {
		t.Error("it is not stopped after its grace")
	}
}
