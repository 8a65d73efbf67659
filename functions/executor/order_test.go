package executor

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
)

// stopOrder queues an order that stops the resources.
func (w *fixture) stopOrder(members ...inventory.Member) execution.Order {
	w.Helper()
	o := execution.Order{
		Verb: cloud.Stop, Members: members, Reason: execution.ReasonSchedule, ChangedBy: "schedule:Nights:cron_1",
		ScheduleID:    "sch_1",
		FailurePolicy: inventory.ContinueOnFailure, Cause: "sch_1 cron_1", At: noon,
	}
	apitest.Value(execution.QueueOrders(w.ctx, w.e.p.Table, org, []execution.Order{o}))(w)
	return o
}

func memberOf(r inventory.Resource, tier int) inventory.Member {
	return inventory.Member{ResourceID: r.ID, UID: r.UID, Tier: tier, Order: 1}
}

func TestOrder_ASecondOneOfTheSameCauseIsNotQueued(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30"})
	o := w.stopOrder(memberOf(w.pick("aws-ec2", cloud.Running), 1))
	again := apitest.Value(execution.QueueOrders(w.ctx, w.e.p.Table, org, []execution.Order{o}))(w)
	if len(again) != 0 {
		t.Errorf("%d orders were queued again", len(again))
	}
}

func TestOrder_LeavesAHistoryThatNamesItsSchedule(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30"})
	r := w.pick("aws-ec2", cloud.Running)
	o := w.stopOrder(memberOf(r, 1))
	w.runOrder(o)
	h := w.readHistory()
	if len(h) != 1 || h[0].ChangedBy != "schedule:Nights:cron_1" || h[0].ScheduleID != "sch_1" ||
		h[0].State != "stopped" {
		t.Errorf("%+v", h)
	}
	a := w.action(execution.MemberAction(o.ID(), r.ID))
	if a.Reason != "schedule" || a.Status != execution.Succeeded {
		t.Errorf("%+v", a)
	}
}

// runOrder brings an order to its end, one chunk after the other.
func (w *fixture) runOrder(o execution.Order) {
	w.Helper()
	in := execution.BulkInput{Org: org, BulkID: o.ID()}
	step := apitest.Value(w.e.beginBulk(w.ctx, in))(w)
	for {
		for _, c := range step.Chunks {
			w.driveRun(c)
		}
		if step.Last {
			break
		}
		in.Step, in.From = step.Next, step.From
		step = apitest.Value(w.e.nextStep(w.ctx, in))(w)
	}
	apitest.Value(w.e.finishBulk(w.ctx, in))(w)
}

func TestOrder_KeepsTheTiersOfItsMembers(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "60"})
	a := w.pick("aws-ec2", cloud.Running)
	b := w.pick("aws-rds", cloud.Running)
	o := w.stopOrder(memberOf(a, 1), memberOf(b, 2))
	step := apitest.Value(w.e.beginBulk(w.ctx, execution.BulkInput{Org: org, BulkID: o.ID()}))(w)
	if len(step.Chunks) != 1 || step.Last {
		t.Fatalf("%+v; want the tier 2 alone first, as a stop goes down the tiers", step)
	}
	c := apitest.Read[execution.Chunk](w.Fixture, execution.ChunkKey(org, o.ID(), 0, 0))
	if c.Tier != 2 || c.Members[0].ResourceUID != b.UID {
		t.Errorf("%+v", c)
	}
}

// A schedule stops a resource that somebody is just starting: the stop waits for the start, and then acts.
func TestOrder_WaitsBehindTheOppositeThatIsInFlight(t *testing.T) {
	w := newFixture(t, map[string]string{"size": "30", "transitionSeconds": "60"})
	r := w.pick("aws-ec2", cloud.Stopped)
	started := w.submit(r, cloud.Start)
	o := w.stopOrder(memberOf(r, 1))
	step := apitest.Value(w.e.beginBulk(w.ctx, execution.BulkInput{Org: org, BulkID: o.ID()}))(w)
	got := apitest.Value(w.e.RunActions(w.ctx, step.Chunks[0]))(w)
	if a := w.action(execution.MemberAction(o.ID(), r.ID)); got.Done || got.WaitSeconds < 1 ||
		a.Status != execution.Pending || a.Progress.Behind != started.ID {
		t.Fatalf("%+v %+v; want it to wait behind %s", got, a, started.ID)
	}
	w.driveRun(execution.RunInput{Org: org, Actions: []string{started.ID}, Until: execution.UntilSettled})
	w.Clock.Advance(time.Minute)
	w.driveRun(step.Chunks[0])
	if a, s := w.action(execution.MemberAction(o.ID(), r.ID)), w.state(r); a.Status != execution.Succeeded ||
		s != cloud.Stopped {
		t.Errorf("%+v; the resource is %s", a, s)
	}
	if res := w.resource(r.UID); res.ActionID != "" {
		t.Errorf("still claimed by %s", res.ActionID)
	}
}

func TestOrder_RunsOnItsMachine(t *testing.T) {
	w := newFixtureOn(t, apitest.PlatformAt(t, clock.System{}),
		map[string]string{"size": "30", "transitionSeconds": "0"})
	r := w.pick("aws-ec2", cloud.Running)
	o := w.stopOrder(memberOf(r, 1))
	engine := w.engine()
	w.Must(engine.Start(w.ctx, execution.BulkMachine, o.ID(), execution.BulkInput{Org: org, BulkID: o.ID()}))
	w.awaitExecution(engine, o.ID())
	w.Must(engine.Close())
	if b := w.bulk(o.ID()); b.Status != execution.BulkCompleted || b.Completed != 1 {
		t.Errorf("%+v", b)
	}
}
