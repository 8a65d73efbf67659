package evaluator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/race"
)

// broken is a store on which the calls that a test names fail.
type broken struct {
	table.Store
	reads  func(table.Key) error // of one item
	writes func(table.Write) error
	query  func(table.Query) error
}

var errBroken = errors.New("broken")

func (b *broken) Get(ctx context.Context, k table.Key) (table.Item, error) {
	if b.reads != nil {
		if err := b.reads(k); err != nil {
			return table.Item{}, err
		}
	}
	return b.Store.Get(ctx, k)
}

func (b *broken) Query(ctx context.Context, q table.Query) (table.Page, error) {
	if b.query != nil {
		if err := b.query(q); err != nil {
			return table.Page{}, err
		}
	}
	return b.Store.Query(ctx, q)
}

func (b *broken) Transact(ctx context.Context, ws ...table.Write) error {
	for _, w := range ws {
		if b.writes != nil {
			if err := b.writes(w); err != nil {
				return err
			}
		}
	}
	return b.Store.Transact(ctx, ws...)
}

// breakStore has calls of the store fail from now on.
func (a *fixture) breakStore(b broken) {
	b.Store = a.Table
	a.Table = &b
}

// mendStore has them succeed again.
func (a *fixture) mendStore() { a.Table = a.Table.(*broken).Store }

// evaluateOnce evaluates once and returns the error of the run.
func (a *fixture) evaluateOnce() error {
	_, err := EvaluateDue(context.Background(), a.Platform)
	return err
}

// countErrorsUntil evaluates each minute until the time, and counts the runs that have reported something.
func (a *fixture) countErrorsUntil(end time.Time) (reported int) {
	a.Helper()
	for a.Clock.Now().Before(end) {
		a.Clock.Advance(time.Minute)
		if a.evaluateOnce() != nil {
			reported++
		}
	}
	return reported
}

func (a *fixture) liveOverrides() []override.Override {
	a.Helper()
	var out []override.Override
	for _, h := range apitest.Value(override.ReadLive(a.In(ours), a.Table, ours))(a).Overrides {
		out = append(out, apitest.Read[override.Override](a.Fixture, override.Key(ours, h.ID)))
	}
	return out
}

func TestEvaluator_AnOverrideThatCannotEndKeepsNothingElseFromBeingDone(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	a.holdInstance(override.ForceOn, 1, 15*time.Minute)
	a.holdInstance(override.ForceOn, 2, 16*time.Minute)
	bad := a.liveOverrides()[0].ID
	n := len(a.listBulks(ours))
	a.breakStore(broken{reads: func(k table.Key) error {
		if k == override.Key(ours, bad) {
			return errBroken
		}
		return nil
	}})
	reported := a.countErrorsUntil(atTime(1, 8, 0))
	if reported < 3 || reported > 5 {
		t.Errorf("%d of the runs have reported it; want those of the first tries", reported)
	}
	checkEqual(t, "asked all the same", a.requests()[n:], []string{"stop 1 schedule:" + sch.Name + ":cron_0"})
	a.mendStore()
	if live := a.liveOverrides(); len(live) != 1 || live[0].ID != bad {
		t.Fatalf("%+v; want the other one ended", live)
	}
	a.runUntil(atTime(1, 9, 0))
	if live := a.liveOverrides(); len(live) != 0 {
		t.Errorf("%+v is not ended after the store was mended", live)
	}
}

