package rescaling

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
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

	booting map[string]string            // why instances of groups are not in service
	stopped map[string]cloud.Autoscaling // the sizes that starts of stopped groups restore
	blocked map[string]string            // the obstacles
	refuse  map[string]error             // of starts
	starts  int                          // that were asked for
	kept    []Memory                     // that were stored
	sized   map[string]bool              // groups whose size only the provider sets
	ended   map[string]string            // by the ids of the starts: why they failed, or "" for those that did not
}

// Read returns the state of a group.
func (g *groups) Read(_ context.Context, _, _ string, uids []string) ([]cloud.State, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	a, ok := g.at[uids[0]]
	if !ok {
		return nil, nil
	}
	s := cloud.State{UID: uids[0], Status: cloud.Running}
	switch {
	case a.Desired == 0:
		s.Status = cloud.Stopped
	case g.booting[uids[0]] != "":
		s.Status, s.Reason = cloud.Starting, g.booting[uids[0]]
	}
	if a.Desired > 0 {
		s.Snapshot = []byte(apitest.JSON(sizeOf(a)))
	}
	return []cloud.State{s}, nil
}

// Obstacles returns those that a test has set.
func (g *groups) Obstacles(_ context.Context, q readiness.PrecheckQuery) (map[string]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[string]string{}
	for _, t := range q.Targets {
		if why := g.blocked[t.UID]; why != "" {
			out[t.UID] = why
		}
	}
	return out, nil
}

// Start begins the start of a group, which the next call finds done.
func (g *groups) Start(_ context.Context, of StartRequest) (Start, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	uid := of.Target.UID
	if of.ActionID != "" {
		if g.ended[uid] == "" {
			g.at[uid] = g.stopped[uid]
		}
		return Start{ActionID: of.ActionID, Ended: true, Error: g.ended[uid]}, nil
	}
	if err := g.refuse[uid]; err != nil {
		return Start{}, err
	}
	g.starts++
	return Start{ActionID: fmt.Sprintf("act_%s_%d", uid, g.starts)}, nil
}

// StartProblem returns why a start of a group is refused.
func (g *groups) StartProblem(_ context.Context, _ string, of readiness.PolicyTarget) (string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.refuse[of.UID]; err != nil {
		return fault.Message(err), nil
	}
	return "", nil
}

// Remember has the next start of a group restore a size.
func (g *groups) Remember(_ context.Context, m Memory) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.kept = append(g.kept, m)
	if m.ActionID != "" || !m.KeepUntil.IsZero() {
		return nil // the next stop keeps it
	}
	var s readiness.Size
	err := json.Unmarshal(m.Snapshot, &s)
	g.stopped[m.Target.UID] = cloud.Autoscaling{Min: s.Min, Max: s.Max, Desired: s.Desired, Native: before.Native}
	return err
}

// stopWeb stops the group web, as the executor does.
func (f *fixture) stopWeb() {
	f.cloud.mu.Lock()
	defer f.cloud.mu.Unlock()
	f.cloud.stopped["web"] = f.cloud.at["web"]
	f.cloud.at["web"] = cloud.Autoscaling{Native: []byte(`{"suspended":["AZRebalance","ScheduledActions"]}`)}
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
	if g.sets++; want.KeepStopped {
		want = a // a stopped group's bounds are 0, as those of an Auto Scaling group
	}
	if want.Native != nil {
		a = want
	}
	a.Min, a.Max, a.Desired = want.Min, want.Max, want.Desired
	if g.sized[uid] { // the provider moves the size: up at once, down when its load tells it to
		a.SizedByProvider, a.Desired = true, max(a.Min, g.at[uid].Desired)
	}
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
	f := &fixture{Fixture: apitest.New(t), cloud: &groups{
		at: map[string]cloud.Autoscaling{}, booting: map[string]string{}, stopped: map[string]cloud.Autoscaling{},
		blocked: map[string]string{},
		refuse:  map[string]error{}, ended: map[string]string{},
	}}
	f.plans = readiness.New(f.Table, f.Clock)
	f.r = &Runner{
		Table: f.Table, Clock: f.Clock,
		Open: func(context.Context, string, string, readiness.PolicyTarget) (Group, error) {
			return f.cloud, nil
		},
		Starter: f.cloud,
		Report: func(ctx context.Context, org, planID string, r readiness.Report) error {
			_, err := f.plans.Take(ctx, org, planID, r)
			return err
		},
	}
	for _, uid := range uids {
		f.cloud.at[uid] = before
		f.Put(readiness.PolicyKey(org, policyOf(uid)),
			readiness.Policy{
				ID: policyOf(uid), Mode: readiness.Autopilot, CloudAccountID: "ca_1",
				Target: readiness.PolicyTarget{Type: "aws-asg", UID: uid, Region: "eu-west-1"},
			})
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
		ID: id.New("evt", f.Clock.Now()), Org: org, Name: "Sale", EventStart: start, EventEnd: start.Add(4 * time.Hour),
		PreScaleMinutes: 30, PostEventMinutes: 30,
		ExpectedMultiplier: 3_000_000, Timezone: "UTC", CreatedBy: "ada@example.com",
	}
	for uid := range f.cloud.at {
		p.Targets = append(p.Targets,
			readiness.Target{PolicyID: policyOf(uid), OriginalMin: 1, OriginalMax: 1, OriginalDesired: 1})
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
		if p := apitest.Read[readiness.Policy](f.Fixture, readiness.PolicyKey(org, policyOf(uid))); p.PlanID != "" {
			f.Errorf("%s is held by %s", p.ID, p.PlanID)
		}
	}
	p := readiness.Plan{ID: in.PlanID, Run: in.Run}
	got, err := f.Table.BatchGet(table.Within(f.In(org), workqueue.Prefix), workqueue.WorkKey(p.WorkID()),
		workqueue.WorkKey(p.RollbackID()))
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
