package evaluator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/testkit/apitest"
)

// simPlans runs the event readiness plans of an organization with the product's own runner, on a simulated cloud.
// Each call to that cloud takes effect at once.
type simPlans struct {
	*simReal
	readiness.PrecheckReader
	runner  *rescaling.Runner
	store   *readiness.Store
	steps   []simStep
	sizes   []cloud.Autoscaling // by resource: its size while it runs
	started []int               // resources that plans have started, since that was asked last
}

// simStep is the next step of a plan.
type simStep struct {
	readiness.Input
	at   time.Time
	done bool
}

// usual is how each resource is scaled when no plan has raised it.
var usual = cloud.Autoscaling{Min: 1, Max: 4, Desired: 2, Native: []byte(`{"rules":1}`)}

const (
	simPreScale  = 5 // minutes
	simPostEvent = 3 // minutes
)

// newSimPlans makes the plans of a day, and schedules them.
func newSimPlans(a *simReal) *simPlans {
	s := &simPlans{
		simReal: a, PrecheckReader: readiness.PrecheckReader{Table: a.Table, Inventory: a.inventory},
		store: readiness.New(a.Table, a.now),
	}
	s.runner = &rescaling.Runner{
		Table: a.Table, Clock: a.now, Starter: s,
		Open: func(context.Context, string, string, readiness.PolicyTarget) (rescaling.Group, error) { return s, nil },
		Report: func(ctx context.Context, org, planID string, r readiness.Report) error {
			_, err := s.store.Take(ctx, org, planID, r)
			return err
		},
	}
	for range a.ids {
		s.sizes = append(s.sizes, usual)
	}
	for n, e := range a.Events {
		s.schedulePlan(n, e)
	}
	return s
}

func (s *simPlans) schedulePlan(n int, e simEvent) {
	s.Helper()
	p := readiness.Plan{
		ID: fmt.Sprintf("evt_01k0000000000000000000000%d", n), Org: ours, Name: fmt.Sprint("Event ", n),
		Timezone: "UTC", CreatedBy: "someone@example.com",
		EventStart: s.simDay.Start.Add(e.Up + simPreScale*time.Minute), PreScaleMinutes: simPreScale,
		EventEnd: s.simDay.Start.Add(e.Down - simPostEvent*time.Minute), PostEventMinutes: simPostEvent,
		ExpectedMultiplier: 3_000_000,
	}
	for _, r := range e.Targets {
		uid := fmt.Sprint("i-", r)
		s.Put(readiness.PolicyKey(ours, "asp_"+uid), readiness.Policy{
			ID: "asp_" + uid, Mode: readiness.Autopilot, CloudAccountID: "ca_1",
			Target: readiness.PolicyTarget{Type: cloud.AWSASG, UID: uid, Region: "eu-west-1"},
		})
		p.Targets = append(p.Targets,
			readiness.Target{PolicyID: "asp_" + uid, OriginalMin: 1, OriginalMax: 1, OriginalDesired: 1})
	}
	p = apitest.Value(s.store.Create(s.In(ours), p))(s)
	_, w, err := s.store.Dispatch(s.In(ours), p, readiness.Change{To: readiness.Scheduling, By: p.CreatedBy})
	s.Must(err)
	s.steps = append(s.steps, simStep{Input: w.Input, at: s.now.Now()})
}

// nextStep returns the plan whose step comes next; nil when all are done.
func (s *simPlans) nextStep() *simStep {
	var next *simStep
	for i := range s.steps {
		if step := &s.steps[i]; !step.done && (next == nil || step.at.Before(next.at)) {
			next = step
		}
	}
	return next
}

// advancePlan takes a plan a step further.
func (s *simPlans) advancePlan(step *simStep) {
	s.Helper()
	got := apitest.Value(s.runner.Advance(s.In(ours), step.Input))(s)
	step.at, step.done = got.At, got.Done
	if !step.done && !step.at.After(s.now.Now()) {
		s.Fatalf("plan %s asks for its next step at %s; it is %s", step.PlanID, step.at, s.now.Now())
	}
}

