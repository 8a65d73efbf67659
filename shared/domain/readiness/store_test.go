package readiness_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/readiness"
	store "lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

// claimGone returns the write that deletes the claim on a policy.
func claimGone(policyID string) store.Write {
	return store.Delete(store.Key{PK: store.OrgPK(org) + "EVENTCLAIM", SK: policyID})
}

func TestCreate_OfManyOverlappingPlansOnePolicyHasOne(t *testing.T) {
	f := newFixture(t)
	var won atomic.Int64
	var all sync.WaitGroup
	for n := range 8 {
		p := f.plan("asp_shop", fmt.Sprintf("asp_%d", n))
		p.ID = id.New("evt", f.Clock.Now().Add(time.Duration(n)*time.Millisecond))
		all.Go(func() {
			switch _, err := f.plans.Create(f.In(org), p); {
			case err == nil:
				won.Add(1)
			case !fault.Is(err, fault.Conflict):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d plans hold one policy at one time", won.Load())
	}
	if plans := apitest.Value(f.Table.Query(f.In(org), withLimit(readiness.All(org))))(t); len(plans.Items) != 1 {
		t.Errorf("%d plans are there", len(plans.Items))
	}
}

func withLimit(q store.Query) store.Query {
	q.Limit = 100
	return q
}

func TestCreate_WindowsThatTouchDoNotOverlap(t *testing.T) {
	f := newFixture(t)
	first := f.plan("asp_shop")
	next := f.plan("asp_shop")
	next.ID = id.New("evt", f.Clock.Now().Add(time.Second))
	next.EventStart = first.ScaleDownAt().Add(30 * time.Minute) // its own window begins where the first one's ends
	next.EventEnd = next.EventStart.Add(time.Hour)
	f.Must(errOf(f.plans.Create(f.In(org), first)))
	f.Must(errOf(f.plans.Create(f.In(org), next)))
	late := f.plan("asp_shop")
	late.ID, late.EventStart = id.New("evt", f.Clock.Now().Add(2*time.Second)), next.EventEnd
	late.EventEnd = late.EventStart.Add(time.Hour)
	if _, err := f.plans.Create(f.In(org), late); !fault.Is(err, fault.Conflict) {
		t.Errorf("a window that begins within another: %v", err)
	}
}

func errOf(_ readiness.Plan, err error) error { return err }

func TestMove_APlanThatIsOverFreesItsTargetsAndOneThatIsResetTakesThemAgain(t *testing.T) {
	f := newFixture(t)
	p := f.in(readiness.ScalingDown, "asp_shop")
	p = apitest.Value(f.plans.Move(f.In(org), p, readiness.Change{To: readiness.Completed, By: "executor"}))(t)
	other := f.plan("asp_shop")
	other.ID = id.New("evt", f.Clock.Now().Add(time.Second))
	other = apitest.Value(f.plans.Create(f.In(org), other))(t)
	if _, err := f.plans.Move(f.In(org), p,
		readiness.Change{To: readiness.Draft, By: "ada@example.com"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("it took what another plan has: %v", err)
	}
	f.Must(errOf(f.plans.Move(f.In(org), other, readiness.Change{To: readiness.Cancelled, By: "ada@example.com"})))
	f.Must(errOf(f.plans.Move(f.In(org), p, readiness.Change{To: readiness.Draft, By: "ada@example.com"})))
}

func TestTake_AReportIsLoggedOnceHoweverOftenItIsSent(t *testing.T) {
	f := newFixture(t)
	p, w, err := f.plans.Dispatch(f.In(org), f.in(readiness.Draft, "asp_shop"),
		readiness.Change{To: readiness.Scheduling, By: "ada@example.com"})
	f.Must(err)
	r := readiness.Report{ID: "scheduled-1", Run: w.Input.Run, Status: readiness.Scheduled, Message: "at its times"}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := f.plans.Take(f.In(org), org, p.ID, r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	lines := f.log(p.ID)
	called, moved := 0, 0
	for _, l := range lines {
		switch {
		case l.Kind == readiness.CallbackLine && l.Report == r.ID && l.Message == "at its times":
			called++
		case l.Kind == readiness.TransitionLine && l.To == readiness.Scheduled:
			moved++
		}
	}
	if called != 1 || moved != 1 || len(lines) != 4 {
		t.Errorf("logged %s", apitest.JSON(lines))
	}
	r.ID, r.Run = "scheduled-0", 0
	if _, err := f.plans.Take(f.In(org), org, p.ID, r); !fault.Is(err, fault.Conflict) {
		t.Errorf("a report of another dispatch: %v", err)
	}
}

func TestTake_KeepsWhatWasCapturedBeforeScaling(t *testing.T) {
	f := newFixture(t)
	p := f.in(readiness.Scheduled, "asp_1", "asp_2")
	r := readiness.Report{
		ID: "up", Status: readiness.ScalingUp,
		Targets: []readiness.Target{{PolicyID: "asp_2", OriginalMin: 1, OriginalMax: 7, OriginalDesired: 3}},
	}
	got := apitest.Value(f.plans.Take(f.In(org), org, p.ID, r))(t)
	want := []readiness.Target{p.Targets[0], r.Targets[0]}
	f.Equal("targets", got.Targets, want)
	f.Equal("stored", apitest.Read[readiness.Plan](f.Fixture, readiness.Key(org, p.ID)).Targets, want)
}

func TestLog_KeepsTheNewestThousandAndExpires(t *testing.T) {
	f := newFixture(t)
	p := f.in(readiness.Draft)
	for n := range 1010 {
		p = apitest.Value(f.plans.Move(f.In(org), p,
			readiness.Change{To: readiness.Draft, By: "ada@example.com", Message: strconv.Itoa(n)}))(t)
	}
	lines := f.log(p.ID)
	if len(lines) != 1000 || lines[999].Message != "1009" || lines[0].Message != "10" {
		t.Errorf("%d lines, from %q to %q", len(lines), lines[0].Message, lines[len(lines)-1].Message)
	}
	f.Clock.Advance(401 * 24 * time.Hour)
	if left := f.log(p.ID); len(left) != 0 {
		t.Errorf("%d are kept for ever", len(left))
	}
}

func pending(f *fixture, name string) bool {
	f.Helper()
	_, err := f.Table.Get(store.Within(f.In(org), workqueue.Prefix), workqueue.WorkKey(name))
	if err != nil && !fault.Is(err, fault.NotFound) {
		f.Fatal(err)
	}
	return err == nil
}

func TestDispatchAndCancel_LeaveTheWorkThatIsLeftToDo(t *testing.T) {
	f := newFixture(t)
	p, up, err := f.plans.Dispatch(f.In(org), f.in(readiness.Draft, "asp_shop"),
		readiness.Change{To: readiness.Scheduling, By: "ada@example.com"})
	f.Must(err)
	if !pending(f, up.Name) || p.Run != 1 || up.Name != p.ID+"-r1" {
		t.Errorf("%+v of run %d is not pending", up, p.Run)
	}
	p = apitest.Value(f.plans.Take(f.In(org), org, p.ID,
		readiness.Report{ID: "1", Run: 1, Status: readiness.Scheduled}))(t)
	p, again, err := f.plans.Dispatch(f.In(org), p,
		readiness.Change{To: readiness.Scheduled, By: "ada@example.com", Edit: func(p *readiness.Plan) {
			p.Name = "Cyber Monday"
		}})
	f.Must(err)
	if pending(f, up.Name) || !pending(f, again.Name) || p.Run != 2 || p.Name != "Cyber Monday" ||
		p.Status != readiness.Scheduled || len(p.Reports) != 0 {
		t.Errorf("dispatched again: %+v", p)
	}
	p, down, err := f.plans.Cancel(f.In(org), p, readiness.Change{By: "ada@example.com"})
	f.Must(err)
	if pending(f, again.Name) || !pending(f, down.Name) || p.Status != readiness.Cancelled {
		t.Errorf("cancelled: %+v", p)
	}
	f.Clock.Advance(48 * time.Hour)
	if _, _, err = f.plans.Dispatch(f.In(org), f.in(readiness.Failed, "asp_late"),
		readiness.Change{To: readiness.Scheduling}); err != nil {
		t.Errorf("one of tomorrow: %v", err)
	}
	old := f.in(readiness.Failed, "asp_old")
	f.Clock.Advance(72 * time.Hour)
	if _, _, err = f.plans.Dispatch(f.In(org), old, readiness.Change{To: readiness.Scheduling}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("one that is over: %v", err)
	}
}

func TestMove_APlanThatIsDeletedLeavesTheListAndMakesRoom(t *testing.T) {
	f := newFixture(t)
	f.Put(store.Key{PK: store.OrgPK(org) + "EVENTPLAN", SK: "COUNT"}, map[string]int{"plans": readiness.MostPlans - 1})
	p := apitest.Value(f.plans.Create(f.In(org), f.plan("asp_shop")))(t)
	second := f.plan("asp_other")
	second.ID = id.New("evt", f.Clock.Now().Add(time.Second))
	if _, err := f.plans.Create(f.In(org), second); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more than the most: %v", err)
	}
	f.Must(errOf(f.plans.Move(f.In(org), p,
		readiness.Change{To: readiness.Cancelled, By: "ada@example.com", Delete: true})))
	if _, err := f.plans.Get(f.In(org), org, p.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the deleted plan: %v", err)
	}
	second.Targets = p.Targets
	f.Must(errOf(f.plans.Create(f.In(org), second)))
	if lines := f.log(p.ID); len(lines) != 2 {
		t.Errorf("the log of a deleted plan has %d lines", len(lines))
	}
	var moved *store.ConditionError
	if _, err := f.plans.Move(f.In(org), p, readiness.Change{To: readiness.Draft}); !fault.Is(err, fault.Conflict) ||
		errors.As(err, &moved) {
		t.Errorf("a change of the deleted plan: %v", err)
	}
}
