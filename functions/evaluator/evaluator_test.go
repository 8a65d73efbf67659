package evaluator

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
	"lamplighter.dev/shared/testkit/race"
)

var hours = []string{"start 0 8 * * 1-5", "stop 0 19 * * 1-5"}

func TestEvaluator_FiresEachCronInItsMinute(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, hours, 0, 1, 2)
	a.runUntil(atTime(2, 8, 5))
	by := "schedule:" + sch.Name + ":cron_"
	checkEqual(t, "asked", a.requests(), []string{"start 3 " + by + "0", "stop 3 " + by + "1", "start 3 " + by + "0"})
	b := a.listBulks(ours)[1]
	if b.Plan.Reason != "schedule" || b.Plan.ScheduleID != sch.ID || !b.CreatedAt.Equal(atTime(1, 19, 0)) {
		t.Errorf("%+v %+v", b, b.Plan)
	}
	checkEqual(t, "targets", a.targetsOf(ours, b), []string{"i-0", "i-1", "i-2"})
	log := onlyFirings(a.readLog(sch.ID))
	if len(log) != 3 || log[1].Acted != 3 || !log[1].At.Equal(atTime(1, 19, 0)) ||
		!log[1].EvaluatedAt.Equal(atTime(1, 19, 0)) || log[1].BulkActionIDs[0] != b.ID {
		t.Errorf("%+v", log)
	}
	if n := len(a.listBulks(theirs)); n != 0 {
		t.Errorf("the other organization has %d bulk actions", n)
	}
}

func TestEvaluator_TwoOrganizationsAreApart(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	other := a.scheduleOf(theirs, nil, []string{"stop 0 8 * * *"}, 1, 2)
	a.runUntil(atTime(1, 8, 0))
	checkEqual(t, "targets of ours", a.targetsOf(ours, a.listBulks(ours)[0]), []string{"i-0"})
	checkEqual(t, "targets of theirs", a.targetsOf(theirs, a.listBulks(theirs)[0]), []string{"i-1", "i-2"})
	if len(a.listBulks(ours)) != 1 || len(a.listBulks(theirs)) != 1 || len(a.readLog(other.ID)) != 0 {
		t.Error("they are mixed up")
	}
}

func TestEvaluator_AGroupKeepsItsTiers(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 5)
	g := apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", monday), Name: "Shop", FailurePolicy: "abort", StepDelaySeconds: 9},
		[]inventory.GroupPlacement{
			{ResourceID: a.ids[ours][0], Tier: 1, Order: 1},
			{ResourceID: a.ids[ours][1], Tier: 2, Order: 3},
		}))(t)
	a.Must(a.schedules.Attach(a.In(ours), ours,
		scheduling.Attachment{ScheduleID: sch.ID, GroupID: g.ID, CreatedAt: monday}))
	a.runUntil(atTime(1, 8, 0))
	bs := a.listBulks(ours)
	if len(bs) != 2 {
		t.Fatalf("%d bulk actions; want that of the group and that of the resource", len(bs))
	}
	of := bs[slices.IndexFunc(bs, func(b executionBulk) bool { return b.Total == 2 })]
	if of.Plan.FailurePolicy != "abort" || of.Plan.StepDelay != 9 {
		t.Errorf("%+v", of.Plan)
	}
	members := apitest.Value(bulkTargets(a, of))(t)
	tiers := map[string][2]int{}
	for _, m := range members {
		tiers[m.UID] = [2]int{m.Tier, m.Order}
	}
	if tiers["i-0"] != [2]int{1, 1} || tiers["i-1"] != [2]int{2, 3} {
		t.Errorf("%v", tiers)
	}
}

