package evaluator

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// An override holds from the moment it is created, also against a firing of the same minute and against firings
// delayed by an outage.
func TestEvaluator_AnOverrideBeatsAFiringThatIsEvaluatedAfterIt(t *testing.T) {
	for name, c := range map[string]struct {
		action  override.Action
		created time.Duration // after 19:00
		late    time.Duration // from then to the evaluation
		want    string
	}{
		"of the same minute": {
			override.ForceOn, time.Second, 55 * time.Second,
			"start 1 override:force_on",
		},
		"after an outage of two hours": {
			override.ForceOn, 2 * time.Hour, time.Minute,
			"start 1 override:force_on",
		},
		"also one that wants the same": {
			override.ForceOff, time.Second, 55 * time.Second,
			"stop 1 override:force_off",
		},
		"made in the minute of the evaluation": {override.ForceOn, 10 * time.Minute, 0, "start 1 override:force_on"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			sch := a.newSchedule(nil, []string{"stop 0 19 * * *"}, 0)
			a.runUntil(atTime(1, 18, 59))
			a.Clock.Advance(time.Minute + c.created)
			a.holdInstance(c.action, 0, 24*time.Hour)
			a.Clock.Advance(c.late)
			a.runEvaluator()
			checkEqual(t, "asked", a.requests(), []string{c.want})
			if log := a.readLog(sch.ID); len(log) != 1 || skipReasons(log[0]) != "override 1" {
				t.Errorf("%+v", log)
			}
		})
	}
}

// An override that is over when a firing is evaluated has no effect: its end has restored the state that schedules
// wanted before that firing.
func TestEvaluator_AnOverrideThatHasEndedDoesNotBeatADelayedFiring(t *testing.T) {
	a := newFixture(t)
	a.newSchedule(nil, []string{"start 0 8 * * *", "stop 0 19 * * *"}, 0)
	a.runUntil(atTime(1, 18, 59))
	a.holdInstance(override.ForceOn, 0, 30*time.Minute) // until 19:29
	n := len(a.listBulks(ours))
	a.Clock.Advance(2 * time.Hour)
	a.runEvaluator()
	last := a.listBulks(ours)[n:]
	if len(last) == 0 || slices.ContainsFunc(last, func(b executionBulk) bool { return b.Type != "stop" }) {
		t.Errorf("%v; want it stopped", a.requests())
	}
}

// A freeze that has begun keeps a delayed firing from acting. So does one that is over and covered the firing's own
// minute: a firing that a calendar has suppressed is not caught up.
func TestEvaluator_ACalendarKeepsADelayedFiringFromActing(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"one that began after the firing's minute":   {"2026-03-02T19:30", "2026-03-02T23:00", nil},
		"one that was over before the evaluation":    {"2026-03-02T18:00", "2026-03-02T19:30", nil},
		"but not one that lay between the two times": {"2026-03-02T19:10", "2026-03-02T19:40", []string{"stop"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			cal := apitest.Value(a.schedules.CreateCalendar(a.In(ours), ours, scheduling.Calendar{
				ID: id.New("cal", monday), Name: "Freeze", Effect: scheduling.NoAction, Timezone: "Europe/Berlin",
				Entries: []scheduling.Entry{{From: c.from, To: c.to}}, CreatedAt: monday, UpdatedAt: monday,
			}))(t)
			a.newSchedule(func(s *scheduling.Schedule) {
				s.CalendarIDs = []string{cal.ID}
			}, []string{"stop 0 19 * * *"}, 0)
			a.runUntil(atTime(1, 18, 59))
			a.Clock.Advance(time.Hour + time.Minute)
			a.runEvaluator()
			var got []string
			for _, b := range a.listBulks(ours) {
				got = append(got, string(b.Type))
			}
			checkEqual(t, "asked", got, c.want)
		})
	}
}