// An override that cannot end is tried nine times in two hours, and then once an hour without a report. It ends when
// the cause is gone.
func TestEvaluator_AnOverrideThatCannotEndIsParked(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 20 * * *"}, 0)
	a.holdInstance(override.ForceOn, 1, time.Minute)
	bad := a.liveOverrides()[0].ID
	reads := 0
	a.breakStore(broken{reads: func(k table.Key) error {
		if k == override.Key(ours, bad) {
			reads++
			return errBroken
		}
		return nil
	}})
	if reported := a.countErrorsUntil(atTime(1, 10, 30)); reported != 9 || reads != 9 {
		t.Errorf("%d runs have reported it in three hours, of %d tries; want 9 of 9", reported, reads)
	}
	if reported := a.countErrorsUntil(atTime(1, 15, 30)); reported != 0 || reads < 13 || reads > 15 {
		t.Errorf("%d runs have reported it when it was parked, after %d tries", reported, reads)
	}
	a.mendStore()
	a.runUntil(atTime(1, 16, 31))
	if live := a.liveOverrides(); len(live) != 0 {
		t.Errorf("%+v", live)
	}
}

// A calendar of one schedule cannot be read any more. The other schedules fire. The schedule catches up when its
// calendar can be read again.
func TestEvaluator_AScheduleThatCannotBeReadFailsAlone(t *testing.T) {
	for name, damage := range map[string]func(*scheduling.Schedule){
		"its cron":        func(s *scheduling.Schedule) { s.Crons[0].Expression = "61 * * * *" },
		"its zone":        func(s *scheduling.Schedule) { s.Timezone = "Europe/Atlantis" },
		"its attachments": nil,
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			bad := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
			good := a.newSchedule(nil, []string{"stop 0 8 * * *", "start 10 8 * * *"}, 1)
			damaged := bad
			damaged.Crons = newCrons("stop 0 8 * * *")
			if damage != nil {
				damage(&damaged)
				a.Write(apitest.Value(table.PutFields(scheduling.ScheduleKey(ours, bad.ID), damaged))(t))
				a.Change(scheduling.ScheduleKey(ours, bad.ID), table.Set("attachments", 1))
			} else {
				a.breakStore(broken{query: func(q table.Query) error {
					if q.PK == scheduling.AttachmentKey(ours, bad.ID, "").PK {
						return errBroken
					}
					return nil
				}})
			}
			if reported := a.countErrorsUntil(atTime(1, 8, 12)); reported == 0 {
				t.Error("no run has reported it")
			}
			by := "schedule:" + good.Name
			checkEqual(t, "asked", a.requests(), []string{"stop 1 " + by + ":cron_0", "start 1 " + by + ":cron_1"})
			if damage != nil {
				a.Write(apitest.Value(table.PutFields(scheduling.ScheduleKey(ours, bad.ID), bad))(t))
				a.Change(scheduling.ScheduleKey(ours, bad.ID), table.Set("attachments", 1))
			} else {
				a.mendStore()
			}
			a.countErrorsUntil(atTime(1, 8, 50))
			checkEqual(t, "caught up", a.requests()[2:], []string{"stop 1 schedule:" + bad.Name + ":cron_0"})
			if log := onlyFirings(a.readLog(bad.ID)); len(log) != 1 || !log[0].At.Equal(atTime(1, 8, 0)) {
				t.Errorf("%+v", log)
			}
		})
	}
}

// A firing that failed and is caught up later does not undo a later firing of another schedule.
func TestEvaluator_WhatIsCaughtUpOfOneScheduleDoesNotUndoALaterFiringOfAnother(t *testing.T) {
	a := newFixture(t)
	bad := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	good := a.newSchedule(nil, []string{"start 10 8 * * *"}, 0)
	damaged := bad
	damaged.Timezone = "Europe/Atlantis"
	put := func(s scheduling.Schedule) {
		a.Write(apitest.Value(table.PutFields(scheduling.ScheduleKey(ours, bad.ID), s))(t))
		a.Change(scheduling.ScheduleKey(ours, bad.ID), table.Set("attachments", 1))
	}
	put(damaged)
	a.countErrorsUntil(atTime(1, 8, 12))
	put(bad)
	a.countErrorsUntil(atTime(1, 8, 50))
	checkEqual(t, "asked", a.requests(), []string{"start 1 schedule:" + good.Name + ":cron_0"})
}

