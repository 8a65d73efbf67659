package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clocktest"
	"lamplighter.dev/shared/testkit/seed"
	"lamplighter.dev/shared/testkit/tabletest"
)

// speed is that of an event: a minute of its clock is a fifth of a second, in all processes alike.
const speed = 300

// planUnderWay is a plan in a folder, which processes carry out that are killed.
type planUnderWay struct {
	*fixture
	plans  *readiness.Store
	groups []inventory.Resource
}

const eventDir, eventBegan = "LAMPLIGHTER_EVENT_DIR", "LAMPLIGHTER_EVENT_BEGAN"

// TestKilledManyTimesAnEventEndsAsIfNobodyHad kills the process that carries out event readiness plans, at random
// moments. Every other plan is cancelled at one of them. Then it compares plans, logs, policies and the cloud itself
// with their original state.
func TestKilledManyTimesAnEventEndsAsIfNobodyHad(t *testing.T) {
	if dir := os.Getenv(eventDir); dir != "" {
		began := apitest.Value(time.Parse(time.RFC3339Nano, os.Getenv(eventBegan)))(t)
		carryOut(t, dir, clocktest.Hurried{Began: began, Speed: speed})
		return
	}
	if testing.Short() {
		t.Skip("kills a process many times: not with -short")
	}
	dir, clk, r := t.TempDir(), clocktest.NewHurried(speed), seed.Random(t)
	killed, ended := 0, map[readiness.Status]int{}
	for n := 0; killed < killCount() || !endedBothWays(ended); n++ {
		var planID string
		before := map[string]string{}
		withEvent(t, dir, clk, func(e *planUnderWay) { planID, before = e.dispatchPlan(), e.sizes() })
		cancelAt := 0 // without kills a plan has one life
		if killed < killCount() {
			cancelAt = 1 + r.IntN(4)
		}
		for life := 0; ; life++ {
			if n%2 == 1 && life == cancelAt {
				withEvent(t, dir, clk, func(e *planUnderWay) { e.cancelPlan(planID) })
			}
			if over := oneLife(t, dir, clk, lifetime(r, killed)); over {
				break
			}
			killed++
		}
		withEvent(t, dir, clk, func(e *planUnderWay) { ended[e.auditEvent(planID, before)]++ })
	}
	t.Logf("%d kills, plans ended %v", killed, ended)
}

// endedBothWays reports whether a plan was carried out to its end, and another cancelled.
func endedBothWays(ended map[readiness.Status]int) bool {
	return ended[readiness.Completed] > 0 && ended[readiness.Cancelled] > 0
}

// lifetime is how long a process that carries out may live; for ever, which is 0, after the last kill.
func lifetime(r *rand.Rand, killed int) time.Duration {
	if killed >= killCount() {
		return 0
	}
	return time.Microsecond + time.Duration(r.Int64N(int64(500*time.Millisecond)))
}

// oneLife carries plans out in a process of its own until they are over, or kills that when it has lived for a while.
func oneLife(t *testing.T, dir string, clk clocktest.Hurried, kill time.Duration) (over bool) {
	t.Helper()
	return runTestProcess(t, "TestKilledManyTimesAnEventEndsAsIfNobodyHad", kill,
		eventDir+"="+dir, eventBegan+"="+clk.Began.Format(time.RFC3339Nano))
}

// carryOut is the life of a process: it resumes the work of the process before it, as the sweeper would, and prints
// when nothing is left.
func carryOut(t *testing.T, dir string, clk clocktest.Hurried) {
	t.Helper()
	withEvent(t, dir, clk, func(e *planUnderWay) {
		machines := apitest.Value(workflow.LoadMachines(apitest.Machines(e, readiness.Machine),
			map[string]string{"ExecutorFunctionArn": "executor"}))(e)
		engine := apitest.Value(workflow.NewEmbedded(workflow.Parts{
			Store: e.Table, Clock: clk, Machines: machines, Log: slog.New(slog.DiscardHandler),
			Handlers: map[string]workflow.Handler{"executor": e.e.HandleTask},
		}))(e)
		e.Must(engine.Resume(e.ctx))
		fmt.Println("running")
		for {
			works := e.pendingWork()
			if len(works) == 0 {
				break
			}
			for _, w := range works {
				if err := engine.Start(e.ctx, w.Machine, w.ExecutionName(), w.Input); err != nil &&
					!fault.Is(err, fault.Conflict) {
					t.Fatal(err)
				}
				apitest.Value(engine.Wait(e.ctx, w.Machine, w.ExecutionName()))(e)
			}
		}
		fmt.Println("ended")
		e.Must(engine.Close())
	})
}

// withEvent opens the store in dir, with an account and policies in it, which the first time are made.
func withEvent(t *testing.T, dir string, clk clocktest.Hurried, do func(e *planUnderWay)) {
	t.Helper()
	s := apitest.Value(table.Open(dir+"/store.db", table.Options{Clock: clk}))(t)
	p := onDisk(t, tabletest.Limited(s), dir)
	p.Clock = clk
	e := &planUnderWay{fixture: openFixture(t, p), plans: readiness.New(p.Table, clk)}
	e.e = New(p, cloud.Providers{"simulated": simulated.New(p.Table, clk)})
	p.Workers = lambdacall.Local{readiness.Function: e.takeReport}
	e.connectFleet()
	do(e)
	e.Must(s.Close())
}