// A schedule that is made in a minute that was evaluated already still fires in it, and goes on to fire.
func TestEvaluator_AScheduleMadeInAnEvaluatedMinuteLosesNoFiring(t *testing.T) {
	for name, c := range map[string]struct {
		late time.Duration // from the making, at 08:05:20, to the next evaluation
	}{
		"evaluated again in the same minute": {20 * time.Second},
		"evaluated in the next minute":       {time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			old := a.newSchedule(nil, []string{"stop 5 8 * * *"}, 0)
			a.runUntil(atTime(1, 8, 5))
			a.Clock.Advance(20 * time.Second)
			sch := a.newSchedule(nil, []string{"stop 5 8 * * *", "start 7 8 * * *"}, 1)
			a.Clock.Advance(c.late)
			a.runEvaluator()
			checkEqual(t, "asked", a.requests(),
				[]string{"stop 1 schedule:" + old.Name + ":cron_0", "stop 1 schedule:" + sch.Name + ":cron_0"})
			a.Clock.Advance(atTime(1, 8, 7).Sub(a.Clock.Now()))
			a.runEvaluator()
			if log := onlyFirings(a.readLog(sch.ID)); len(log) != 2 || !log[0].At.Equal(atTime(1, 8, 5)) ||
				!log[1].At.Equal(atTime(1, 8, 7)) {
				t.Errorf("%+v", log)
			}
			if log := onlyFirings(a.readLog(old.ID)); len(log) != 1 {
				t.Errorf("the other schedule fired again: %+v", log)
			}
		})
	}
}

func TestEvaluator_AScheduleChangedInTheMinuteInWhichItFiredDoesNotFireAgain(t *testing.T) {
	a := newFixture(t)
	sch := a.newSchedule(nil, []string{"stop 5 8 * * *"}, 0)
	a.runUntil(atTime(1, 8, 5))
	a.Clock.Advance(20 * time.Second)
	next := sch
	next.Description, next.UpdatedAt = "Nights", a.Clock.Now()
	apitest.Value(a.schedules.UpdateSchedule(a.In(ours), ours, sch, next))(t)
	for range 3 {
		a.Clock.Advance(15 * time.Second)
		a.runEvaluator()
	}
	checkEqual(t, "asked", a.requests(), []string{"stop 1 schedule:" + sch.Name + ":cron_0"})
	a.Clock.Advance(atTime(2, 8, 5).Sub(a.Clock.Now()))
	a.runEvaluator()
	if n := len(a.listBulks(ours)); n != 2 {
		t.Errorf("%d orders after the next day's firing", n)
	}
}

// Every schedule keeps a hint of its next firing, however often a minute is evaluated.
func TestEvaluator_AHintIsRemovedOnlyWhenTheNextOneIsThere(t *testing.T) {
	a := newFixture(t)
	old := a.newSchedule(nil, []string{"stop 4 8 * * *"}, 1)
	a.runUntil(atTime(1, 8, 4))
	a.Clock.Advance(20 * time.Second)
	sch := a.newSchedule(nil, []string{"stop 4,5 8 * * *"}, 0)
	a.runEvaluator()
	a.Clock.Advance(time.Minute)
	a.runEvaluator()
	by := "stop 1 schedule:" + sch.Name + ":cron_0"
	checkEqual(t, "asked", a.requests(), []string{"stop 1 schedule:" + old.Name + ":cron_0", by, by})
}

// An override ends in the first run after its time, also when that run is in the minute of its end.
func TestEvaluator_AnOverrideEndsInTheFirstRunAfterItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		lasts time.Duration // from 18:59:00
		run   time.Duration
		want  []string
	}{
		"in its own minute, after it": {
			30*time.Minute + time.Second, 30*time.Minute + 24*time.Second,
			[]string{"stop"},
		},
		"at the moment of its end": {
			30*time.Minute + 24*time.Second, 30*time.Minute + 24*time.Second,
			[]string{"stop"},
		},
		"but not in its own minute, before it": {30*time.Minute + 30*time.Second, 30*time.Minute + 24*time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.newSchedule(nil, []string{"stop 0 18 * * *"}, 0)
			a.runUntil(atTime(1, 18, 59))
			a.holdInstance(override.ForceOn, 0, c.lasts)
			n := len(a.listBulks(ours))
			a.Clock.Advance(c.run)
			a.runEvaluator()
			checkEqual(t, "asked", verbs(a.listBulks(ours)[n:]), c.want)
			a.Clock.Advance(time.Minute)
			a.runEvaluator()
			checkEqual(t, "asked after another minute", verbs(a.listBulks(ours)[n:]), []string{"stop"})
		})
	}
}

func verbs(bs []executionBulk) []string {
	var out []string
	for _, b := range bs {
		out = append(out, string(b.Type))
	}
	return out
}
