package rescaling

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/race"
)

// plan reads the plan of a dispatch.
func (f *fixture) plan(in readiness.Input) readiness.Plan {
	f.Helper()
	return apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(f)
}

func TestAdvance_AStoppedGroupIsStartedFirstAndKeepsItsSizeAfterTheEvent(t *testing.T) {
	f := newFixture(t, "web", "api")
	f.stopWeb()
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	if f.size("web") != during || f.size("api") != during {
		t.Fatalf("the plan is active: web has %s, api %s, and %s was promised", f.size("web"), f.size("api"), during)
	}
	p := f.plan(in)
	if web, _ := p.Target("asp_web"); web.Original() != sizeOf(before) {
		t.Errorf("captured of web: %s", web.Original())
	}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
	if p = f.plan(in); !strings.Contains(p.Message,
		"asp_web: it had 0 instances; the plan had it started, and leaves it running with min 2, max 10, desired 4") {
		t.Errorf("the plan says %q", p.Message)
	}
	if f.cloud.starts != 1 {
		t.Errorf("%d starts were asked for", f.cloud.starts)
	}
}

func TestAdvance_AGroupThatCannotBeStartedIsNeverActiveAndZeroIsNotRestored(t *testing.T) {
	f := newFixture(t, "web")
	f.stopWeb()
	f.cloud.refuse["web"] = fault.New(fault.Conflict, "it is held by override ovr_1 (force_off until Monday)")
	p, in := f.dispatched()
	f.drive(in, readiness.Scheduled)
	if now := f.plan(in); !strings.Contains(now.Message,
		"asp_web: it has 0 instances, and cannot be started: it is held by override ovr_1") {
		t.Errorf("when it is scheduled the plan says %q", now.Message)
	}
	f.drive(in, readiness.ScalingUp)
	f.Clock.Advance(p.EventStart.Sub(f.Clock.Now()))
	apitest.Value(f.r.Advance(f.In(org), in))(t)
	if now := f.plan(in); now.Status != readiness.ScalingUp ||
		!strings.Contains(now.Message,
			"asp_web: it has 0 instances, and cannot be started: it is held by override ovr_1") {
		t.Errorf("when the event begins the plan is %s and says %q", now.Status, now.Message)
	}
	f.cloud.at["web"] = before // somebody starts it after all, and the plan takes it up
	delete(f.cloud.refuse, "web")
	f.drive(in, readiness.Active)
	if f.size("web") != during {
		t.Errorf("web has %s", f.size("web"))
	}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}

func TestAdvance_AStartThatFailsIsNamedAndTriedAgain(t *testing.T) {
	f := newFixture(t, "web")
	f.stopWeb()
	f.cloud.ended["web"] = "InsufficientInstanceCapacity"
	_, in := f.dispatched()
	f.drive(in, readiness.ScalingUp)
	for range 4 {
		f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
	}
	if p := f.plan(in); !strings.Contains(p.Message,
		"asp_web: it has 0 instances, and action act_web_2 could not start it: InsufficientInstanceCapacity") {
		t.Errorf("the plan says %q", p.Message)
	}
	delete(f.cloud.ended, "web")
	f.drive(in, readiness.Active)
	if f.size("web") != during {
		t.Errorf("web has %s", f.size("web"))
	}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}

func TestAdvance_ACancelWhileATargetIsBeingStartedRestoresNothing(t *testing.T) {
	f := newFixture(t, "web")
	f.stopWeb()
	_, in := f.dispatched()
	f.drive(in, readiness.ScalingUp)
	f.cloud.mu.Lock()
	off, starts := f.cloud.at["web"], f.cloud.starts
	f.cloud.mu.Unlock()
	if starts != 1 {
		t.Fatalf("%d starts were asked for", starts)
	}
	f.cancel(in)
	f.drive(in, "")
	if f.status(in) != readiness.Cancelled || f.cloud.sets != 0 ||
		apitest.JSON(f.cloud.at["web"]) != apitest.JSON(off) {
		t.Errorf("it is %s, after %d changes, and web %s", f.status(in), f.cloud.sets, f.size("web"))
	}
}

// A group that somebody stopped by force during the event stays stopped, and its next start restores the size from
// before the plan.
func TestAdvance_AGroupThatIsStoppedDuringTheEventStaysStopped(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.stopWeb()
	f.drive(in, readiness.Completed)
	if f.size("web").Desired != 0 {
		t.Errorf("the end of the event started web: it has %s", f.size("web"))
	}
	if got := sizeOf(f.cloud.stopped["web"]); got != sizeOf(before) {
		t.Errorf("the next start restores %s", got)
	}
	if p := f.plan(in); !strings.Contains(p.Message,
		"asp_web: somebody stopped it: it is left at 0 instances; before the plan it had min 2, max 10, desired 4") {
		t.Errorf("the plan says %q", p.Message)
	}
}

