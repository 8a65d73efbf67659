package executor

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

// heldEvent is a plan on three Auto Scaling groups of a simulated account, with a fourth group beside them.
type heldEvent struct {
	*planUnderWay
	in     readiness.Input
	before map[string]string // how the groups were scaled
}

// newEvent dispatches a plan that scales up in three minutes, and drives it to a status.
func newEvent(t *testing.T, status readiness.Status) *heldEvent {
	t.Helper()
	w := newFixture(t,
		map[string]string{
			"size": "60", "kinds": cloud.AWSASG, "regions": "1", "stopped": "0",
			"transitionSeconds": "20",
		})
	e := &heldEvent{planUnderWay: &planUnderWay{fixture: w, plans: readiness.New(w.Table, w.e.p.Clock)}}
	w.e.p.Workers = lambdacall.Local{readiness.Function: e.takeReport}
	e.connectFleet()
	e.before = e.sizes()
	e.in = readiness.Input{Org: org, PlanID: e.dispatchPlan(), Run: 1}
	e.driveTo(status)
	return e
}

// driveTo runs the steps of the plan until it is in the status.
func (e *heldEvent) driveTo(status readiness.Status) {
	e.Helper()
	for range 200 {
		if e.plan().Status == status {
			return
		}
		e.advance()
	}
	e.Fatalf("the plan is %s after 200 steps; want %s", e.plan().Status, status)
}

// advance runs one step of the plan and moves the clock to the next one.
func (e *heldEvent) advance() {
	e.Helper()
	got := apitest.Value(e.e.rescaler().Advance(e.ctx, e.in))(e)
	if d := got.At.Sub(e.Clock.Now()); !got.Done && d > 0 && e.plan().Status != readiness.Active {
		e.Clock.Advance(d)
	}
}

func (e *heldEvent) plan() readiness.Plan {
	e.Helper()
	return apitest.Value(e.plans.Get(e.ctx, org, e.in.PlanID))(e)
}

// endPlan moves the clock to the end of the event and drives the plan to its end.
func (e *heldEvent) endPlan() {
	e.Helper()
	p := e.plan()
	e.Clock.Advance(p.ScaleDownAt().Sub(e.Clock.Now()))
	e.driveTo(readiness.Completed)
}

func (e *heldEvent) groupSize(n int) string { e.Helper(); return e.sizes()[e.groups[n].UID] }

// other returns a running group that is not a target.
func (e *heldEvent) other() inventory.Resource {
	e.Helper()
	for _, r := range e.resources {
		if r.Unschedulable == "" && r.UID != e.groups[0].UID && r.UID != e.groups[1].UID && r.UID != e.groups[2].UID {
			return r
		}
	}
	e.Fatal("the cloud has no fourth group")
	return inventory.Resource{}
}

// askAction submits an action on a resource.
func (e *heldEvent) askAction(r inventory.Resource, verb cloud.Verb, force bool) (execution.Action, error) {
	p := e.e.p.Clone()
	p.Workflow = apitest.Idle{}
	return execution.SubmitAction(e.ctx, p, org, execution.Request{
		Verb: verb, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type, CloudAccountID: r.CloudAccountID,
		Region: r.Region, Reason: "manual", ChangedBy: "manual:ada@example.com", Force: force,
	})
}

func (e *heldEvent) forceStop(r inventory.Resource) execution.Action {
	e.Helper()
	a := apitest.Value(e.askAction(r, cloud.Stop, true))(e)
	e.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	return e.action(a.ID)
}

func (e *heldEvent) readHolds() scheduling.EventHolds {
	e.Helper()
	return apitest.Value(scheduling.ReadEventHolds(e.ctx, e.Table, org))(e)
}