func TestEvaluator_AnOrderThatCannotBeQueuedFailsAlone(t *testing.T) {
	a := newFixture(t)
	bad := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	good := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 1)
	a.runUntil(atTime(1, 7, 59))
	a.breakStore(broken{writes: func(w table.Write) error {
		if strings.HasPrefix(w.Item.PK, execution.BulkPK(ours)) && strings.Contains(string(w.Item.Data), bad.ID) {
			return errBroken
		}
		return nil
	}})
	reported := a.countErrorsUntil(atTime(1, 8, 2))
	if reported == 0 {
		t.Error("no run has reported it")
	}
	checkEqual(t, "asked", a.requests(), []string{"stop 1 schedule:" + good.Name + ":cron_0"})
	a.mendStore()
	a.countErrorsUntil(atTime(1, 8, 30))
	if got := a.listBulks(ours); len(got) != 2 || got[1].Plan.ScheduleID != bad.ID && got[0].Plan.ScheduleID != bad.ID {
		t.Errorf("%v", a.requests())
	}
}

func TestEvaluator_AnOrderThatFailedIsGivenUpWhenTheOppositeIsAskedLater(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *", "start 3 8 * * *"}, 0)
	a.runUntil(atTime(1, 7, 59))
	a.breakStore(broken{writes: func(w table.Write) error {
		if strings.HasPrefix(w.Item.PK, execution.BulkPK(ours)) && strings.Contains(string(w.Item.Data), `"stop"`) {
			return errBroken
		}
		return nil
	}})
	a.countErrorsUntil(atTime(1, 8, 4))
	a.mendStore()
	a.countErrorsUntil(atTime(1, 10, 0))
	checkEqual(t, "asked", a.requests(), []string{"start 1 schedule:" + sch.Name + ":cron_1"})
}

func TestEvaluator_AnOrganizationThatPanicsFailsAlone(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	other := a.scheduleOf(theirs, nil, []string{"stop 0 8 * * *"}, 0)
	a.runUntil(atTime(1, 7, 59))
	a.breakStore(broken{query: func(q table.Query) error {
		if q.PK == scheduling.ScheduleKey(ours, "").PK {
			panic("poison")
		}
		return nil
	}})
	a.Clock.Advance(time.Minute)
	if err := a.evaluateOnce(); err == nil || !strings.Contains(err.Error(), ours) {
		t.Errorf("reported %v", err)
	}
	if bs := a.listBulks(theirs); len(bs) != 1 || bs[0].Plan.ScheduleID != other.ID {
		t.Errorf("the other organization: %+v", bs)
	}
}

// After a day an organization that cannot be evaluated is tried once an hour, and goes on when it can be.
func TestEvaluator_AnOrganizationThatFailsForADayIsParked(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	a.runUntil(atTime(1, 7, 59))
	n := 0
	a.breakStore(broken{query: func(q table.Query) error {
		if q.PK == scheduling.ScheduleKey(ours, "").PK {
			n++
			return errBroken
		}
		return nil
	}})
	a.Clock.Advance(25 * time.Hour)
	a.countErrorsUntil(a.Clock.Now().Add(5 * time.Hour))
	if n < 5 || n > 7 {
		t.Errorf("it was tried %d times in five hours; want once an hour", n)
	}
	a.mendStore()
	a.countErrorsUntil(a.Clock.Now().Add(time.Hour))
	checkEqual(t, "asked when it works again", a.requests(), []string{"stop 1 schedule:" + sch.Name + ":cron_0"})
}

