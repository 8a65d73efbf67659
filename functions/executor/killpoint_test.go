package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// inLife returns the executor of a process.
func (w *fixture) inLife(p *killpoint.Process) *Executor {
	mine := p.Platform(w.Platform)
	return New(mine, cloud.Providers{"simulated": simulated.New(mine.Table, mine.Clock)})
}

// carryOutPending carries out pending work, as the machines do, until none is left.
func (w *fixture) carryOutPending(ctx context.Context, e *Executor) error {
	for {
		works, err := killpoint.Pending(ctx, e.p.Table)
		if err != nil || len(works) == 0 {
			return err
		}
		for _, work := range works {
			run := w.carryOutAction
			if work.Machine == execution.BulkMachine {
				run = w.carryOutBulk
			}
			if err := run(ctx, e, work.Input); err != nil {
				return err
			}
		}
	}
}

func (w *fixture) carryOutAction(ctx context.Context, e *Executor, input json.RawMessage) error {
	var in execution.RunInput
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	return w.carryOutChunk(ctx, e, in)
}

func (w *fixture) carryOutChunk(ctx context.Context, e *Executor, in execution.RunInput) error {
	for range 300 {
		got, err := e.RunActions(ctx, in)
		if err != nil || got.Done {
			return err
		}
		w.Clock.Advance(time.Duration(got.WaitSeconds) * time.Second)
	}
	return fmt.Errorf("%v are not done after 300 runs", in.Actions)
}

func (w *fixture) carryOutBulk(ctx context.Context, e *Executor, input json.RawMessage) error {
	var in execution.BulkInput
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	for step, err := e.beginBulk(ctx, in); ; {
		for _, c := range step.Chunks {
			if err == nil {
				err = w.carryOutChunk(ctx, e, c)
			}
		}
		if err != nil {
			return err
		}
		if step.Last {
			break
		}
		in.Step, in.From = step.Next, step.From
		step, err = e.nextStep(ctx, in)
	}
	_, err := e.finishBulk(ctx, in)
	return err
}

// asked is how many actions of a verb were asked for.
func (w *fixture) asked(verb cloud.Verb) (n int) {
	for _, a := range apitest.Rows[execution.Action](w.Fixture, execution.ActionPKs(org)...) {
		if a.Action == verb {
			n++
		}
	}
	return n
}

// outcome returns the result of actions: each action, the history, the holders of resources, and the resources and
// sizes in the cloud.
func (w *fixture) outcome(rs ...inventory.Resource) string {
	w.Helper()
	var lines []string
	for _, a := range apitest.Rows[execution.Action](w.Fixture, execution.ActionPKs(org)...) {
		lines = append(lines,
			fmt.Sprintf("action %s of %s is %s %s", a.Action, a.ResourceUID, a.Status, a.ErrorMessage))
	}
	for _, h := range w.readHistory() {
		lines = append(lines, fmt.Sprintf("history: %s is %s by %s", h.ResourceUID, h.State, h.ChangedBy))
	}
	for _, r := range rs {
		record := w.resource(r.UID)
		lines = append(lines,
			fmt.Sprintf("%s is %s, recorded as %s, claimed by %q", r.UID, w.state(r), record.Status, record.ActionID))
		if r.Type == cloud.AWSASG {
			a := apitest.Value(w.conn.(cloud.Autoscaler).ReadAutoscaling(w.ctx, r.Type, r.Region, r.UID))(w)
			lines = append(lines, fmt.Sprintf("%s has %d of %d to %d", r.UID, a.Desired, a.Min, a.Max))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A group is stopped and started again, by one action each.
func TestKilledAtAnyStep_ActionsLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		w := newFixture(t,
			map[string]string{
				"size": "12", "kinds": cloud.AWSASG, "regions": "1", "stopped": "0",
				"transitionSeconds": "5",
			})
		w.Workflow = apitest.Idle{}
		r := w.pick(cloud.AWSASG, cloud.Running)
		lives.Run(w.ctx, t, func(ctx context.Context, p *killpoint.Process) error {
			e := w.inLife(p)
			for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
				if err := w.askAction(ctx, e, verb, r); err != nil {
					return err
				}
				if err := w.carryOutPending(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		return w.outcome(r)
	})
}

// askAction asks for an action, unless that was done, as a client does that got no answer.
func (w *fixture) askAction(ctx context.Context, e *Executor, verb cloud.Verb, r inventory.Resource) error {
	if w.asked(verb) > 0 {
		return nil
	}
	_, err := execution.SubmitAction(ctx, e.p, org, execution.Request{
		Verb: verb, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type, CloudAccountID: r.CloudAccountID,
		Region: r.Region, Reason: "manual", ChangedBy: "manual:ada@example.com",
	})
	return err
}

// A schedule's order stops groups in three tiers, and another one starts them.
func TestKilledAtAnyStep_OrdersLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		w := newFixture(t,
			map[string]string{
				"size": "20", "kinds": cloud.AWSASG, "regions": "1", "stopped": "0",
				"transitionSeconds": "5",
			})
		w.Workflow = apitest.Idle{}
		rs := w.pickMany(cloud.AWSASG, cloud.Running, 4)
		lives.Run(w.ctx, t, func(ctx context.Context, p *killpoint.Process) error {
			e := w.inLife(p)
			for _, verb := range []cloud.Verb{cloud.Stop, cloud.Start} {
				if err := w.orderBulk(ctx, e, verb, rs); err != nil {
					return err
				}
				if err := w.carryOutPending(ctx, e); err != nil {
					return err
				}
			}
			return nil
		})
		return w.outcome(rs...)
	})
}

// orderBulk queues an order of one tier for each resource, once, as the evaluator does.
func (w *fixture) orderBulk(ctx context.Context, e *Executor, verb cloud.Verb, rs []inventory.Resource) error {
	o := execution.Order{
		Verb: verb, Reason: execution.ReasonSchedule, ChangedBy: "schedule:Nights", FailurePolicy: "abort",
		Cause: string(verb), At: noon,
	}
	for i, r := range rs {
		o.Members = append(o.Members, memberOf(r, i+1))
	}
	_, err := execution.QueueOrders(ctx, e.p.Table, org, []execution.Order{o})
	return err
}
