package readiness_test

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// permitted is the table of the interface specification, copied from there.
var permitted = []string{
	"draft scheduling", "draft cancelled", "scheduling scheduled", "scheduling failed", "scheduling cancelled",
	"scheduled scaling_up",
	"scheduled cancelled", "scheduled failed", "scaling_up active", "scaling_up failed", "scaling_up cancelled",
	"active scaling_down",
	"active failed", "active cancelled", "scaling_down completed", "scaling_down failed", "scaling_down cancelled",
	"failed draft",
	"failed scheduling", "failed cancelled", "completed draft", "completed cancelled",
}

// eachPair calls f with all 81 pairs of statuses.
func eachPair(t *testing.T, f func(t *testing.T, from, to readiness.Status, permitted bool)) {
	t.Helper()
	pairs := 0
	for _, from := range readiness.Statuses {
		for _, to := range readiness.Statuses {
			pairs++
			t.Run(fmt.Sprintf("%s to %s", from, to), func(t *testing.T) {
				f(t, from, to, slices.Contains(permitted, string(from+" "+to)))
			})
		}
	}
	if pairs != 81 {
		t.Errorf("%d pairs", pairs)
	}
}

func TestStatus_OnlyTheTablesTransitionsArePermitted(t *testing.T) {
	eachPair(t, func(t *testing.T, from, to readiness.Status, permitted bool) {
		t.Helper()
		if err := from.Check(to); from.Permits(to) != permitted || (err == nil) != permitted || err != nil &&
			!fault.Is(err, fault.Conflict) {
			t.Errorf("permitted is %v, and the check says %v", from.Permits(to), err)
		}
	})
}

// report returns the executor's report that brings a plan into a status.
func report(p readiness.Plan, to readiness.Status) readiness.Report {
	return readiness.Report{ID: "rep_" + string(p.Status+to), Run: p.Run, Status: to}
}

func TestTake_OfTwoRacingReportsOneMovesThePlanWhereTheTableSaysSo(t *testing.T) {
	f := newFixture(t)
	eachPair(t, func(t *testing.T, from, to readiness.Status, permitted bool) {
		t.Helper()
		p := f.in(from)
		before := apitest.Read[readiness.Plan](f.Fixture, readiness.Key(org, p.ID))
		var won atomic.Int64
		var all sync.WaitGroup
		for caller := range 2 {
			all.Go(func() {
				r := report(p, to)
				r.ID += strconv.Itoa(caller)
				switch _, err := f.plans.Take(f.In(org), org, p.ID, r); {
				case err == nil:
					won.Add(1)
				case !fault.Is(err, fault.Conflict):
					t.Error(err)
				}
			})
		}
		all.Wait()
		after := apitest.Read[readiness.Plan](f.Fixture, readiness.Key(org, p.ID))
		switch {
		case from == to: // both reports concern a plan that keeps its status
			if won.Load() != 2 || after.Status != from {
				t.Errorf("%d took it, and it is %s", won.Load(), after.Status)
			}
		case permitted:
			if after.Status != to || transitions(f, p.ID) != 1 { // the second one only adds a log line
				t.Errorf("it is %s after %d transitions", after.Status, transitions(f, p.ID))
			}
		default:
			f.Equal("the plan", after, before)
			if won.Load() != 0 {
				t.Errorf("%d moved it", won.Load())
			}
		}
	})
}

// transitions counts the transitions in the log of a plan, except its creation.
func transitions(f *fixture, planID string) int {
	n := 0
	for _, l := range f.log(planID) {
		if l.Kind == readiness.TransitionLine && l.From != "" {
			n++
		}
	}
	return n
}

func TestMove_OfTwoThatReadTheSamePlanOneChangesIt(t *testing.T) {
	f := newFixture(t)
	eachPair(t, func(t *testing.T, from, to readiness.Status, permitted bool) {
		t.Helper()
		p := f.in(from, "asp_1")
		var won atomic.Int64
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				switch _, err := f.plans.Move(f.In(org), p, readiness.Change{To: to, By: "ada@example.com"}); {
				case err == nil:
					won.Add(1)
				case !fault.Is(err, fault.Conflict):
					t.Error(err)
				}
			})
		}
		all.Wait()
		after := apitest.Read[readiness.Plan](f.Fixture, readiness.Key(org, p.ID))
		want := int64(0)
		if permitted || from == to { // a change of other fields is no transition
			want = 1
		}
		if won.Load() != want || permitted && after.Status != to || !permitted && after.Status != from {
			t.Errorf("%d changed it, and it is %s", won.Load(), after.Status)
		}
		if want == 0 {
			f.Equal("the plan", after, p)
		}
		// frees the target for the next pair
		_, _ = f.plans.Move(f.In(org), after, readiness.Change{To: readiness.Cancelled})
		f.Write(claimGone("asp_1"))
	})
}
