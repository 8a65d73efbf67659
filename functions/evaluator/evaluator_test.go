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
)

var hours = []string{"start 0 8 * * 1-5", "stop 0 19 * * 1-5"}

func TestEvaluator_FiresEachCronInItsMinute(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, hours, 0, 1, 2)
	a.until(at(2, 8, 5))
	by := "schedule:" + sch.Name + ":cron_"
	equal(t, "asked", a.asked(), []string{"start 3 " + by + "0", "stop 3 " + by + "1", "start 3 " + by + "0"})
	b := a.bulks(ours)[1]
	if b.Plan.Reason != "schedule" || b.Plan.ScheduleID != sch.ID || !b.CreatedAt.Equal(at(1, 19, 0)) {
		t.Errorf("%+v %+v", b, b.Plan)
	}
	equal(t, "targets", a.targets(ours, b), []string{"i-0", "i-1", "i-2"})
	log := fired(a.log(sch.ID))
	if len(log) != 3 || log[1].Acted != 3 || !log[1].At.Equal(at(1, 19, 0)) ||
		!log[1].EvaluatedAt.Equal(at(1, 19, 0)) || log[1].BulkActionIDs[0] != b.ID {
		t.Errorf("%+v", log)
	}
	if n := len(a.bulks(theirs)); n != 0 {
		t.Errorf("the other organization has %d bulk actions", n)
	}
}

func TestEvaluator_TwoOrganizationsAreApart(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, []string{"stop 0 8 * * *"}, 0)
	other := a.scheduleOf(theirs, nil, []string{"stop 0 8 * * *"}, 1, 2)
	a.until(at(1, 8, 0))
	equal(t, "targets of ours", a.targets(ours, a.bulks(ours)[0]), []string{"i-0"})
	equal(t, "targets of theirs", a.targets(theirs, a.bulks(theirs)[0]), []string{"i-1", "i-2"})
	if len(a.bulks(ours)) != 1 || len(a.bulks(theirs)) != 1 || len(a.log(other.ID)) != 0 {
		t.Error("they are mixed up")
	}
}

func TestEvaluator_AGroupKeepsItsTiers(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, []string{"stop 0 8 * * *"}, 5)
	g := apitest.Value(inventory.New(a.Platform).CreateGroup(a.In(ours), ours,
		inventory.Group{ID: id.New("grp", monday), Name: "Shop", FailurePolicy: "abort", StepDelaySeconds: 9},
		[]inventory.GroupPlacement{{ResourceID: a.ids[ours][0], Tier: 1, Order: 1},
			{ResourceID: a.ids[ours][1], Tier: 2, Order: 3}}))(t)
	a.Must(a.schedules.Attach(a.In(ours), ours,
		scheduling.Attachment{ScheduleID: sch.ID, GroupID: g.ID, CreatedAt: monday}))
	a.until(at(1, 8, 0))
	bs := a.bulks(ours)
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
	sch := a.schedule(nil, []string{"stop 0 8 * * *"}, 0, 1, 2)
	starts := a.schedule(nil, []string{"start 0 8 * * *"}, 2)
	a.hold(override.ForceOn, 1, 24*time.Hour)
	before := len(a.bulks(ours))
	a.until(at(1, 8, 0))
	log := a.log(sch.ID)
	if len(log) != 1 || log[0].Acted != 1 || reasons(log[0]) != "contradiction 1, override 1" {
		t.Fatalf("%+v", log)
	}
	for _, s := range log[0].Skipped {
		if s.Detail == "" || s.ResourceUID == "i-0" {
			t.Errorf("%+v", s)
		}
	}
	if len(a.bulks(ours))-before != 2 || a.log(starts.ID)[0].Acted != 1 {
		t.Errorf("%v", a.asked())
	}
	a.Change(inventory.AccountKey(ours, inventorytest.Account), table.Set("permissionLevel", "read_only"))
	n := len(a.bulks(ours))
	a.until(at(2, 8, 0))
	if log = a.log(sch.ID); reasons(log[1]) != "override 1, read_only_account 2" &&
		reasons(log[1]) != "read_only_account 3" || len(a.bulks(ours)) != n {
		t.Errorf("%+v %v", log[1], a.asked())
	}
}

