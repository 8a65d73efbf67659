package rescaling

import (
	"testing"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/testkit/apitest"
)

// TestLetGo_OfATargetThatIsRestoredOnlyDropsItsHold lets targets go after their plan has given them back.
func TestLetGo_OfATargetThatIsRestoredOnlyDropsItsHold(t *testing.T) {
	for _, uid := range []string{"web", "api"} {
		f := newFixture(t, "web", "api")
		_, in := f.dispatched()
		f.drive(in, readiness.Completed)
		h := scheduling.EventHold{
			PlanID: in.PlanID, PolicyID: policyOf(uid), UID: uid, Since: f.Clock.Now(),
			Until: f.Clock.Now(),
		}
		f.Write(scheduling.BeginEventHold(org, h)[0]) // as a process left it that died
		at, _, err := f.r.LetGo(f.In(org), f.forced(in, uid))
		if n := len(f.holds().All()); err != nil || !at.IsZero() || n != 0 {
			t.Errorf("at %s, %v, %d targets are held", at, err, n)
		}
		f.asBefore(in)
		if p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t); p.Status != readiness.Completed {
			t.Errorf("the plan is %s", p.Status)
		}
	}
}
