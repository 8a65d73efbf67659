package rescaling

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

func (f *fixture) forced(in readiness.Input, uid string) Forced {
	return Forced{Org: org, PlanID: in.PlanID, PolicyID: policyOf(uid), By: "manual:ada@example.com", ActionID: "act_1"}
}

// letGo calls LetGo on a runner until the target is let go.
func (f *fixture) letGo(ctx context.Context, r *Runner, of Forced) error {
	f.Helper()
	for range 100 {
		at, _, err := r.LetGo(ctx, of)
		if err != nil || at.IsZero() {
			return err
		}
		f.wait(Result{At: at})
	}
	f.Fatal("the target is not let go after 100 calls")
	return nil
}

func (f *fixture) holds() scheduling.EventHolds {
	f.Helper()
	return apitest.Value(scheduling.ReadEventHolds(f.In(org), f.Table, org))(f)
}

// TestLetGo_DyingAtAnyWriteLeavesNothingRaised kills the process that releases a target before or after each of its
// writes. Another process continues.
func TestLetGo_DyingAtAnyWriteLeavesNothingRaised(t *testing.T) {
	for _, after := range []bool{false, true} {
		for n := 1; ; n++ {
			f := newFixture(t, "web", "api")
			_, in := f.dispatched()
			f.drive(in, readiness.Active)
			ctx, p := killpoint.Start(f.In(org), killpoint.Point{Step: n, Landed: after})
			_ = f.letGo(ctx,
				&Runner{Table: p.Store(f.Table), Clock: f.Clock, Open: f.r.Open, Starter: f.cloud, Report: f.r.Report},
				f.forced(in, "web"))
			died := p.Killed()
			f.Clock.Advance(2 * lockTime)
			f.Must(f.letGo(f.In(org), f.r, f.forced(in, "web")))
			f.checkLetGo(in, fmt.Sprintf("died at write %d, after it %v", n, after))
			if !died || t.Failed() {
				break
			}
		}
	}
}

// checkLetGo checks a plan on two groups, one of them released, during and after the event.
func (f *fixture) checkLetGo(in readiness.Input, name string) {
	f.Helper()
	if got := apitest.JSON(f.cloud.at["web"]); got != apitest.JSON(before) {
		f.Errorf("%s: the target has %s; before the event it had %s", name, got, apitest.JSON(before))
	}
	if kept := f.cloud.kept; len(kept) == 0 || kept[0].ActionID != "act_1" ||
		string(kept[0].Snapshot) != apitest.JSON(sizeOf(before)) {
		f.Errorf("%s: the stop is left %s to remember", name, apitest.JSON(kept))
	}
	if _, held := f.holds().Of("web"); held || len(f.holds().All()) != 1 {
		f.Errorf("%s: the plan holds %s", name, apitest.JSON(f.holds().All()))
	}
	if p := apitest.Read[readiness.Policy](f.Fixture, readiness.PolicyKey(org, policyOf("web"))); p.PlanID != "" {
		f.Errorf("%s: policy %s is held by %s", name, p.ID, p.PlanID)
	}
	f.cloud.mu.Lock()
	f.cloud.at["web"] = cloud.Autoscaling{} // it is stopped now
	f.cloud.mu.Unlock()
	f.drive(in, readiness.Completed)
	f.once(in)
	if got := apitest.JSON(f.cloud.at["web"]); got != apitest.JSON(cloud.Autoscaling{}) {
		f.Errorf("%s: the end of the event has started what a forced stop had stopped: %s", name, got)
	}
	if got := apitest.JSON(f.cloud.at["api"]); got != apitest.JSON(before) || len(f.holds().Ended()) != 1 {
		f.Errorf("%s: the other target has %s, and %d holds have ended", name, got, len(f.holds().Ended()))
	}
}

// TestLetGo_WaitsForACallThatIsUnderWay lets a target go while another process may be calling its cloud.
func TestLetGo_WaitsForACallThatIsUnderWay(t *testing.T) {
	f := newFixture(t, "web", "api")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	kept := apitest.Value(f.r.captures(f.In(org), in))(t)
	c := kept[policyOf("web")]
	c.lock("up-1", f.Clock.Now())
	apitest.Value(f.r.store(f.In(org), org, &c))(t)
	at, why, err := f.r.LetGo(f.In(org), f.forced(in, "web"))
	if err != nil || at.Sub(f.Clock.Now()) > lockTime || !at.After(f.Clock.Now()) || why == "" {
		t.Errorf("at %s, %q, %v", at, why, err)
	}
	if got := f.size("web"); got != during {
		t.Errorf("the target has %s; during the event it has %s", got, during)
	}
	f.Clock.Advance(lockTime + time.Second)
	f.Must(f.letGo(f.In(org), f.r, f.forced(in, "web")))
	f.checkLetGo(in, "after the call")
}