// takeReport answers in place of the operation that receives the executor's reports.
func (e *planUnderWay) takeReport(ctx context.Context, in json.RawMessage) (any, error) {
	var ev events.APIGatewayProxyRequest
	var r readiness.Report
	if err := json.Unmarshal(in, &ev); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(ev.Body), &r); err != nil {
		return nil, err
	}
	planID := strings.Split(ev.Path, "/")[3]
	_, err := e.plans.Take(ctx, org, planID, r)
	if fault.Is(err, fault.Conflict) {
		return events.APIGatewayProxyResponse{StatusCode: 409}, nil
	}
	return events.APIGatewayProxyResponse{StatusCode: 200}, err
}

// connectFleet connects the account that is there, or makes it, with policies on three of its groups.
func (e *planUnderWay) connectFleet() {
	e.Helper()
	stored := apitest.Rows[inventory.Account](e.Fixture, inventory.AccountKey(org, "").PK)
	if len(stored) == 0 {
		e.connectAccount(map[string]string{
			"size": "40", "kinds": cloud.AWSASG, "regions": "1", "stopped": "0",
			"transitionSeconds": "60",
		})
		e.discoverAll()
	} else {
		e.account = stored[0]
		e.conn = apitest.Value(e.e.newClouds().Connect(e.ctx, org, e.account))(e)
		e.resources = apitest.Rows[inventory.Resource](e.Fixture, inventory.ResourcePKs(org)...)
	}
	slices.SortFunc(e.resources, func(a, b inventory.Resource) int { return strings.Compare(a.UID, b.UID) })
	for _, r := range e.resources {
		if r.Unschedulable == "" && len(e.groups) < 3 {
			e.groups = append(e.groups, r)
		}
	}
	for i, r := range e.groups {
		_, err := e.Table.Get(e.ctx, readiness.PolicyKey(org, policyID(i)))
		if fault.Is(err, fault.NotFound) {
			_, err = readiness.NewPolicyStore(e.Table, e.e.p.Clock).Create(e.ctx, org, readiness.Policy{
				ID: policyID(i), Name: policyID(i), Mode: readiness.Autopilot, CloudAccountID: e.account.ID,
				Target: readiness.PolicyTarget{Type: r.Type, UID: r.UID, Region: r.Region},
			}, nil)
		}
		e.Must(err)
	}
}

func policyID(n int) string { return fmt.Sprintf("asp_%d", n) }

// sizes tells how the groups are scaled, by their ids.
func (e *planUnderWay) sizes() map[string]string {
	e.Helper()
	out := map[string]string{}
	for _, r := range e.groups {
		out[r.UID] = apitest.JSON(apitest.Value(e.conn.(cloud.Autoscaler).ReadAutoscaling(e.ctx, r.Type, r.Region,
			r.UID))(e))
	}
	return out
}

// dispatchPlan schedules a plan that scales up in some minutes, for a quarter of an hour.
func (e *planUnderWay) dispatchPlan() string {
	e.Helper()
	now := e.e.p.Clock.Now()
	start := now.Add(6 * time.Minute)
	p := readiness.Plan{
		ID: id.New("evt", now), Org: org, Name: "Sale", EventStart: start, EventEnd: start.Add(10 * time.Minute),
		PreScaleMinutes: 3, PostEventMinutes: 3,
		ExpectedMultiplier: 3_000_000, Timezone: "UTC", CreatedBy: "ada@example.com",
	}
	for i := range e.groups {
		p.Targets = append(p.Targets, readiness.Target{PolicyID: policyID(i)})
	}
	p = apitest.Value(e.plans.Create(e.ctx, p))(e)
	_, _, err := e.plans.Dispatch(e.ctx, p, readiness.Change{To: readiness.Scheduling, By: "ada@example.com"})
	e.Must(err)
	return p.ID
}

func (e *planUnderWay) cancelPlan(planID string) {
	e.Helper()
	p := apitest.Value(e.plans.Get(e.ctx, org, planID))(e)
	_, _, err := e.plans.Cancel(e.ctx, p, readiness.Change{By: "ada@example.com"})
	e.Must(err)
}

// pendingWork lists the pending work.
func (e *planUnderWay) pendingWork() []workqueue.Work {
	e.Helper()
	var out []workqueue.Work
	for shard := range workqueue.Shards {
		works, _, err := table.ReadPage[workqueue.Work](table.Within(e.ctx, workqueue.Prefix), e.Table,
			table.Query{PK: workqueue.PK(shard), Limit: 100})
		e.Must(err)
		out = append(out, works...)
	}
	return out
}

// auditEvent compares a finished plan with the expected final state, and returns its status.
func (e *planUnderWay) auditEvent(planID string, before map[string]string) readiness.Status {
	e.Helper()
	for uid, now := range e.sizes() {
		if now != before[uid] {
			e.Errorf("%s is %s, before it was %s", uid, now, before[uid])
		}
	}
	for i := range e.groups {
		if p := apitest.Read[readiness.Policy](e.Fixture, readiness.PolicyKey(org, policyID(i))); p.PlanID != "" {
			e.Errorf("%s is held by %s", p.ID, p.PlanID)
		}
	}
	q := readiness.Logs(org, planID)
	q.Reverse, q.Limit = false, 1000
	lines, _, err := table.ReadPage[readiness.Line](e.ctx, e.Table, q)
	e.Must(err)
	seen := map[string]bool{}
	for _, l := range lines {
		name := apitest.JSON([]any{l.Kind, l.From, l.To, l.Report})
		if seen[name] {
			e.Errorf("logged twice: %s", name)
		}
		seen[name] = true
	}
	p := apitest.Value(e.plans.Get(e.ctx, org, planID))(e)
	if p.Status != readiness.Completed && p.Status != readiness.Cancelled || p.Status == readiness.Completed &&
		len(lines) != 12 {
		e.Errorf("the plan is %s (%s), with %d lines: %s", p.Status, p.Message, len(lines), apitest.JSON(lines))
	}
	return p.Status
}