// What its organization has closed, or left out, cannot be acted on: a firing says so, and asks for nothing that could only fail.
func TestEvaluator_ADisconnectedAccountIsSkippedWithItsReason(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, hours, 0, 1)
	account := inventory.AccountKey(ours, inventorytest.Account)
	a.Change(account, table.Set("status", inventory.AccountDisconnected),
		table.Set("error", "it is closed in the cloud"))
	a.until(at(1, 20, 0))
	equal(t, "asked of a disconnected account", a.asked(), nil)
	log := fired(a.log(sch.ID))
	if len(log) != 2 || reasons(log[1]) != "disconnected_account 2" ||
		log[1].Skipped[0].Detail != "its cloud account is disconnected: it is closed in the cloud" {
		t.Errorf("%+v", log)
	}
	a.Change(account, table.Set("status", inventory.AccountConnected), table.Remove("error"))
	a.until(at(2, 8, 0))
	equal(t, "asked when it is back", a.asked(), []string{"start 2 schedule:" + sch.Name + ":cron_0"})
}

func TestEvaluator_ACalendarKeepsAScheduleFromActing(t *testing.T) {
	a := newFixture(t)
	c := apitest.Value(a.schedules.CreateCalendar(a.In(ours), ours, scheduling.Calendar{
		ID: id.New("cal", monday), Name: "Holidays", Effect: scheduling.StayStopped,
		Entries: []scheduling.Entry{{From: "2026-03-02"}}, CreatedAt: monday, UpdatedAt: monday,
	}))(t)
	sch := a.schedule(func(s *scheduling.Schedule) { s.CalendarIDs = []string{c.ID} }, hours, 0)
	a.until(at(1, 20, 0))
	equal(t, "asked", a.asked(), []string{"stop 1 schedule:" + sch.Name + ":cron_1"})
	if log := fired(a.log(sch.ID)); len(log) != 2 || reasons(log[0]) != "calendar 1" || log[1].Acted != 1 {
		t.Errorf("%+v", log)
	}
}

func TestEvaluator_WhatIsDisabledOrDetachedDoesNothing(t *testing.T) {
	a := newFixture(t)
	a.schedule(func(s *scheduling.Schedule) { s.Enabled = false }, []string{"stop 0 8 * * *"}, 0)
	sch := a.schedule(nil, []string{"stop 0 8 * * *"}, 1)
	a.Must(a.schedules.Detach(a.In(ours), ours,
		scheduling.Attachment{ScheduleID: sch.ID, ResourceID: a.ids[ours][1], CloudAccountID: inventorytest.Account}))
	a.until(at(1, 8, 10))
	equal(t, "asked", a.asked(), nil)
}

func TestEvaluator_AStopOnlyScheduleStopsAgainWhatSomebodyStarted(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 0
	}, []string{"stop 0 19 * * *"}, 0)
	a.until(at(1, 19, 0))
	a.status(cloud.Stopped, 0)
	a.until(at(1, 21, 0))
	a.status(cloud.Running, 0) // somebody starts it, which is their right until the next stop
	a.until(at(2, 18, 59))
	by := "stop 1 schedule:" + sch.Name + ":cron_0"
	equal(t, "before the next stop", a.asked(), []string{by})
	a.until(at(2, 19, 0))
	equal(t, "at the next stop", a.asked(), []string{by, by})
}

func TestEvaluator_AnOutageIsCaughtUpInOrderAndTheLastActionRuns(t *testing.T) {
	for name, c := range map[string]struct {
		outage time.Duration
		want   []string // of "stop 0 * * * *" and "start 30 * * * *"
		logged int
	}{
		"of three hours: the last action of each resource alone": {3*time.Hour + 10*time.Minute,
			[]string{"stop 1"}, 2},
		"of thirty hours: what is older than a day is not done": {30*time.Hour + 10*time.Minute,
			[]string{"stop 1"}, 2},
		"of half an hour: the one that was missed": {30*time.Minute + 10*time.Minute,
			[]string{"start 1"}, 1},
		"of ten minutes in which nothing was due: nothing but a late look": {10 * time.Minute, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.Clock.Advance(25 * time.Minute) // 07:55 in Berlin
			a.schedule(nil, []string{"stop 0 * * * *", "start 30 * * * *"}, 0)
			a.until(at(1, 8, 0))
			first := len(a.bulks(ours))
			logged := len(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours)))
			a.Clock.Advance(c.outage)
			a.run()
			var got []string
			for _, b := range a.bulks(ours)[first:] {
				got = append(got, string(b.Type)+" 1")
			}
			equal(t, "asked", got, c.want)
			if n := len(apitest.Rows[evaluation.Entry](a.Fixture, evaluation.FiringPK(ours))) - logged; n != c.logged {
				t.Errorf("%d entries, want %d", n, c.logged)
			}
			a.run() // again: nothing
			if n := len(a.bulks(ours)); n != first+len(c.want) {
				t.Errorf("%d bulk actions after another run", n)
			}
		})
	}
}

