package rescaling

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/autoscaling"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// groups is a cloud that has nothing but groups.
type groups struct {
	mu     sync.Mutex
	at     map[string]cloud.Autoscaling
	sets   int
	before func(uid string, want cloud.Autoscaling) error // is called before a change takes effect
	after  func() error                                   // and after it
}

// ReadAutoscaling tells how a group is scaled.
func (g *groups) ReadAutoscaling(_ context.Context, _, _, uid string) (cloud.Autoscaling, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, ok := g.at[uid]
	if !ok {
		return a, &cloud.Error{Class: cloud.NotFound, Message: "there is no group " + uid}
	}
	return a, nil
}

// SetAutoscaling makes it so; with Native it is exactly that.
func (g *groups) SetAutoscaling(_ context.Context, _, _, uid string, want cloud.Autoscaling) error {
	if g.before != nil {
		if err := g.before(uid, want); err != nil {
			return err
		}
	}
	g.mu.Lock()
	a, ok := g.at[uid]
	g.sets++
	if want.Native != nil {
		a = want
	}
	a.Min, a.Max, a.Desired = want.Min, want.Max, want.Desired
	if ok {
		g.at[uid] = a
	}
	g.mu.Unlock()
	if g.after != nil {
		return g.after()
	}
	return nil
}

// fixture is an organization with policies on groups, and a runner.
type fixture struct {
	*apitest.Fixture
	cloud *groups
	r     *Runner
	plans *readiness.Store
}

func newFixture(t testing.TB, uids ...string) *fixture {
	t.Helper()
	f := &fixture{Fixture: apitest.New(t), cloud: &groups{at: map[string]cloud.Autoscaling{}}}
	f.plans = readiness.New(f.Table, f.Clock)
	f.r = &Runner{
		Table: f.Table, Clock: f.Clock,
		Open: func(context.Context, string, string, autoscaling.Target) (cloud.Autoscaler, error) {
			return f.cloud, nil
		},
		Report: func(ctx context.Context, org, planID string, r readiness.Report) error {
			_, err := f.plans.Take(ctx, org, planID, r)
			return err
		},
	}
	for _, uid := range uids {
		f.cloud.at[uid] = before
		f.Put(autoscaling.Key(org, policyOf(uid)), autoscaling.Policy{ID: policyOf(uid), Mode: autoscaling.Autopilot, CloudAccountID: "ca_1", Target: autoscaling.Target{Type: "aws-asg", UID: uid, Region: "eu-west-1"}})
	}
	return f
}

// before is how the groups are scaled before an event, and during how with three times the load.
var (
	before = cloud.Autoscaling{Min: 2, Max: 10, Desired: 4, Native: []byte(`{"suspended":["AZRebalance"]}`)}
	during = readiness.Size{Min: 9, Max: 22, Desired: 9}
)

func policyOf(uid string) string { return "asp_" + uid }

// dispatched is a plan on all groups, whose event begins in two hours and takes four.
func (f *fixture) dispatched() (readiness.Plan, readiness.Input) {
	f.Helper()
	start := f.Clock.Now().Add(2 * time.Hour)
	p := readiness.Plan{
		ID: id.New("evt", f.Clock.Now()), Org: org, Name: "Sale", EventStart: start, EventEnd: start.Add(4 * time.Hour), PreScaleMinutes: 30, PostEventMinutes: 30,
		ExpectedMultiplier: 3_000_000, Timezone: "UTC", CreatedBy: "ada@example.com",
	}
	for uid := range f.cloud.at {
		p.Targets = append(p.Targets, readiness.Target{PolicyID: policyOf(uid), OriginalMin: 1, OriginalMax: 1, OriginalDesired: 1})
	}
	p = apitest.Value(f.plans.Create(f.In(org), p))(f)
	return f.dispatch(p)
}

func (f *fixture) dispatch(p readiness.Plan) (readiness.Plan, readiness.Input) {
	f.Helper()
	p, w, err := f.plans.Dispatch(f.In(org), p, readiness.Change{To: readiness.Scheduling, By: "ada@example.com"})
	f.Must(err)
	return p, w.Input
}

// drive runs the steps of a plan as its machine does, until it is done or in the status.
func (f *fixture) drive(in readiness.Input, until readiness.Status) {
	f.Helper()
	for range 500 {
		got, err := f.r.Advance(f.In(org), in)
		f.Must(err)
		if got.Done || f.status(in) == until {
			return
		}
		f.wait(got)
	}
	f.Fatal("not done after 500 steps")
}

// wait moves the clock to the next step.
func (f *fixture) wait(r Result) {
	f.Helper()
	if d := r.At.Sub(f.Clock.Now()); d > 0 {
		f.Clock.Advance(d)
	}
}

func (f *fixture) status(in readiness.Input) readiness.Status {
	f.Helper()
	p, err := f.plans.Get(f.In(org), org, in.PlanID)
	if fault.Is(err, fault.NotFound) {
		return ""
	}
	f.Must(err)
	return p.Status
}

// size returns how a group is scaled.
func (f *fixture) size(uid string) readiness.Size {
	f.cloud.mu.Lock()
	defer f.cloud.mu.Unlock()
	return sizeOf(f.cloud.at[uid])
}

// asBefore holds everything against how it was before the plan: groups, policies, pending work.
func (f *fixture) asBefore(in readiness.Input) {
	f.Helper()
	for uid, a := range f.cloud.at {
		if apitest.JSON(a) != apitest.JSON(before) {
			f.Errorf("%s is %s, before it was %s", uid, apitest.JSON(a), apitest.JSON(before))
		}
		if p := apitest.Read[autoscaling.Policy](f.Fixture, autoscaling.Key(org, policyOf(uid))); p.PlanID != "" {
			f.Errorf("%s is held by %s", p.ID, p.PlanID)
		}
	}
	p := readiness.Plan{ID: in.PlanID, Run: in.Run}
	got, err := f.Table.BatchGet(table.Within(f.In(org), workqueue.Prefix), workqueue.WorkKey(p.WorkID()), workqueue.WorkKey(p.RollbackID()))
	if err != nil || len(got) != 0 {
		f.Errorf("%d pieces of work are pending, %v", len(got), err)
	}
}

// once holds the log against this: each report, and each transition of one dispatch, is there once.
func (f *fixture) once(in readiness.Input) []readiness.Line {
	f.Helper()
	q := readiness.Logs(org, in.PlanID)
	q.Reverse, q.Limit = false, 1000
	lines, _, err := table.ReadPage[readiness.Line](f.In(org), f.Table, q)
	f.Must(err)
	seen := map[string]bool{}
	for _, l := range lines {
		name := apitest.JSON([]any{l.Kind, l.From, l.To, l.Run, l.Report})
		if seen[name] {
			f.Errorf("logged twice: %s", name)
		}
		seen[name] = true
	}
	return lines
}

var errKilled = errors.New("killed")
