package rescaling

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// twenty returns the names of as many groups as a plan may have.
func twenty() []string {
	out := make([]string, readiness.MostTargets)
	for i := range out {
		out[i] = fmt.Sprintf("g%02d", i)
	}
	return out
}

// fail has the cloud refuse to raise a group.
func (f *fixture) fail(uid string, err error) {
	f.cloud.before = func(asked string, want cloud.Autoscaling) error {
		if asked == uid && want.Min == during.Min {
			return err
		}
		return nil
	}
}

func TestAdvance_AMissingTargetLeavesTheOthersRaisedAndIsTriedUntilItIsThere(t *testing.T) {
	for name, err := range map[string]error{
		"a cloud that does not answer": &cloud.Error{Class: cloud.Transient, Message: "no answer"},
		"a cloud that refuses": &cloud.Error{
			Class:   cloud.Denied,
			Message: "autoscaling:UpdateAutoScalingGroup is not allowed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, twenty()...)
			p, in := f.dispatched()
			f.fail("g07", err)
			f.drive(in, readiness.ScalingUp)
			for f.Clock.Now().Before(p.EventStart.Add(2 * time.Hour)) {
				f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
			}
			now := f.plan(in)
			if now.Status != readiness.ScalingUp || !strings.Contains(now.Message, "asp_g07: ") ||
				strings.Contains(now.Message, "asp_g08") {
				t.Errorf("the plan is %s and says %q", now.Status, now.Message)
			}
			for _, uid := range twenty() {
				if want := uid != "g07"; (f.size(uid) == during) != want {
					t.Errorf("%s has %s", uid, f.size(uid))
				}
			}
			f.cloud.before = nil
			f.drive(in, readiness.Active)
			if now = f.plan(in); f.size("g07") != during || now.Message != "" {
				t.Errorf("g07 has %s, and the plan says %q", f.size("g07"), now.Message)
			}
			f.drive(in, readiness.Completed)
			f.asBefore(in)
			f.once(in)
		})
	}
}

func TestAdvance_ATargetThatIsMissingUntilTheEndFailsThePlanOnlyThen(t *testing.T) {
	f := newFixture(t, "web", "api")
	p, in := f.dispatched()
	f.fail("api", &cloud.Error{Class: cloud.Transient, Message: "no answer"})
	f.drive(in, readiness.Failed)
	if now := f.Clock.Now(); now.Before(p.ScaleDownAt()) || now.After(p.ScaleDownAt().Add(time.Minute)) {
		t.Errorf("it failed at %s; the capacity is due until %s", now, p.ScaleDownAt())
	}
	if now := f.plan(in); !strings.Contains(now.Message, "asp_api: no answer") {
		t.Errorf("the plan says %q", now.Message)
	}
	f.drive(in, "")
	f.asBefore(in)
}

func TestAdvance_AnOrganizationMayWantAllTargetsOrNone(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		failed time.Duration // after the time to scale up, at most
	}{
		"a refused target fails the plan at once": {&cloud.Error{Class: cloud.Denied, Message: "no"}, time.Minute},
		"a slow target fails it once the event begins": {
			&cloud.Error{Class: cloud.Transient, Message: "no answer"},
			35 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "web", "api")
			all := true
			o := identity.OrganisationRecord{}
			o.ID, o.EventAllOrNothing = org, &all
			f.Put(identity.OrganisationKey(org), o)
			p, in := f.dispatched()
			f.fail("api", c.err)
			f.drive(in, readiness.Failed)
			if late := f.Clock.Now().Sub(p.ScaleUpAt()); f.status(in) != readiness.Failed || late > c.failed {
				t.Errorf("it is %s %s after the time to scale up", f.status(in), late)
			}
			f.cloud.before = nil
			f.drive(in, "")
			f.asBefore(in)
		})
	}
}

func TestAdvance_APlanWhoseTargetsAreAllRefusedFailsAtOnce(t *testing.T) {
	f := newFixture(t, "web")
	p, in := f.dispatched()
	f.fail("web", &cloud.Error{Class: cloud.Denied, Message: "no"})
	f.drive(in, readiness.Failed)
	if late := f.Clock.Now().Sub(p.ScaleUpAt()); late > time.Minute {
		t.Errorf("it failed %s after the time to scale up", late)
	}
	f.drive(in, "")
	f.asBefore(in)
}