// A dynamic group has no limit: an override on one of 25,000 resources takes three orders, and so does its end.
func TestEvaluator_AnOverrideOnALargeGroupIsSplit(t *testing.T) {
	race.SkipRepetition(t)
	const size = 25_000
	a := newFixture(t)
	for n := range 25 {
		some := make([]cloud.Resource, size/25)
		for i := range some {
			some[i] = cloud.Resource{UID: fmt.Sprintf("many-%d-%05d", n, i), Name: "web", Status: cloud.Running}
		}
		inventorytest.DiscoverIn(a.Fixture,
			inventory.Partition{AccountID: inventorytest.Account, Region: fmt.Sprint("eu-west-", n), Kind: "aws-rds"},
			ours, some...)
	}
	g := apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", monday), Name: "All", Selector: &inventory.Selector{Type: "aws-rds"}},
		nil))(t)
	store := evaluation.New(a.Platform)
	now := a.Clock.Now()
	o := apitest.Value(store.BeginOverride(a.In(ours), ours, override.Override{
		ID: override.NewID(now), GroupID: g.ID, Action: override.ForceOff, CreatedAt: now,
		ExpiresAt: now.Add(10 * time.Minute),
	}, apitest.Value(store.GroupTarget(a.In(ours), ours, g.ID))(t)))(t)
	if len(o.BulkActionIDs) != 3 || o.BulkActionID != o.BulkActionIDs[0] {
		t.Fatalf("%+v", o.BulkActionIDs)
	}
	a.eachOnce(o.BulkActionIDs, size)
	on := override.NewID(now.Add(time.Second))
	a.Clock.Advance(time.Second)
	apitest.Value(store.BeginOverride(a.In(ours), ours, override.Override{
		ID: on, GroupID: g.ID, Action: override.ForceOn, CreatedAt: now.Add(time.Second),
		ExpiresAt: now.Add(5 * time.Minute),
	}, apitest.Value(store.GroupTarget(a.In(ours), ours, g.ID))(t)))(t)
	a.runUntil(atTime(1, 7, 36)) // it ends, and the older one holds again
	a.eachOnce(apitest.Read[override.Override](a.Fixture, override.Key(ours, on)).RestoredBy, size)
}

// eachOnce holds that bulk actions act together on so many resources, on each once.
func (a *fixture) eachOnce(bulkIDs []string, size int) {
	a.Helper()
	seen := map[string]bool{}
	for _, bulkID := range bulkIDs {
		b := apitest.Read[execution.Bulk](a.Fixture, execution.BulkKey(ours, bulkID))
		members := apitest.Value(bulkTargets(a, b))(a)
		if len(members) != b.Total || b.Total > execution.MaxTargets {
			a.Errorf("%s has %d members, and counts %d", bulkID, len(members), b.Total)
		}
		for _, m := range members {
			seen[m.ResourceID] = true
		}
	}
	if len(seen) != size {
		a.Errorf("%d bulk actions act on %d resources; want %d", len(bulkIDs), len(seen), size)
	}
}

func (b *broken) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if b.writes != nil {
		if err := b.writes(w); err != nil {
			return table.Item{}, err
		}
	}
	return b.Store.Write(ctx, w)
}

// Drift is stored with the decision about it: if an evaluator dies in between, the drift is reported once and
// enforced once.
func TestEvaluator_DriftIsRecordedWithItsEnforcement(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) { s.Drift = scheduling.EnforceDrift }, hours, 0)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 0)
	a.runUntil(atTime(1, 21, 0))
	a.setStatus(cloud.Running, 0)
	n, lost := len(a.listBulks(ours)), 0
	a.breakStore(broken{writes: func(w table.Write) error {
		if w.Item.SK == "DRIFT" && strings.Contains(string(w.Item.Data), a.ids[ours][0]) && lost == 0 {
			lost++
			return errBroken
		}
		return nil
	}})
	a.countErrorsUntil(atTime(1, 23, 59))
	if lost != 1 {
		t.Fatal("the write of what drifts was not lost")
	}
	told := 0
	for _, e := range a.readLog(sch.ID) {
		if e.Kind == evaluation.DriftFound {
			told++
		}
	}
	if stops := len(a.listBulks(ours)) - n; told != 1 || stops < 2 || stops > 3 {
		t.Errorf("told %d times, stopped %d times in three hours; want it told once, and stopped once an hour", told,
			stops)
	}
}