// A capture that an earlier version wrote has a size of 0.
func TestAdvance_ACapturedSizeOfZeroIsNotRestored(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	k := key(org, in.PlanID, "asp_web")
	c := apitest.Read[capture](f.Fixture, k)
	c.Original = cloud.Autoscaling{Native: before.Native}
	f.Put(k, c)
	f.cloud.at["web"] = before
	f.drive(in, readiness.Completed)
	if f.size("web") != sizeOf(before) {
		t.Errorf("web has %s", f.size("web"))
	}
}

// late dispatches a plan on web that scales up five minutes before its event, in two hours.
func (f *fixture) late() (readiness.Plan, readiness.Input) {
	f.Helper()
	start := f.Clock.Now().Add(2 * time.Hour)
	p := readiness.Plan{
		ID: "evt_01k6v0e4y0c2b7m9q8r5t3w1xz", Org: org, Name: "Sale", EventStart: start, EventEnd: start.Add(time.Hour),
		PreScaleMinutes: 5, PostEventMinutes: 5,
		ExpectedMultiplier: 3_000_000, Timezone: "UTC", CreatedBy: "ada@example.com",
		Targets: []readiness.Target{{PolicyID: "asp_web", OriginalDesired: 1}},
	}
	return f.dispatch(apitest.Value(f.plans.Create(f.In(org), p))(f))
}

func TestAdvance_ThirtyMinutesBeforeTheEventATargetThatCanBeReadyAgainIsReported(t *testing.T) {
	f := newFixture(t, "web")
	f.cloud.blocked["web"] = "it is held by override ovr_1"
	_, in := f.late()
	f.drive(in, readiness.Scheduled)
	if now := f.plan(in); !strings.Contains(now.Message, "asp_web: it is held by override ovr_1") {
		t.Fatalf("when it is scheduled the plan says %q", now.Message)
	}
	delete(f.cloud.blocked, "web")
	f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
	for range 2 { // the second look says nothing new
		apitest.Value(f.r.Advance(f.In(org), in))(t)
	}
	if now := f.plan(in); now.Message != "every target can be ready as things are" || len(now.Reports) != 2 {
		t.Errorf("the plan says %q, after %v", now.Message, now.Reports)
	}
}

func TestAdvance_ThirtyMinutesBeforeTheEventATargetThatCannotBeReadyIsReported(t *testing.T) {
	f := newFixture(t, "web")
	p, in := f.late()
	f.drive(in, readiness.Scheduled)
	if now := f.plan(in); now.Message != "" {
		t.Fatalf("when it is scheduled the plan says %q", now.Message)
	}
	f.cloud.blocked["web"] = "it is held by override ovr_1"
	got := apitest.Value(f.r.Advance(f.In(org), in))(t)
	if want := p.EventStart.Add(-30 * time.Minute); !got.At.Equal(want) {
		t.Fatalf("the next step is at %s, not at %s", got.At, want)
	}
	f.wait(got)
	if got = apitest.Value(f.r.Advance(f.In(org), in))(t); !got.At.Equal(p.ScaleUpAt()) {
		t.Errorf("it goes on at %s, not at %s", got.At, p.ScaleUpAt())
	}
	if now := f.plan(in); now.Status != readiness.Scheduled ||
		!strings.Contains(now.Message, "asp_web: it is held by override ovr_1") {
		t.Errorf("the plan is %s and says %q", now.Status, now.Message)
	}
}

// A process dies at any write. A stopped group is started, raised, and restored to the size that its start gave it.
func TestAdvance_DyingAtAnyStepOfAPlanOnAStoppedGroupChangesNothing(t *testing.T) {
	race.SkipRepetition(t)
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t, "web", "api")
			f.stopWeb()
			_, in := f.dispatched()
			if !f.dieAt(in, n, after) {
				break
			}
			f.drive(in, readiness.Active)
			if f.status(in) == readiness.Active && f.size("web") != during {
				t.Errorf("died at write %d, after it %v: active at %s", n, after, f.size("web"))
			}
			f.drive(in, readiness.Completed)
			f.asBefore(in)
			if t.Failed() || n > 200 {
				t.Fatalf("died at write %d, after it %v", n, after)
			}
		}
	}
}