// TestHeld_FromTheFirstRaiseToTheLastRestore follows the hold on the targets of a plan through the plan's life.
func TestHeld_FromTheFirstRaiseToTheLastRestore(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	if n := len(e.readHolds().All()); n != 0 {
		t.Errorf("a scheduled plan holds %d targets before it raises them", n)
	}
	e.driveTo(readiness.Active)
	if n := len(e.readHolds().All()); n != 3 {
		t.Errorf("the plan holds %d targets; want 3", n)
	}
	if _, err := e.askAction(e.groups[0], cloud.Stop, false); !fault.Is(err, fault.Conflict) ||
		!strings.Contains(err.Error(), e.in.PlanID) {
		t.Errorf("a stop during the event: %v", err)
	}
	if _, err := e.askAction(e.groups[0], cloud.Start, false); err != nil {
		t.Errorf("a start during the event: %v", err)
	}
	e.endPlan()
	if n := len(e.readHolds().All()); n != 0 || len(e.readHolds().Ended()) != 3 {
		t.Errorf("after the last restore the plan holds %d targets, and %d ended holds wait for the evaluator", n,
			len(e.readHolds().Ended()))
	}
	if got := apitest.JSON(e.sizes()); got != apitest.JSON(e.before) {
		t.Errorf("after the event %s, before it %s", got, apitest.JSON(e.before))
	}
}

// TestHeld_ABulkActionLeavesTheTargetOutAndSaysSo asks a stop of a target and of another group.
func TestHeld_ABulkActionLeavesTheTargetOutAndSaysSo(t *testing.T) {
	for name, plan := range map[string]execution.BulkPlan{
		"asked for by hand": {ChangedBy: "bulk:ada@example.com:1", FailurePolicy: "continue"},
		"ordered by a schedule": {
			ChangedBy: "schedule:Nights:1", FailurePolicy: "continue",
			Reason: execution.ReasonSchedule,
		},
		"at the end of an override": {
			ChangedBy: "override_expired:force_on", FailurePolicy: "continue",
			Reason: execution.ReasonOverrideExpired,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEvent(t, readiness.Active)
			during := e.groupSize(0)
			in := execution.BulkInput{Org: org, BulkID: "bulk_01k00000000000000000000001"}
			b := execution.Bulk{
				ID: in.BulkID, Type: cloud.Stop, Status: execution.BulkQueued, Total: 2,
				CreatedAt: e.Clock.Now(), Plan: &plan,
			}
			e.Put(execution.BulkKey(org, b.ID), b)
			e.Put(execution.NamedKey(org, b.ID), execution.Named{ResourceIDs: []string{e.groups[0].ID, e.other().ID}})
			apitest.Value(e.e.beginBulk(e.ctx, in))(e)
			b = e.bulk(in.BulkID)
			if b.Total != 1 || b.LeftOut != 1 || len(b.LeftOutOf) != 1 || b.LeftOutOf[0].Reason != "event" ||
				b.LeftOutOf[0].ResourceUID != e.groups[0].UID ||
				!strings.Contains(b.LeftOutOf[0].Detail, e.in.PlanID) {
				t.Errorf("%s", apitest.JSON(b))
			}
			if got := e.groupSize(0); got != during {
				t.Errorf("the target has %s; during the event it had %s", got, during)
			}
		})
	}
}

// TestHeld_IsLookedAtAgainWhenAStopBegins has a plan begin to hold a target after a stop was created and before it
// runs.
func TestHeld_IsLookedAtAgainWhenAStopBegins(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	before := e.groupSize(0)
	a := apitest.Value(e.askAction(e.groups[0], cloud.Stop, false))(t)
	h := scheduling.EventHold{
		PlanID: e.in.PlanID, PolicyID: policyID(0), UID: e.groups[0].UID, Since: e.Clock.Now(),
		Until: e.Clock.Now().Add(time.Hour),
	}
	e.Write(scheduling.BeginEventHold(org, h)[0])
	e.driveRun(execution.RunInput{Org: org, Actions: []string{a.ID}, Until: execution.UntilSettled})
	if a = e.action(a.ID); a.Status != execution.Failed || !strings.Contains(a.ErrorMessage, "event") ||
		!strings.Contains(a.ErrorMessage, e.in.PlanID) {
		t.Errorf("%s: %s", a.Status, a.ErrorMessage)
	}
	if got := e.groupSize(0); got != before {
		t.Errorf("the target has %s; it had %s", got, before)
	}
	if r := e.resource(e.groups[0].UID); r.ActionID != "" {
		t.Errorf("action %s still claims the target", r.ActionID)
	}
}

