package executor

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/testkit/apitest"
)

// memoryOf returns the stored snapshot of a group.
func (e *heldEvent) memoryOf(n int) snapshot {
	e.Helper()
	return apitest.Read[snapshot](e.Fixture, snapshotKey(org, e.groups[n].UID))
}

// An event that has ended may leave its target larger for a while. A stop in that time stores the size from before
// the event, so the next start restores it.
func TestRemember_AStopAfterAnEventKeepsTheSizeFromBeforeIt(t *testing.T) {
	original := []byte(`{"min":1,"max":3,"desired":2}`)
	for name, c := range map[string]struct {
		wait  time.Duration
		keeps bool
	}{
		"while the provider may still move the size back": {59 * time.Minute, true},
		"later the present size is what counts":           {61 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvent(t, "scheduled")
			g, live := e.groups[0], e.snapshotOf(0)
			e.Must(targetStarter{e.e}.Remember(e.ctx, rescaling.Memory{
				Org: org, Target: readiness.PolicyTarget{Type: g.Type, UID: g.UID, Region: g.Region},
				Snapshot:  original,
				KeepUntil: e.Clock.Now().Add(time.Hour),
			}))
			e.Clock.Advance(c.wait)
			a := e.do(g, cloud.Stop)
			want := live
			if c.keeps {
				want = string(original)
			}
			if got := e.memoryOf(0); got.ActionID != a.ID || string(got.Snapshot) != want || got.KeepUntil != 0 {
				t.Errorf("the stop remembers %s; want %s", apitest.JSON(got), want)
			}
			e.do(g, cloud.Start)
			if got := e.memoryOf(0); got.UsedBy == "" {
				t.Error("the start has not used what the stop has kept")
			}
		})
	}
}

// A start does not restore the snapshot of an event when somebody has stopped the group by hand. The snapshot is only
// for a stop by Lamplighter.
func TestRemember_WhatAnEventLeavesIsNotForAStart(t *testing.T) {
	e := newEvent(t, "scheduled")
	g := e.groups[0]
	e.Put(snapshotKey(org, g.UID),
		snapshot{
			ActionID: "event", Snapshot: []byte(`{"min":7,"max":7,"desired":7}`),
			KeepUntil: e.Clock.Now().Add(time.Hour).Unix(),
		})
	e.Must(e.conn.Act(e.ctx, cloud.Stop, g.Type, g.Region, []cloud.Target{{UID: g.UID}})[0].Err)
	e.Clock.Advance(time.Minute)
	if a := e.do(g, cloud.Start); strings.Contains(e.groupSize(0), `"desired":7`) {
		t.Errorf("%s: it has %s", a.Status, e.groupSize(0))
	}
}

// A forced stop stores the size from before the event, at any current size of the group.
func TestRemember_AForcedStopKeepsWhatItsPlanHasLeft(t *testing.T) {
	e := newEvent(t, "scheduled")
	g := e.groups[0]
	a := apitest.Value(e.askAction(g, cloud.Stop, true))(t)
	original := []byte(`{"min":1,"max":3,"desired":2}`)
	e.Must(targetStarter{e.e}.Remember(e.ctx, rescaling.Memory{
		Org: org, Target: readiness.PolicyTarget{Type: g.Type, UID: g.UID, Region: g.Region}, Snapshot: original,
		ActionID: a.ID,
	}))
	e.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	if got := e.memoryOf(0); got.ActionID != a.ID || string(got.Snapshot) != string(original) {
		t.Errorf("the stop remembers %s", apitest.JSON(got))
	}
}

// snapshotOf returns the snapshot that a stop of the group would store now.
func (e *heldEvent) snapshotOf(n int) string {
	e.Helper()
	g := e.groups[n]
	return string(apitest.Value(e.conn.Read(e.ctx, g.Type, g.Region, []string{g.UID}))(e)[0].Snapshot)
}