func TestEvaluator_TellsWhomAFiringSkippedAndWhy(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0, 1, 2)
	starts := a.newSchedule(nil, []string{"start 0 8 * * *"}, 2)
	a.holdInstance(override.ForceOn, 1, 24*time.Hour)
	before := len(a.listBulks(ours))
	a.runUntil(atTime(1, 8, 0))
	log := a.readLog(sch.ID)
	if len(log) != 1 || log[0].Acted != 1 || skipReasons(log[0]) != "contradiction 1, override 1" {
		t.Fatalf("%+v", log)
	}
	for _, s := range log[0].Skipped {
		if s.Detail == "" || s.ResourceUID == "i-0" {
			t.Errorf("%+v", s)
		}
	}
	if len(a.listBulks(ours))-before != 2 || a.readLog(starts.ID)[0].Acted != 1 {
		t.Errorf("%v", a.requests())
	}
	a.Change(inventory.AccountKey(ours, inventorytest.Account), table.Set("permissionLevel", "read_only"))
	n := len(a.listBulks(ours))
	a.runUntil(atTime(2, 8, 0))
	if log = a.readLog(sch.ID); skipReasons(log[1]) != "override 1, read_only_account 2" &&
		skipReasons(log[1]) != "read_only_account 3" || len(a.listBulks(ours)) != n {
		t.Errorf("%+v %v", log[1], a.requests())
	}
}

// Resources in a disconnected account or excluded by the organization cannot be acted on: a firing says so and orders
// nothing for them.
func TestEvaluator_ADisconnectedAccountIsSkippedWithItsReason(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, hours, 0, 1)
	account := inventory.AccountKey(ours, inventorytest.Account)
	a.Change(account, table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it is closed in the cloud"))
	a.runUntil(atTime(1, 20, 0))
	checkEqual(t, "asked of a disconnected account", a.requests(), nil)
	log := onlyFirings(a.readLog(sch.ID))
	if len(log) != 2 || skipReasons(log[1]) != "disconnected_account 2" ||
		log[1].Skipped[0].Detail != "its cloud account is disconnected: it is closed in the cloud" {
		t.Errorf("%+v", log)
	}
	a.Change(account, table.Set("status", inventory.AccountConnected), table.Remove("error"))
	a.runUntil(atTime(2, 8, 0))
	checkEqual(t, "asked when it is back", a.requests(), []string{"start 2 schedule:" + sch.Name + ":cron_0"})
}

func TestEvaluator_ACalendarKeepsAScheduleFromActing(t *testing.T) {
	a := newFixture(t)
	c := apitest.Value(a.schedules.CreateCalendar(a.In(ours), ours, scheduling.Calendar{
		ID: id.New("cal", monday), Name: "Holidays", Effect: scheduling.StayStopped,
		Entries: []scheduling.Entry{{From: "2026-03-02"}}, CreatedAt: monday, UpdatedAt: monday,
	}))(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) { s.CalendarIDs = []string{c.ID} }, hours, 0)
	a.runUntil(atTime(1, 20, 0))
	checkEqual(t, "asked", a.requests(), []string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	if log := onlyFirings(a.readLog(sch.ID)); len(log) != 2 || skipReasons(log[0]) != "calendar 1" ||
		log[1].Acted != 1 {
		t.Errorf("%+v", log)
	}
}

func TestEvaluator_WhatIsDisabledOrDetachedDoesNothing(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(func(s *scheduling.Schedule) { s.Enabled = false }, []string{"stop 0 8 * * *"}, 0)
	sch := a.newSchedule(nil, []string{"stop 0 8 * * *"}, 1)
	a.Must(a.schedules.Detach(a.In(ours), ours,
		scheduling.Attachment{ScheduleID: sch.ID, ResourceID: a.ids[ours][1], CloudAccountID: inventorytest.Account}))
	a.runUntil(atTime(1, 8, 10))
	checkEqual(t, "asked", a.requests(), nil)
}

func TestEvaluator_AStopOnlyScheduleStopsAgainWhatSomebodyStarted(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 0
	}, []string{"stop 0 19 * * *"}, 0)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 0)
	a.runUntil(atTime(1, 21, 0))
	a.setStatus(cloud.Running, 0) // somebody starts it, which is their right until the next stop
	a.runUntil(atTime(2, 18, 59))
	by := "stop 1 schedule:" + sch.Name + ":cron_0"
	checkEqual(t, "before the next stop", a.requests(), []string{by})
	a.runUntil(atTime(2, 19, 0))
	checkEqual(t, "at the next stop", a.requests(), []string{by, by})
}