// TestHeld_APlanWaitsForAStopInFlight checks that a plan raises no target that is being stopped: the stop would store
// the raised size.
func TestHeld_APlanWaitsForAStopInFlight(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	a := apitest.Value(e.askAction(e.groups[0], cloud.Stop, false))(t)
	e.driveTo(readiness.ScalingUp)
	e.advance()
	if _, held := e.readHolds().OfPolicy(policyID(0)); held {
		t.Error("the plan holds a target while a stop of it is in flight")
	}
	if _, held := e.readHolds().OfPolicy(policyID(1)); !held {
		t.Error("the plan does not hold its other target")
	}
	if got := e.groupSize(0); got != e.before[e.groups[0].UID] {
		t.Errorf("the target has %s before its stop; it had %s", got, e.before[e.groups[0].UID])
	}
	e.cancelAction(a)
	e.driveTo(readiness.Active)
}

// cancelAction ends an action that has not begun.
func (e *heldEvent) cancelAction(a execution.Action) {
	e.Helper()
	e.Must(execution.SettleActions(e.ctx, e.Table, org, []execution.Outcome{{
		Action: e.action(a.ID), Status: execution.Failed, Message: "cancelled", Unstarted: true, At: e.Clock.Now(),
	}}))
}

// TestForced_AStopGivesBackTheSizeFirstAndTheEndOfTheEventLeavesItStopped forces a stop of one of three targets.
func TestForced_AStopGivesBackTheSizeFirstAndTheEndOfTheEventLeavesItStopped(t *testing.T) {
	e := newEvent(t, readiness.Active)
	target, original := e.groups[1], e.before[e.groups[1].UID]
	if during := e.groupSize(1); during == original {
		t.Fatalf("the event has not raised it: %s", during)
	}
	a := e.forceStop(target)
	if a.Status != execution.Succeeded || !a.Force {
		t.Fatalf("%s: %s, forced %v", a.Status, a.ErrorMessage, a.Force)
	}
	var native struct {
		Native json.RawMessage `json:"native"`
	}
	e.Must(json.Unmarshal([]byte(original), &native))
	if kept := apitest.Read[snapshot](e.Fixture,
		snapshotKey(org, target.UID)); string(kept.Snapshot) != string(native.Native) {
		t.Errorf("the stop remembers %s; before the event it was %s", kept.Snapshot, native.Native)
	}
	e.checkForcedOnRecord(a)
	e.endPlan()
	if got := e.state(target); got != cloud.Stopped {
		t.Errorf("the end of the event has left it %s", got)
	}
	if got := e.do(target, cloud.Start); got.Status != execution.Succeeded {
		t.Fatalf("%s: %s", got.Status, got.ErrorMessage)
	}
	if got := apitest.JSON(e.sizes()); got != apitest.JSON(e.before) {
		t.Errorf("after the event and the start %s, before it %s", got, apitest.JSON(e.before))
	}
}

// checkForcedOnRecord holds history, event and plan against a forced stop.
func (e *heldEvent) checkForcedOnRecord(a execution.Action) {
	e.Helper()
	changes := e.readHistory()
	if last := changes[len(changes)-1]; !last.Force || last.State != "stopped" {
		e.Errorf("the state history says %s", apitest.JSON(last))
	}
	p := e.plan()
	if p.Status != readiness.Active || !strings.Contains(p.Message, "forced a stop") ||
		!strings.Contains(p.Message, "ada") {
		e.Errorf("the plan is %s: %q", p.Status, p.Message)
	}
	if got := apitest.Read[readiness.Policy](e.Fixture, readiness.PolicyKey(org, policyID(1))); got.PlanID != "" {
		e.Errorf("policy %s is still held by %s", got.ID, got.PlanID)
	}
	q := readiness.Logs(org, p.ID)
	q.Limit = 100
	lines, _, err := table.ReadPage[readiness.Line](e.ctx, e.Table, q)
	e.Must(err)
	told := 0
	for _, l := range lines {
		if strings.Contains(l.Message, a.ID) {
			told++
		}
	}
	if told != 1 {
		e.Errorf("the log of the plan tells of the forced stop %d times: %s", told, apitest.JSON(lines))
	}
}

