package executor

import (
	"context"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// expandOrder stores a bulk action that stops the first two groups.
func (e *heldEvent) expandOrder(plan execution.BulkPlan) execution.BulkInput {
	e.Helper()
	plan.FailurePolicy = "abort"
	in := execution.BulkInput{Org: org, BulkID: "bulk_01k00000000000000000000007"}
	b := execution.Bulk{
		ID: in.BulkID, Type: cloud.Stop, Status: execution.BulkQueued, Total: 2,
		CreatedAt: e.Clock.Now(), Plan: &plan,
	}
	e.Put(execution.BulkKey(org, b.ID), b)
	e.Put(execution.NamedKey(org, b.ID), execution.Named{ResourceIDs: []string{e.groups[0].ID, e.groups[1].ID}})
	return in
}

// owed returns whether a stop of the nth group is owed to the hold on it.
func (e *heldEvent) owed(n int) (scheduling.OwedAction, bool) {
	e.Helper()
	l := e.readHolds()
	h, _ := l.OfPolicy(policyID(n))
	return l.Owed(h, e.groups[n].UID)
}

func TestOwe_AnOrderThatAnEventLeavesOutIsMadeGoodAndWhatAPersonAsksIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		plan           execution.BulkPlan
		owed, promised bool
	}{
		"asked for by hand":         {execution.BulkPlan{ChangedBy: "bulk:ada@example.com:1"}, false, false},
		"ordered by a schedule":     {execution.BulkPlan{Reason: execution.ReasonSchedule}, true, false},
		"at the end of an override": {execution.BulkPlan{Reason: execution.ReasonOverrideExpired}, true, false},
		"at the end of a wake link": {
			execution.BulkPlan{Reason: execution.ReasonOverrideExpired, Promised: true},
			true,
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvent(t, readiness.Active)
			apitest.Value(e.e.beginBulk(e.ctx, e.expandOrder(c.plan)))(t)
			if o, is := e.owed(0); is != c.owed || o.Promised != c.promised {
				t.Errorf("owed %v: %+v", is, o)
			}
		})
	}
}

// hold has the plan hold the nth group.
func (e *heldEvent) hold(n int) {
	e.Helper()
	e.Write(scheduling.BeginEventHold(org, scheduling.EventHold{
		PlanID: e.in.PlanID, PolicyID: policyID(n), UID: e.groups[n].UID, Since: e.Clock.Now(),
		Until: e.Clock.Now().Add(time.Hour),
	})[0])
}

// An event begins after an order was planned: its stops are left out when they begin, are owed, and abort nothing.
func TestOwe_AStopThatIsLeftOutAsItBeginsIsOwedAndNoFailureThatAborts(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	in := e.expandOrder(execution.BulkPlan{Reason: execution.ReasonSchedule})
	apitest.Value(e.e.expandBulk(e.ctx, in))(t)
	e.hold(0)
	e.hold(1)
	step := apitest.Value(e.e.nextStep(e.ctx, in))(t)
	for _, chunk := range step.Chunks {
		e.driveRun(chunk)
	}
	apitest.Value(e.e.finishBulk(e.ctx, in))(t)
	if b := e.bulk(in.BulkID); b.Failed != 2 || b.Unasked != 2 {
		t.Errorf("%d failed, of which %d were not asked", b.Failed, b.Unasked)
	}
	for n := range 2 {
		if _, is := e.owed(n); !is || e.groupSize(n) != e.before[e.groups[n].UID] {
			t.Errorf("group %d: owed %v, it has %s", n, is, e.groupSize(n))
		}
	}
	if h := e.readHistory(); len(h) != 0 {
		t.Errorf("what was not asked is on record: %s", apitest.JSON(h))
	}
}

// A forced stop whose plan does not give the capacity back in time was not asked of the provider.
func TestOwe_AForcedStopThatWaitedInVainWasNotAsked(t *testing.T) {
	e := newEvent(t, readiness.Active)
	a := apitest.Value(e.askAction(e.groups[0], cloud.Stop, true))(t)
	o := e.e.endedUnasked(&a, "not stopped")
	if !o.LeftOut || o.Status != execution.Failed {
		t.Errorf("%+v", o)
	}
}

// endingStore ends the hold on a target at the moment at which something is to be owed to it.
type endingStore struct {
	table.Store
	end func()
}

func (s endingStore) Write(ctx context.Context, w table.Write) (table.Item, error) {
	if s.end != nil && strings.HasSuffix(w.Item.PK, "EVENTHOLD") {
		s.end()
	}
	return s.Store.Write(ctx, w)
}

func TestOwe_AHoldThatEndsAtThatMomentHasTheOrderTriedAgain(t *testing.T) {
	e := newEvent(t, readiness.Active)
	in := e.expandOrder(execution.BulkPlan{Reason: execution.ReasonSchedule})
	inner := e.e.p.Table
	e.e.p.Table = endingStore{inner, func() {
		apitest.Value(inner.Write(e.ctx, scheduling.DropEventHold(org, policyID(0))))(e)
	}}
	if _, err := e.e.expandBulk(e.ctx, in); !fault.Is(err, fault.Unavailable) {
		t.Fatalf("%v", err)
	}
	e.e.p.Table = inner
	apitest.Value(e.e.expandBulk(e.ctx, in))(t)
	if b := e.bulk(in.BulkID); b.Total != 1 || b.LeftOut != 1 || b.LeftOutOf[0].ResourceUID != e.groups[1].UID {
		t.Errorf("%s", apitest.JSON(b))
	}
}