func TestEvaluator_AnOutageIsCaughtUpInOrderAndTheLastActionRuns(t *testing.T) {
	for name, c := range map[string]struct {
		outage time.Duration
		want   []string // of "stop 0 * * * *" and "start 30 * * * *"
		logged int
	}{
		"of three hours: the last action of each resource alone": {
			3*time.Hour + 10*time.Minute,
			[]string{"stop 1"},
			2,
		},
		"of thirty hours: what is older than a day is not done": {
			30*time.Hour + 10*time.Minute,
			[]string{"stop 1"},
			2,
		},
		"of half an hour: the one that was missed": {
			30*time.Minute + 10*time.Minute,
			[]string{"start 1"},
			1,
		},
		"of ten minutes in which nothing was due: nothing but a late look": {10 * time.Minute, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.Clock.Advance(25 * time.Minute) // 07:55 in Berlin
			a.newSchedule(nil, []string{"stop 0 * * * *", "start 30 * * * *"}, 0)
			a.runUntil(atTime(1, 8, 0))
			first := len(a.listBulks(ours))
			logged := len(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours)))
			a.Clock.Advance(c.outage)
			a.runEvaluator()
			var got []string
			for _, b := range a.listBulks(ours)[first:] {
				got = append(got, string(b.Type)+" 1")
			}
			checkEqual(t, "asked", got, c.want)
			if n := len(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours))) - logged; n != c.logged {
				t.Errorf("%d entries, want %d", n, c.logged)
			}
			a.runEvaluator() // again: nothing
			if n := len(a.listBulks(ours)); n != first+len(c.want) {
				t.Errorf("%d bulk actions after another run", n)
			}
		})
	}
}

func TestEvaluator_AfterAnOutageOfMoreThanADayOnlyTheDayIsCaughtUp(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 8 2 3 *"}, 0) // once, today
	a.newSchedule(nil, []string{"stop 0 10 2 3 *"}, 1)
	a.Clock.Advance(atTime(2, 9, 0).Sub(a.Clock.Now())) // the first is 25 h old, the second 23 h
	a.runEvaluator()
	b := a.listBulks(ours)
	if len(b) != 1 {
		t.Fatalf("%v", a.requests())
	}
	checkEqual(t, "targets", a.targetsOf(ours, b[0]), []string{"i-1"})
}

func TestEvaluator_AScheduleThatWasMadeOrChangedInTheOutageHasNothingToCatchUp(t *testing.T) {
	a := newFixture(t)
	old := a.newSchedule(nil, []string{"stop 0 9 * * *"}, 0)
	a.runUntil(atTime(1, 7, 31))
	a.Clock.Advance(2 * time.Hour) // 09:31
	a.newSchedule(nil, []string{"stop 15 9 * * *"}, 1)
	next := old
	next.Crons, next.UpdatedAt = newCrons("start 20 9 * * *"), a.Clock.Now()
	apitest.Value(a.schedules.UpdateSchedule(a.In(ours), ours, old, next))(t)
	a.runEvaluator()
	checkEqual(t, "asked", a.requests(), nil)
}

// On 29 March clocks in Berlin go from 02:00 to 03:00; on 25 October from 03:00 back to 02:00.
func TestEvaluator_OnDaysOnWhichClocksJumpEachCronFiresOnce(t *testing.T) {
	for name, c := range map[string]struct {
		from time.Time
		want time.Time
	}{
		"a time that is skipped fires at the first minute after the gap": {
			time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC),
		},
		"a time that comes twice fires the first time": {time.Date(2026, 10, 24, 23, 0, 0, 0,
			time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.Clock.Advance(c.from.Sub(a.Clock.Now()))
			a.newSchedule(nil, []string{"stop 30 2 * * *"}, 0)
			a.runUntil(c.from.Add(6 * time.Hour))
			b := a.listBulks(ours)
			if len(b) != 1 || !b[0].CreatedAt.Equal(c.want) {
				t.Errorf("%d, the first %v; want one at %v", len(b), b, c.want)
			}
		})
	}
}