// TestForced_AStopWhileThePlanScalesUpIsNotRaisedAgain forces a stop before the plan is active.
func TestForced_AStopWhileThePlanScalesUpIsNotRaisedAgain(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	inFlight := apitest.Value(e.askAction(e.groups[2], cloud.Stop, false))(t) // keeps the plan from becoming active
	e.driveTo(readiness.ScalingUp)
	e.advance()
	a := e.forceStop(e.groups[0])
	e.cancelAction(inFlight)
	if a.Status != execution.Succeeded {
		t.Fatalf("%s: %s", a.Status, a.ErrorMessage)
	}
	e.driveTo(readiness.Active)
	if got := e.state(e.groups[0]); got != cloud.Stopped {
		t.Errorf("the plan has raised what was stopped by force: it is %s", got)
	}
	e.endPlan()
	e.do(e.groups[0], cloud.Start)
	if got := apitest.JSON(e.sizes()); got != apitest.JSON(e.before) {
		t.Errorf("after the event and the start %s, before it %s", got, apitest.JSON(e.before))
	}
}

// TestForced_AStopThatMayNotActLeavesTheTargetToThePlan orders a forced stop for an override that has ended before
// the order begins.
func TestForced_AStopThatMayNotActLeavesTheTargetToThePlan(t *testing.T) {
	e := newEvent(t, readiness.Active)
	during := e.groupSize(0)
	o := execution.Order{
		Verb: cloud.Stop, Reason: execution.ReasonOverride, ChangedBy: "override:force_off", FailurePolicy: "continue",
		Cause: "ovr_1",
		At:    e.Clock.Now(), Force: true, Members: []inventory.Member{memberOf(e.groups[0], 1)},
	}
	apitest.Value(execution.QueueOrders(e.ctx, e.Table, org, []execution.Order{o}))(t)
	e.runOrder(o)
	if a := e.action(execution.MemberAction(o.ID(), e.groups[0].ID)); a.Status != execution.Failed ||
		!strings.Contains(a.ErrorMessage, "has ended") {
		t.Errorf("%s: %s", a.Status, a.ErrorMessage)
	}
	if _, held := e.readHolds().OfPolicy(policyID(0)); !held || e.groupSize(0) != during {
		t.Errorf("the plan holds the target: %v; it has %s, and during the event %s", held, e.groupSize(0), during)
	}
	e.endPlan()
}

// TestForced_OnlyAStopThatHasAskedNothingReadsTheHolds counts round trips: only a stop that has asked nothing yet
// reads the list of holds.
func TestForced_OnlyAStopThatHasAskedNothingReadsTheHolds(t *testing.T) {
	e := newEvent(t, readiness.Scheduled)
	a := &execution.Action{Action: cloud.Stop, Progress: &execution.Progress{}}
	for name, c := range map[string]struct {
		change func()
		trips  int
	}{
		"a stop that has asked nothing reads them":    {func() {}, 1},
		"a stop that has asked its provider does not": {func() { a.Progress.ActedAt = e.Clock.Now() }, 0},
		"a start that has asked nothing does not": {func() {
			a.Action, a.Progress.ActedAt = cloud.Start, noTime
		}, 0},
	} {
		a.Action, a.Progress.ActedAt = cloud.Stop, noTime
		c.change()
		ctx, meter := table.WithMeter(e.ctx)
		_, _, err := e.e.unheldActions(ctx, heldCheck{org: org, actions: []*execution.Action{a}})
		if n := meter.Usage().RoundTrips; err != nil || n != c.trips {
			t.Errorf("%s: %d round trips, %v", name, n, err)
		}
	}
}
