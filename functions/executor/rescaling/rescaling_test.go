package rescaling

import (
	"context"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

func TestAdvance_CapacityIsRaisedForTheEventAndGivenBack(t *testing.T) {
	f := newFixture(t, "web", "api")
	p, in := f.dispatched()
	f.drive(in, readiness.Scheduled)
	got := apitest.Value(f.r.Advance(f.In(org), in))(t)
	if !got.At.Equal(p.ScaleUpAt()) || f.cloud.sets != 0 {
		t.Fatalf("it waits until %s, and %d groups were changed", got.At, f.cloud.sets)
	}
	f.drive(in, readiness.Active)
	if now := f.Clock.Now(); now.Before(p.ScaleUpAt()) || now.After(p.ScaleUpAt().Add(time.Minute)) {
		t.Errorf("scaled up at %s, the plan says %s", now, p.ScaleUpAt())
	}
	for _, uid := range []string{"web", "api"} {
		if f.size(uid) != during {
			t.Errorf("%s is %s", uid, f.size(uid))
		}
		if held := apitest.Read[readiness.Policy](f.Fixture,
			readiness.PolicyKey(org, policyOf(uid))); held.PlanID != p.ID {
			t.Errorf("%s is held by %q", uid, held.PlanID)
		}
	}
	active := apitest.Value(f.plans.Get(f.In(org), org, p.ID))(t)
	if o := active.Targets[0].Original(); o != sizeOf(before) {
		t.Errorf("captured before scaling: %s", o)
	}
	f.drive(in, readiness.Completed)
	if now := f.Clock.Now(); now.Before(p.ScaleDownAt()) || now.After(p.ScaleDownAt().Add(time.Minute)) {
		t.Errorf("restored at %s, the plan says %s", now, p.ScaleDownAt())
	}
	f.asBefore(in)
	if lines := f.once(in); len(lines) != 12 { // created, dispatched, and five reports with the transition of each
		t.Errorf("the log: %s", apitest.JSON(lines))
	}
}

func TestAdvance_WhatSomebodyChangedMeanwhileIsGivenBackAndNoted(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.cloud.at["web"] = cloud.Autoscaling{Min: 9, Max: 40, Desired: 12, Native: before.Native}
	f.drive(in, readiness.Completed)
	f.asBefore(in)
	p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t)
	if !strings.Contains(p.Message,
		"somebody changed it: it had min 9, max 40, desired 12 where min 9, max 22, desired 9 was set") {
		t.Errorf("the plan says %q", p.Message)
	}
}

func TestAdvance_WhatIsAsItWasAlreadyIsNotSetAgain(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.cloud.at["web"] = before
	sets := f.cloud.sets
	f.drive(in, readiness.Completed)
	if f.cloud.sets != sets {
		t.Error("it was set again")
	}
	f.asBefore(in)
}

func TestAdvance_AGroupThatIsGoneIsNotedAndTheRestGivenBack(t *testing.T) {
	f := newFixture(t, "web", "api")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	delete(f.cloud.at, "web")
	f.drive(in, readiness.Completed)
	f.asBefore(in)
	if p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t); !strings.Contains(p.Message,
		"asp_web: it does not exist any more") {
		t.Errorf("the plan says %q", p.Message)
	}
}

func TestAdvance_OneTargetThatCannotBeScaledFailsThePlanAndTheOthersAreGivenBack(t *testing.T) {
	for name, fails := range map[string]error{
		"refused": &cloud.Error{Class: cloud.Denied, Message: "autoscaling:UpdateAutoScalingGroup is not allowed"},
		"away":    &cloud.Error{Class: cloud.Transient, Message: "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "web", "api")
			_, in := f.dispatched()
			f.cloud.before = func(uid string, want cloud.Autoscaling) error {
				if uid == "api" && want.Min == during.Min {
					return fails
				}
				return nil
			}
			f.drive(in, "")
			if f.status(in) != readiness.Failed {
				t.Errorf("it is %s", f.status(in))
			}
			f.asBefore(in)
			p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t)
			if lines := f.once(in); !strings.Contains(p.Message, "asp_api: ") ||
				!strings.HasPrefix(lines[len(lines)-1].Message, "rolled back: 2") {
				t.Errorf("the plan says %q, its log %s", p.Message, apitest.JSON(lines))
			}
		})
	}
}

func TestAdvance_ACloudThatIsAwayForAnHourDelaysTheRestoreAndNoMore(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	var back time.Time
	f.cloud.before = func(string, cloud.Autoscaling) error {
		if back.IsZero() {
			back = f.Clock.Now().Add(time.Hour)
		}
		if f.Clock.Now().Before(back) {
			return &cloud.Error{Class: cloud.Transient, Message: "no answer"}
		}
		return nil
	}
	f.drive(in, readiness.Completed)
	if late := f.Clock.Now().Sub(back); late > 11*time.Minute {
		t.Errorf("restored %s after the cloud came back", late)
	}
	f.asBefore(in)
}

func TestAdvance_APolicyThatAnotherPlanHoldsIsWaitedFor(t *testing.T) {
	f := newFixture(t, "web")
	p, in := f.dispatched()
	f.Change(readiness.PolicyKey(org, "asp_web"), table.Set("planID", "evt_other"))
	f.drive(in, readiness.Failed)
	if f.cloud.sets != 0 {
		t.Error("it was scaled all the same")
	}
	if p = apitest.Value(f.plans.Get(f.In(org), org, p.ID))(t); !strings.Contains(p.Message,
		"another plan has raised it") {
		t.Errorf("the plan says %q", p.Message)
	}
	if held := apitest.Read[readiness.Policy](f.Fixture,
		readiness.PolicyKey(org, "asp_web")); held.PlanID != "evt_other" {
		t.Errorf("it is held by %q", held.PlanID)
	}
}