func TestEvaluator_AnOverrideEndsByItselfAndWhatSchedulesWantIsRestored(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, hours, 0, 1)
	a.runUntil(atTime(1, 18, 0))
	a.holdInstance(override.ForceOn, 0, 2*time.Hour) // until 20:00, beyond the stop at 19:00
	a.holdInstance(override.ForceOff, 1, 30*time.Minute)
	a.holdInstance(override.ForceOn, 5, time.Hour) // of no schedule
	n := len(a.listBulks(ours))
	a.runUntil(atTime(1, 20, 30))
	got := a.requests()[n:]
	if len(got) != 3 || got[0] != "start 1 override_expired:force_off" || got[2] != "stop 1 override_expired:force_on" {
		t.Fatalf("%v", got)
	}
	b := a.listBulks(ours)[n:]
	checkEqual(t, "restored in its window", a.targetsOf(ours, b[0]), []string{"i-1"})
	checkEqual(t, "stopped by the schedule", a.targetsOf(ours, b[1]), []string{"i-1"})
	checkEqual(t, "restored beyond it", a.targetsOf(ours, b[2]), []string{"i-0"})
	if !b[0].CreatedAt.Equal(atTime(1, 18, 30)) || !b[2].CreatedAt.Equal(atTime(1, 20, 0)) {
		t.Errorf("restored at %v and %v", b[0].CreatedAt, b[2].CreatedAt)
	}
	if live := apitest.Value(override.ReadLive(a.In(ours), a.Table, ours))(t); len(live.Overrides) != 0 {
		t.Errorf("%+v", live)
	}
}

func TestEvaluator_DriftIsReportedOnceAndLeftAlone(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, hours, 0, 1)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 0, 1)
	a.runUntil(atTime(1, 22, 0))
	a.setStatus(cloud.Running, 1) // by hand, outside of its window
	n := len(a.listBulks(ours))
	a.runUntil(atTime(2, 7, 59))
	var found []evaluation.Entry
	for _, e := range a.readLog(sch.ID) {
		if e.Kind != evaluation.Fired {
			found = append(found, e)
		}
	}
	if len(found) != 1 || found[0].Kind != evaluation.DriftFound || found[0].Acted != 1 ||
		found[0].Skipped[0].ResourceUID != "i-1" || found[0].CronID != "cron_1" {
		t.Errorf("%+v", found)
	}
	if len(a.listBulks(ours)) != n {
		t.Errorf("%v", a.requests()[n:])
	}
	if late := found[0].At.Sub(atTime(1, 22, 0)); late > time.Hour {
		t.Errorf("reported after %s", late)
	}
}

// Azure runs a stopped PostgreSQL server for its monthly maintenance, and stops it again by itself.
func TestEvaluator_AShortRunForTheProvidersMaintenanceIsNoDrift(t *testing.T) {
	race.SkipSequential(t)
	for name, c := range map[string]struct {
		kind  string
		runs  time.Duration
		drift bool
	}{
		"a server in its maintenance":     {cloud.AzurePostgreSQL, 90 * time.Minute, false},
		"a server that goes on running":   {cloud.AzurePostgreSQL, 4 * time.Hour, true},
		"an instance, which is not woken": {cloud.AWSEC2, 90 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.ids[ours] = append(a.ids[ours],
				inventorytest.DiscoverIn(a.Fixture,
					inventory.Partition{AccountID: inventorytest.Account, Region: "eu-west-1", Kind: c.kind}, ours,
					cloud.Resource{UID: "i-6", Name: "orders", Status: cloud.Running, Type: c.kind})...)
			sch := a.newSchedule(func(s *scheduling.Schedule) { s.Drift = scheduling.EnforceDrift }, hours, 6)
			a.runUntil(atTime(1, 19, 0))
			a.setStatus(cloud.Stopped, 6)
			a.runUntil(atTime(1, 22, 0))
			n := len(a.listBulks(ours))
			a.setStatus(cloud.Running, 6)
			a.runUntil(atTime(1, 22, 0).Add(c.runs))
			a.setStatus(cloud.Stopped, 6)
			a.runUntil(atTime(2, 7, 59))
			told := slices.ContainsFunc(a.readLog(sch.ID), func(e evaluation.Entry) bool {
				return e.Kind == evaluation.DriftFound
			})
			if stopped := len(a.listBulks(ours)) > n; told != c.drift || stopped != c.drift {
				t.Errorf("told %t, stopped again %t; want %t", told, stopped, c.drift)
			}
		})
	}
}

