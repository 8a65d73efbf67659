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

// An override holds from the moment at which it is made, also against a firing of the same minute, and against firings that an outage
// has delayed.
func TestEvaluator_AnOverrideBeatsAFiringThatIsEvaluatedAfterIt(t *testing.T) {
	for name, c := range map[string]struct {
		action  override.Action
		created time.Duration // after 19:00
		late    time.Duration // from then to the evaluation
		want    string
	}{
		"of the same minute": {override.ForceOn, time.Second, 55 * time.Second,
			"start 1 override:force_on"},
		"after an outage of two hours": {override.ForceOn, 2 * time.Hour, time.Minute,
			"start 1 override:force_on"},
		"also one that wants the same": {override.ForceOff, time.Second, 55 * time.Second,
			"stop 1 override:force_off"},
		"made in the minute of the evaluation": {override.ForceOn, 10 * time.Minute, 0, "start 1 override:force_on"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			sch := a.schedule(nil, []string{"stop 0 19 * * *"}, 0)
			a.until(at(1, 18, 59))
			a.Clock.Advance(time.Minute + c.created)
			a.hold(c.action, 0, 24*time.Hour)
			a.Clock.Advance(c.late)
			a.run()
			equal(t, "asked", a.asked(), []string{c.want})
			if log := a.log(sch.ID); len(log) != 1 || reasons(log[0]) != "override 1" {
				t.Errorf("%+v", log)
			}
		})
	}
}

// An override that is over when a firing is evaluated keeps nobody from anything: its end has restored what was wanted before that firing.
func TestEvaluator_AnOverrideThatHasEndedDoesNotBeatADelayedFiring(t *testing.T) {
	a := newFixture(t)
	a.schedule(nil, []string{"start 0 8 * * *", "stop 0 19 * * *"}, 0)
	a.until(at(1, 18, 59))
	a.hold(override.ForceOn, 0, 30*time.Minute) // until 19:29
	n := len(a.bulks(ours))
	a.Clock.Advance(2 * time.Hour)
	a.run()
	last := a.bulks(ours)[n:]
	if len(last) == 0 || slices.ContainsFunc(last, func(b executionBulk) bool { return b.Type != "stop" }) {
		t.Errorf("%v; want it stopped", a.asked())
	}
}

// A freeze that has begun keeps a delayed firing from acting, and so does one that is over and held at the firing's own minute: what a
// calendar kept from acting is not made up for.
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
			a.schedule(func(s *scheduling.Schedule) {
				s.CalendarIDs = []string{cal.ID}
			}, []string{"stop 0 19 * * *"}, 0)
			a.until(at(1, 18, 59))
			a.Clock.Advance(time.Hour + time.Minute)
			a.run()
			var got []string
			for _, b := range a.bulks(ours) {
				got = append(got, string(b.Type))
			}
			equal(t, "asked", got, c.want)
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
			old := a.schedule(nil, []string{"stop 5 8 * * *"}, 0)
			a.until(at(1, 8, 5))
			a.Clock.Advance(20 * time.Second)
			sch := a.schedule(nil, []string{"stop 5 8 * * *", "start 7 8 * * *"}, 1)
			a.Clock.Advance(c.late)
			a.run()
			equal(t, "asked", a.asked(),
				[]string{"stop 1 schedule:" + old.Name + ":cron_0", "stop 1 schedule:" + sch.Name + ":cron_0"})
			a.Clock.Advance(at(1, 8, 7).Sub(a.Clock.Now()))
			a.run()
			if log := fired(a.log(sch.ID)); len(log) != 2 || !log[0].At.Equal(at(1, 8, 5)) ||
				!log[1].At.Equal(at(1, 8, 7)) {
				t.Errorf("%+v", log)
			}
			if log := fired(a.log(old.ID)); len(log) != 1 {
				t.Errorf("the other schedule fired again: %+v", log)
			}
		})
	}
}

func TestEvaluator_AScheduleChangedInTheMinuteInWhichItFiredDoesNotFireAgain(t *testing.T) {
	a := newFixture(t)
	sch := a.schedule(nil, []string{"stop 5 8 * * *"}, 0)
	a.until(at(1, 8, 5))
	a.Clock.Advance(20 * time.Second)
	next := sch
	next.Description, next.UpdatedAt = "Nights", a.Clock.Now()
	apitest.Value(a.schedules.UpdateSchedule(a.In(ours), ours, sch, next))(t)
	for range 3 {
		a.Clock.Advance(15 * time.Second)
		a.run()
	}
	equal(t, "asked", a.asked(), []string{"stop 1 schedule:" + sch.Name + ":cron_0"})
	a.Clock.Advance(at(2, 8, 5).Sub(a.Clock.Now()))
	a.run()
	if n := len(a.bulks(ours)); n != 2 {
		t.Errorf("%d orders after the next day's firing", n)
	}
}

// Every schedule keeps a hint of its next firing, however often a minute is evaluated.
func TestEvaluator_AHintIsRemovedOnlyWhenTheNextOneIsThere(t *testing.T) {
	a := newFixture(t)
	old := a.schedule(nil, []string{"stop 4 8 * * *"}, 1)
	a.until(at(1, 8, 4))
	a.Clock.Advance(20 * time.Second)
	sch := a.schedule(nil, []string{"stop 4,5 8 * * *"}, 0)
	a.run()
	a.Clock.Advance(time.Minute)
	a.run()
	by := "stop 1 schedule:" + sch.Name + ":cron_0"
	equal(t, "asked", a.asked(), []string{"stop 1 schedule:" + old.Name + ":cron_0", by, by})
}

// An override ends in the first run after its time, also when that run is in the minute of its end.
func TestEvaluator_AnOverrideEndsInTheFirstRunAfterItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		lasts time.Duration // from 18:59:00
		run   time.Duration
		want  []string
	}{
		"in its own minute, after it": {30*time.Minute + time.Second, 30*time.Minute + 24*time.Second,
			[]string{"stop"}},
		"at the moment of its end": {30*time.Minute + 24*time.Second, 30*time.Minute + 24*time.Second,
			[]string{"stop"}},
		"but not in its own minute, before it": {30*time.Minute + 30*time.Second, 30*time.Minute + 24*time.Second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := newFixture(t)
			a.schedule(nil, []string{"stop 0 18 * * *"}, 0)
			a.until(at(1, 18, 59))
			a.hold(override.ForceOn, 0, c.lasts)
			n := len(a.bulks(ours))
			a.Clock.Advance(c.run)
			a.run()
			equal(t, "asked", verbs(a.bulks(ours)[n:]), c.want)
			a.Clock.Advance(time.Minute)
			a.run()
			equal(t, "asked after another minute", verbs(a.bulks(ours)[n:]), []string{"stop"})
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