// Cancelling in every moment of a dispatch leaves the capacity as it was.
func TestAdvance_CancelFromEveryStatusRollsBack(t *testing.T) {
	for _, at := range []readiness.Status{
		readiness.Scheduling, readiness.Scheduled, readiness.ScalingUp,
		readiness.Active, readiness.ScalingDown, readiness.Failed, readiness.Completed,
	} {
		t.Run(string(at), func(t *testing.T) {
			f := newFixture(t, "web", "api")
			_, in := f.dispatched()
			f.cloud.before = func(uid string, want cloud.Autoscaling) error {
				stuck := uid == "api" &&
					(at == readiness.ScalingUp && want.Min == during.Min || at == readiness.ScalingDown &&
						want.Min == before.Min)
				if stuck && f.status(in) == at {
					return &cloud.Error{Class: cloud.Transient, Message: "no answer"}
				}
				if at == readiness.Failed && uid == "api" {
					return &cloud.Error{Class: cloud.Denied, Message: "no"}
				}
				return nil
			}
			if at != readiness.Scheduling {
				f.drive(in, at)
			}
			f.cloud.before = nil
			f.cancel(in)
			f.drive(in, "")
			if f.status(in) != readiness.Cancelled {
				t.Errorf("it is %s", f.status(in))
			}
			f.asBefore(in)
			f.once(in)
		})
	}
}

// cancel cancels the plan as POST /event-readiness/{eventID}/cancel does.
func (f *fixture) cancel(in readiness.Input) {
	f.Helper()
	p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(f)
	_, _, err := f.plans.Cancel(f.In(org), p, readiness.Change{By: "ada@example.com"})
	f.Must(err)
}

// The call that raises is under way when the plan is cancelled, and takes effect only after the rollback has looked.
func TestAdvance_CancelWhileAScaleCallIsInFlightLeavesTheOriginal(t *testing.T) {
	for name, dies := range map[string]bool{"the call comes back": false, "its process dies": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "web")
			_, in := f.dispatched()
			f.drive(in, readiness.Scheduled)
			f.wait(Result{At: f.Clock.Now().Add(90 * time.Minute)})
			reached, land := make(chan struct{}), make(chan struct{})
			f.cloud.before = func(_ string, want cloud.Autoscaling) error {
				if want.Min == during.Min {
					close(reached)
					<-land
				}
				return nil
			}
			if dies {
				f.cloud.after = func() error { f.cloud.after = nil; return killpoint.ErrKilled }
			}
			ended := make(chan struct{})
			ctx, kill := context.WithCancel(f.In(org))
			defer kill()
			go func() {
				_, _ = f.r.Advance(ctx, in)
				close(ended)
			}()
			<-reached
			f.cancel(in)
			got := apitest.Value(f.r.Advance(f.In(org), in))(t)
			if got.Done {
				t.Fatal("the rollback believes that nothing was applied")
			}
			if dies {
				kill()
			}
			close(land)
			<-ended
			f.cloud.before = nil
			f.drive(in, "")
			f.asBefore(in)
		})
	}
}

// The same, where the call lands only after its lock has ended and the rollback has given everything back once.
func TestAdvance_ACallThatLandsLateIsSeenByTheSecondLook(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Scheduled)
	f.wait(Result{At: f.Clock.Now().Add(90 * time.Minute)})
	f.cloud.before = func(string, cloud.Autoscaling) error { return killpoint.ErrKilled }
	ctx, kill := context.WithCancel(f.In(org))
	defer kill()
	f.cloud.before = func(string, cloud.Autoscaling) error { kill(); return killpoint.ErrKilled }
	if _, err := f.r.Advance(ctx, in); err == nil {
		t.Fatal("it was not killed")
	}
	f.cloud.before = nil
	f.cancel(in)
	f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t)) // waits for the lock
	f.wait(apitest.Value(f.r.Advance(f.In(org), in))(t)) // looks, and finds it as it was
	f.cloud.at["web"] = cloud.Autoscaling{
		Min: during.Min, Max: during.Max, Desired: during.Desired,
		Native: before.Native,
	}
	f.drive(in, "")
	f.asBefore(in)
}

func TestAdvance_WhatAnEarlierDispatchLeftRaisedIsGivenBackBeforeTheNextOneCaptures(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.cloud.before = func(string, cloud.Autoscaling) error { return &cloud.Error{Class: cloud.Denied, Message: "no"} }
	f.Must(f.r.Report(f.In(org), org, in.PlanID,
		readiness.Report{ID: "broken", Run: in.Run, Status: readiness.Failed, Message: "broken"}))
	p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t)
	if f.size("web") != during {
		t.Fatal("nothing is left raised")
	}
	_, again := f.dispatch(p)
	f.cloud.before = nil
	f.drive(again, readiness.Active)
	if f.size("web") != during {
		t.Errorf("it is %s: what was raised was taken for the original", f.size("web"))
	}
	f.drive(again, readiness.Completed)
	f.asBefore(again)
}

func TestAdvance_APlanThatWasDeletedIsRolledBack(t *testing.T) {
	f := newFixture(t, "web")
	_, in := f.dispatched()
	f.drive(in, readiness.Active)
	f.Must(f.r.Report(f.In(org), org, in.PlanID, readiness.Report{ID: "broken", Run: in.Run, Status: readiness.Failed}))
	p := apitest.Value(f.plans.Get(f.In(org), org, in.PlanID))(t)
	_, _, err := f.plans.Cancel(f.In(org), p, readiness.Change{By: "ada@example.com", Delete: true})
	f.Must(err)
	f.drive(in, "")
	f.asBefore(in)
}