func TestEvaluator_WhatWasAttachedSinceTheStopIsNoDrift(t *testing.T) {
	a := newFixture(t)
	a.Clock.Advance(atTime(1, 23, 0).Sub(a.Clock.Now()))
	// it runs, in the night
	sch := a.newSchedule(func(s *scheduling.Schedule) { s.Drift = scheduling.EnforceDrift }, hours, 0)
	a.runUntil(atTime(2, 7, 59))
	if log := a.readLog(sch.ID); len(log) != 0 || len(a.listBulks(ours)) != 0 {
		t.Errorf("%+v %v", log, a.requests())
	}
}

func TestEvaluator_DriftIsEnforcedAfterItsGrace(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 45
	}, hours, 0, 1, 2)
	a.runUntil(atTime(1, 19, 0))
	a.setStatus(cloud.Stopped, 0, 1, 2)
	a.runUntil(atTime(1, 22, 0))
	a.setStatus(cloud.Running, 1, 2) // as a provider does after seven days, or somebody by hand
	a.holdInstance(override.ForceOn, 2, 10*time.Hour)
	n := len(a.listBulks(ours))
	a.runUntil(atTime(2, 0, 30))
	bs := a.listBulks(ours)[n:]
	if len(bs) == 0 || bs[0].Type != cloud.Stop || bs[0].Plan.ChangedBy != "schedule:"+sch.Name+":cron_1" ||
		bs[0].Plan.ScheduleID != sch.ID {
		t.Fatalf("%v", a.requests()[n:])
	}
	checkEqual(t, "targets", a.targetsOf(ours, bs[0]), []string{"i-1"})
	found := a.readLog(sch.ID)
	told := slices.IndexFunc(found, func(e evaluation.Entry) bool { return e.Kind == evaluation.DriftFound })
	done := slices.IndexFunc(found, func(e evaluation.Entry) bool { return e.Kind == evaluation.DriftEnded })
	if told < 0 || done < 0 || found[done].At.Sub(found[told].At) != 45*time.Minute {
		t.Fatalf("%+v", found)
	}
	a.setStatus(cloud.Stopped, 1)
	m := len(a.listBulks(ours))
	a.runUntil(atTime(2, 7, 59))
	if len(a.listBulks(ours)) != m {
		t.Errorf("%v", a.requests()[m:])
	}
}

func TestEvaluator_AnOrganizationThatHasEndedIsNotEvaluated(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 8 * * *"}, 0)
	a.Put(identity.AccessKey(ours), identity.Access{Ended: true})
	a.runUntil(atTime(1, 8, 5))
	if n := a.countDue(); len(a.listBulks(ours)) != 0 || n != 0 {
		t.Errorf("%d bulk actions, %d rows are due", len(a.listBulks(ours)), n)
	}
}

func TestEvaluator_RoundTripsWhereNothingIsDue(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"stop 0 19 * * *"}, 0)
	a.runUntil(atTime(1, 7, 40))
	u := a.Meter(func(ctx ctx) { apitest.Value(EvaluateDue(ctx, a.Platform))(t) })
	if u.RoundTrips != scheduling.DueShards || u.ReadUnits > float64(scheduling.DueShards)/2 || u.WriteUnits != 0 {
		t.Errorf("%+v", u)
	}
}