func TestEvaluator_AfterAnOutageOfMoreThanADayOnlyTheDayIsCaughtUp(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, []string{"stop 0 8 2 3 *"}, 0) // once, today
	a.schedule(nil, []string{"stop 0 10 2 3 *"}, 1)
	a.Clock.Advance(at(2, 9, 0).Sub(a.Clock.Now())) // the first is 25 h old, the second 23 h
	a.run()
	b := a.bulks(ours)
	if len(b) != 1 {
		t.Fatalf("%v", a.asked())
	}
	equal(t, "targets", a.targets(ours, b[0]), []string{"i-1"})
}

func TestEvaluator_AScheduleThatWasMadeOrChangedInTheOutageHasNothingToCatchUp(t *testing.T) {
	a := newFixture(t)
	old := a.schedule(nil, []string{"stop 0 9 * * *"}, 0)
	a.until(at(1, 7, 31))
	a.Clock.Advance(2 * time.Hour) // 09:31
	a.schedule(nil, []string{"stop 15 9 * * *"}, 1)
	next := old
	next.Crons, next.UpdatedAt = crons("start 20 9 * * *"), a.Clock.Now()
	apitest.Value(a.schedules.UpdateSchedule(a.In(ours), ours, old, next))(t)
	a.run()
	equal(t, "asked", a.asked(), nil)
}

// On 29 March clocks in Berlin go from 02:00 to 03:00; on 25 October from 03:00 back to 02:00.
func TestEvaluator_OnDaysOnWhichClocksJumpEachCronFiresOnce(t *testing.T) {
	for name, c := range map[string]struct {
		from time.Time
		want time.Time
	}{
		"a time that is skipped fires at the first minute after the gap": {time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC)},
		"a time that comes twice fires the first time": {time.Date(2026, 10, 24, 23, 0, 0, 0,
			time.UTC), time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.Clock.Advance(c.from.Sub(a.Clock.Now()))
			a.schedule(nil, []string{"stop 30 2 * * *"}, 0)
			a.until(c.from.Add(6 * time.Hour))
			b := a.bulks(ours)
			if len(b) != 1 || !b[0].CreatedAt.Equal(c.want) {
				t.Errorf("%d, the first %v; want one at %v", len(b), b, c.want)
			}
		})
	}
}

func TestEvaluator_AnOverrideEndsByItselfAndWhatSchedulesWantIsRestored(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, hours, 0, 1)
	a.until(at(1, 18, 0))
	a.hold(override.ForceOn, 0, 2*time.Hour) // until 20:00, beyond the stop at 19:00
	a.hold(override.ForceOff, 1, 30*time.Minute)
	a.hold(override.ForceOn, 5, time.Hour) // of no schedule
	n := len(a.bulks(ours))
	a.until(at(1, 20, 30))
	got := a.asked()[n:]
	if len(got) != 3 || got[0] != "start 1 override_expired:force_off" || got[2] != "stop 1 override_expired:force_on" {
		t.Fatalf("%v", got)
	}
	b := a.bulks(ours)[n:]
	equal(t, "restored in its window", a.targets(ours, b[0]), []string{"i-1"})
	equal(t, "stopped by the schedule", a.targets(ours, b[1]), []string{"i-1"})
	equal(t, "restored beyond it", a.targets(ours, b[2]), []string{"i-0"})
	if !b[0].CreatedAt.Equal(at(1, 18, 30)) || !b[2].CreatedAt.Equal(at(1, 20, 0)) {
		t.Errorf("restored at %v and %v", b[0].CreatedAt, b[2].CreatedAt)
	}
	if live := apitest.Value(override.ReadLive(a.In(ours), a.Table, ours))(t); len(live.Overrides) != 0 {
		t.Errorf("%+v", live)
	}
}

func TestEvaluator_DriftIsReportedOnceAndLeftAlone(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, hours, 0, 1)
	a.until(at(1, 19, 0))
	a.status(cloud.Stopped, 0, 1)
	a.until(at(1, 22, 0))
	a.status(cloud.Running, 1) // by hand, outside of its window
	n := len(a.bulks(ours))
	a.until(at(2, 7, 59))
	var found []evaluation.Entry
	for _, e := range a.log(sch.ID) {
		if e.Kind != evaluation.Fired {
			found = append(found, e)
		}
	}
	if len(found) != 1 || found[0].Kind != evaluation.DriftFound || found[0].Acted != 1 ||
		found[0].Skipped[0].ResourceUID != "i-1" || found[0].CronID != "cron_1" {
		t.Errorf("%+v", found)
	}
	if len(a.bulks(ours)) != n {
		t.Errorf("%v", a.asked()[n:])
	}
	if late := found[0].At.Sub(at(1, 22, 0)); late > time.Hour {
		t.Errorf("reported after %s", late)
	}
}