func TestAdvance_APlanIsNotActiveBeforeAllInstancesAreInService(t *testing.T) {
	f := newFixture(t, "web")
	p, in := f.dispatched()
	f.cloud.booting["web"] = "4 of 9 instances are in service"
	f.drive(in, readiness.ScalingUp)
	for f.Clock.Now().Before(p.EventStart) {
		f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
	}
	f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
	now := f.plan(in)
	if now.Status != readiness.ScalingUp || !strings.Contains(now.Message, "asp_web: ") ||
		!strings.Contains(now.Message, "4 of 9 instances are in service") {
		t.Errorf("the plan is %s and says %q", now.Status, now.Message)
	}
	if f.cloud.sets != 1 {
		t.Errorf("the sizes were set %d times", f.cloud.sets)
	}
	f.cloud.booting = map[string]string{}
	f.drive(in, readiness.Active)
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}

func TestAdvance_ATargetUnderAnOverrideIsNamedWhenThePlanStartsAndRaisedOnceItEnds(t *testing.T) {
	f := newFixture(t, "web", "api")
	_, in := f.dispatched()
	f.cloud.blocked["web"] = "it is held by override ovr_1"
	f.drive(in, readiness.ScalingUp)
	apitest.Value(f.r.Advance(f.In(org), in))(t)
	if p := f.plan(in); !strings.Contains(p.Message, "asp_web: it is held by override ovr_1") ||
		f.size("web") != sizeOf(before) || f.size("api") != during {
		t.Errorf("the plan says %q; web has %s, api %s", p.Message, f.size("web"), f.size("api"))
	}
	delete(f.cloud.blocked, "web")
	f.drive(in, readiness.Active)
	if f.size("web") != during {
		t.Errorf("web has %s", f.size("web"))
	}
	f.cloud.blocked["web"] = "it is held by override ovr_2" // made during the event: the plan has precedence
	f.drive(in, readiness.Completed)
	f.asBefore(in)
}

// A step that comes late, or an override that ends with the event, raises and starts no target. Started targets
// continue to run.
func TestAdvance_NothingIsRaisedOnceTheEventIsOver(t *testing.T) {
	for name, stopped := range map[string]bool{"a target that runs": false, "a stopped one": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "web", "api")
			p, in := f.dispatched()
			if stopped {
				f.stopWeb()
			}
			f.cloud.blocked["web"] = "it is held by override ovr_1"
			f.drive(in, readiness.ScalingUp)
			apitest.Value(f.r.Advance(f.In(org), in))(t)
			delete(f.cloud.blocked, "web")
			changes := 0
			f.cloud.before = func(uid string, _ cloud.Autoscaling) error {
				if uid == "web" {
					changes++
				}
				return nil
			}
			f.Clock.Advance(p.ScaleDownAt().Sub(f.Clock.Now()))
			f.drive(in, readiness.Failed)
			if f.cloud.starts != 0 || changes != 0 {
				t.Errorf("web was started %d times and changed %d times", f.cloud.starts, changes)
			}
			if p := f.plan(in); !strings.Contains(p.Message, "asp_web: ") ||
				!strings.Contains(p.Message, "until the event was over") {
				t.Errorf("the plan says %q", p.Message)
			}
		})
	}
}

// A plan that never gets its capacity looks at its targets a bounded number of times, and reports a bounded number of
// times.
func TestAdvance_AMonthWithoutCapacityTakesFewSteps(t *testing.T) {
	f := newFixture(t, "web", "api")
	p, in := f.dispatched()
	f.Change(readiness.Key(org, p.ID), table.Set("eventEnd", p.EventStart.Add(readiness.Longest)))
	f.fail("api", &cloud.Error{Class: cloud.Transient, Message: "no answer"})
	steps := 0
	for f.status(in) != readiness.Failed {
		f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t))
		steps++
	}
	if steps > 1200 { // a standard workflow has 25,000 events; a step makes about ten
		t.Errorf("%d steps", steps)
	}
	if n := len(f.plan(in).Reports); n > maxReports+5 {
		t.Errorf("%d reports", n)
	}
}