// heldResources returns which resources plans hold now.
func (s *simPlans) heldResources() []bool {
	l := apitest.Value(scheduling.ReadEventHolds(s.In(ours), s.Table, ours))(s)
	out := make([]bool, len(s.ids))
	for r := range out {
		_, out[r] = l.Of(fmt.Sprint("i-", r))
	}
	return out
}

// unsettledResources reports for each resource whether its hold has ended and the evaluator has not handled that end
// yet.
func (s *simPlans) unsettledResources() []bool {
	l := apitest.Value(scheduling.ReadEventHolds(s.In(ours), s.Table, ours))(s)
	out := make([]bool, len(s.ids))
	for _, h := range l.Ended() {
		out[simResource(h.UID)] = true
	}
	return out
}

// letGo has plans let a resource go for a forced stop.
func (s *simPlans) letGo(resource int, holds []scheduling.EventHold) {
	s.Helper()
	for _, h := range holds {
		at, why, err := s.runner.LetGo(s.In(ours),
			rescaling.Forced{Org: ours, PlanID: h.PlanID, PolicyID: h.PolicyID, By: "someone", ActionID: "act_1"})
		s.Must(err)
		if !at.IsZero() {
			s.Fatalf("resource %d is not let go at once: %s", resource, why)
		}
	}
}

// misfit returns which resource has not its usual size though no plan holds it; "" when all have.
func (s *simPlans) misfit() string {
	held := s.heldResources()
	for r, is := range s.sizes {
		if !held[r] && (is.Min != usual.Min || is.Max != usual.Max || is.Desired != usual.Desired) {
			return fmt.Sprintf("resource %d is scaled to %+v, and no event holds it", r, is)
		}
	}
	return ""
}

func simResource(uid string) (r int) {
	if _, err := fmt.Sscanf(uid, "i-%d", &r); err != nil {
		panic(err)
	}
	return r
}

// Read returns the state of a resource.
func (s *simPlans) Read(_ context.Context, _, _ string, uids []string) ([]cloud.State, error) {
	r := simResource(uids[0])
	if !s.running[r] {
		return []cloud.State{{UID: uids[0], Status: cloud.Stopped}}, nil
	}
	return []cloud.State{{UID: uids[0], Status: cloud.Running, Snapshot: []byte(apitest.JSON(s.sizes[r]))}}, nil
}

// ReadAutoscaling returns how a resource is scaled: to 0 while it is stopped.
func (s *simPlans) ReadAutoscaling(_ context.Context, _, _, uid string) (cloud.Autoscaling, error) {
	r := simResource(uid)
	if !s.running[r] {
		return cloud.Autoscaling{Native: usual.Native}, nil
	}
	return s.sizes[r], nil
}

// SetAutoscaling scales a resource.
func (s *simPlans) SetAutoscaling(_ context.Context, _, _, uid string, want cloud.Autoscaling) error {
	if want.KeepStopped {
		return nil
	}
	if want.RunsNothing() {
		s.Errorf("%s is scaled to 0", uid)
	}
	r := simResource(uid)
	s.sizes[r].Min, s.sizes[r].Max, s.sizes[r].Desired = want.Min, want.Max, want.Desired
	return nil
}

// Start starts a resource at once. A request that names an action asks how that went.
func (s *simPlans) Start(_ context.Context, of rescaling.StartRequest) (rescaling.Start, error) {
	if of.ActionID != "" {
		return rescaling.Start{ActionID: of.ActionID, Ended: true}, nil
	}
	r := simResource(of.Target.UID)
	s.running[r], s.started = true, append(s.started, r)
	s.recordState(r)
	return rescaling.Start{ActionID: "act_" + of.Target.UID}, nil
}

// Remember has the next start of a stopped resource restore a size. One that is let go has its size back by then.
func (s *simPlans) Remember(_ context.Context, m rescaling.Memory) error {
	if m.ActionID != "" || !m.KeepUntil.IsZero() {
		return nil
	}
	return json.Unmarshal(m.Snapshot, &s.sizes[simResource(m.Target.UID)])
}