// Azure runs a stopped PostgreSQL server for its monthly maintenance, and stops it again by itself.
func TestEvaluator_AShortRunForTheProvidersMaintenanceIsNoDrift(t *testing.T) {
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
			sch := a.schedule(func(s *scheduling.Schedule) { s.Drift = scheduling.EnforceDrift }, hours, 6)
			a.until(at(1, 19, 0))
			a.status(cloud.Stopped, 6)
			a.until(at(1, 22, 0))
			n := len(a.bulks(ours))
			a.status(cloud.Running, 6)
			a.until(at(1, 22, 0).Add(c.runs))
			a.status(cloud.Stopped, 6)
			a.until(at(2, 7, 59))
			told := slices.ContainsFunc(a.log(sch.ID), func(e evaluation.Entry) bool {
				return e.Kind == evaluation.DriftFound
			})
			if stopped := len(a.bulks(ours)) > n; told != c.drift || stopped != c.drift {
				t.Errorf("told %t, stopped again %t; want %t", told, stopped, c.drift)
			}
		})
	}
}

func TestEvaluator_WhatWasAttachedSinceTheStopIsNoDrift(t *testing.T) {
	a := newFixture(t)
	a.Clock.Advance(at(1, 23, 0).Sub(a.Clock.Now()))
	// it runs, in the night
	sch := a.schedule(func(s *scheduling.Schedule) { s.Drift = scheduling.EnforceDrift }, hours, 0)
	a.until(at(2, 7, 59))
	if log := a.log(sch.ID); len(log) != 0 || len(a.bulks(ours)) != 0 {
		t.Errorf("%+v %v", log, a.asked())
	}
}

func TestEvaluator_DriftIsEnforcedAfterItsGrace(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(func(s *scheduling.Schedule) {
		s.Drift, s.GraceMinutes = scheduling.EnforceDrift, 45
	}, hours, 0, 1, 2)
	a.until(at(1, 19, 0))
	a.status(cloud.Stopped, 0, 1, 2)
	a.until(at(1, 22, 0))
	a.status(cloud.Running, 1, 2) // as a provider does after seven days, or somebody by hand
	a.hold(override.ForceOn, 2, 10*time.Hour)
	n := len(a.bulks(ours))
	a.until(at(2, 0, 30))
	bs := a.bulks(ours)[n:]
	if len(bs) == 0 || bs[0].Type != cloud.Stop || bs[0].Plan.ChangedBy != "schedule:"+sch.Name+":cron_1" ||
		bs[0].Plan.ScheduleID != sch.ID {
		t.Fatalf("%v", a.asked()[n:])
	}
	equal(t, "targets", a.targets(ours, bs[0]), []string{"i-1"})
	found := a.log(sch.ID)
	told := slices.IndexFunc(found, func(e evaluation.Entry) bool { return e.Kind == evaluation.DriftFound })
	done := slices.IndexFunc(found, func(e evaluation.Entry) bool { return e.Kind == evaluation.DriftEnded })
	if told < 0 || done < 0 || found[done].At.Sub(found[told].At) != 45*time.Minute {
		t.Fatalf("%+v", found)
	}
	a.status(cloud.Stopped, 1)
	m := len(a.bulks(ours))
	a.until(at(2, 7, 59))
	if len(a.bulks(ours)) != m {
		t.Errorf("%v", a.asked()[m:])
	}
}

func TestEvaluator_AnOrganizationThatHasEndedIsNotEvaluated(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, []string{"stop 0 8 * * *"}, 0)
	a.Put(identity.AccessKey(ours), identity.Access{Ended: true})
	a.until(at(1, 8, 5))
	if n := a.due(); len(a.bulks(ours)) != 0 || n != 0 {
		t.Errorf("%d bulk actions, %d rows are due", len(a.bulks(ours)), n)
	}
}

func TestEvaluator_RoundTripsWhereNothingIsDue(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, []string{"stop 0 19 * * *"}, 0)
	a.until(at(1, 7, 40))
	u := a.Meter(func(ctx ctx) { apitest.Value(EvaluateDue(ctx, a.Platform))(t) })
	if u.RoundTrips != scheduling.DueShards || u.ReadUnits > float64(scheduling.DueShards)/2 || u.WriteUnits != 0 {
		t.Errorf("%+v", u)
	}
}
