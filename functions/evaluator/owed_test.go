package evaluator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// oweStop has the holds keep a stop of an instance of ours from being made, as the executor does.
func (a *fixture) oweStop(uid string, promised bool) {
	a.Helper()
	l := apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(a)
	w, some := l.Owe(ours, scheduling.OwedOrder{BulkID: "bulk_1", UIDs: []string{uid}, Promised: promised})
	if !some {
		a.Fatalf("nothing holds %s", uid)
	}
	a.Write(w)
}

// An override has started an instance in the evening and ends during an event. The stop at its end could not be made.
func TestEvaluator_AStopThatAnEventHasKeptIsMadeAtItsEnd(t *testing.T) {
	race.SkipSequential(t)
	for name, c := range map[string]struct {
		lines    []string
		promised bool
		override override.Action // that holds the instance when the event ends
		want     []string
	}{
		"a schedule wants it stopped": {lines: hours, want: []string{"stop 1 schedule:Hours:cron_1"}},
		"no schedule wants anything":  {},
		"no schedule wants anything after a wake link": {
			promised: true,
			want:     []string{"stop 1 override_expired:force_on"},
		},
		"another override holds it on": {
			lines: hours, override: override.ForceOn,
			want: []string{"start 1 override:force_on"},
		},
		"another override holds it off": {
			override: override.ForceOff,
			want:     []string{"stop 1 override:force_off"},
		},
		"a schedule wants it running after a wake link": {
			lines: []string{"start 0 20 * * *"}, promised: true,
			want: []string{"start 1 schedule:Hours:cron_0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			if len(c.lines) > 0 {
				a.newSchedule(nil, c.lines, 0)
			}
			a.runUntil(atTime(1, 21, 0))
			a.setStatus(cloud.Running, 0)
			if c.override != "" {
				a.holdInstance(c.override, 0, 24*time.Hour)
			}
			before := len(a.listBulks(ours))
			a.holdForEvent(atTime(1, 23, 0), 0)
			a.oweStop("i-0", c.promised)
			a.runUntil(atTime(1, 23, 0))
			a.endEvent(0)
			a.runUntil(atTime(1, 23, 30))
			got := a.requests()[before:]
			if len(got) != len(c.want) || len(got) == 1 && short(got[0]) != c.want[0] {
				t.Errorf("asked by the end of the event: %v; want %v", got, c.want)
			}
			l := apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(t)
			if _, owed := l.Owed(scheduling.EventHold{PolicyID: "asp_0", Since: atTime(1, 21, 0)}, "i-0"); owed ||
				len(l.Ended()) != 0 {
				t.Errorf("owed %v, and %d holds have ended", owed, len(l.Ended()))
			}
		})
	}
}

// short returns a request without the ID in the name of its schedule.
func short(asked string) string {
	var n int
	var verb, by string
	if _, err := fmt.Sscanf(asked, "%s %d %s", &verb, &n, &by); err == nil && by == "schedule:Hours" {
		return fmt.Sprintf("%s %d schedule:Hours%s", verb, n, asked[strings.LastIndex(asked, ":"):])
	}
	return asked
}

// A namespace is held by two events on resources in it. The stop that its schedule ordered meanwhile is made when the
// second event ends.
func TestEvaluator_WhatEnclosesTwoTargetsIsStoppedWhenTheLastEventEnds(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, hours, 2)
	a.runUntil(atTime(1, 18, 0))
	before := len(a.listBulks(ours))
	for n, until := range []time.Time{atTime(1, 20, 0), atTime(1, 22, 0)} {
		a.Write(scheduling.BeginEventHold(ours, scheduling.EventHold{
			PlanID: eventPlan, PolicyID: fmt.Sprint("asp_", n), UID: fmt.Sprint("i-", n), Enclosing: []string{"i-2"},
			Since: a.Clock.Now(), Until: until,
		})[0])
	}
	a.runUntil(atTime(1, 20, 0))
	a.endEvent(0)
	a.runUntil(atTime(1, 21, 0))
	checkEqual(t, "asked while the second event holds it", a.requests()[before:], nil)
	a.endEvent(1)
	a.runUntil(atTime(1, 21, 10))
	if got := a.listBulks(ours)[before:]; len(got) != 1 {
		t.Fatalf("%v", a.requests()[before:])
	}
	checkEqual(t, "stopped after the second event", a.targetsOf(ours, a.listBulks(ours)[before]), []string{"i-2"})
	if n := len(apitest.Value(scheduling.ReadEventHolds(a.In(ours), a.Table, ours))(t).Ended()); n != 0 {
		t.Errorf("%d holds that have ended are still on the list", n)
	}
}

// The stop at the end of a wake link is promised: an event that delays it owes it even if no schedule wants it.
func TestEvaluator_TheStopAtTheEndOfAWakeLinkIsPromised(t *testing.T) {
	for link, promised := range map[string]bool{"wkl_01k00000000000000000000001": true, "": false} {
		a := newFixture(t)
		if !promised {
			a.newSchedule(nil, hours, 0)
		}
		a.runUntil(atTime(1, 20, 0))
		now, store := a.Clock.Now(), evaluation.New(a.Platform)
		target := apitest.Value(store.ResourceTarget(a.In(ours), ours, a.ids[ours][0]))(t)
		apitest.Value(store.BeginOverride(a.In(ours), ours, override.Override{
			ID: override.NewID(now), ResourceID: a.ids[ours][0], ResourceUID: "i-0", Action: override.ForceOn,
			CreatedAt: now, ExpiresAt: now.Add(time.Hour), WakeLinkID: link,
		}, target))(t)
		a.runUntil(atTime(1, 21, 5))
		bulks := a.listBulks(ours)
		if last := bulks[len(bulks)-1]; last.Type != cloud.Stop || last.Plan.Promised != promised {
			t.Errorf("link %q ends with %s, promised %v", link, last.Type, last.Plan.Promised)
		}
	}
}
