// Package rescaling carries out event readiness plans: it raises the capacity of their targets in time, and gives it
// back. Each call takes a plan one step further from its present status. All state is in the store, so any call may
// be the first after a crash, and two may run at once.
package rescaling

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Runner carries out plans.
type Runner struct {
	Table table.Store
	Clock clock.Clock
	// Open connects to the account of a group. The error is cloud.Unsupported for groups that cannot be scaled.
	Open func(ctx context.Context, org, accountID string, of readiness.PolicyTarget) (Group, error)
	// Starter starts stopped targets.
	Starter Starter
	// Report reports the progress of a plan. The error is fault.Conflict for a report that the plan's status does not
	// permit.
	Report func(ctx context.Context, org, planID string, r readiness.Report) error
}

// Group is a connection to the account of a group.
type Group interface {
	cloud.Autoscaler
	Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error)
}

// Starter is the part of the executor that starts resources.
type Starter interface {
	// Obstacles returns why targets cannot be raised, by native ID. Targets without an obstacle have no entry.
	Obstacles(ctx context.Context, q readiness.PrecheckQuery) (map[string]string, error)
	// Start requests a start of a target that has 0 instances. If the request names an action, Start reports its
	// progress.
	Start(ctx context.Context, of StartRequest) (Start, error)
	// StartProblem returns why a target that has 0 instances cannot be started, or "" if it can or only the start
	// will show that.
	StartProblem(ctx context.Context, org string, of readiness.PolicyTarget) (string, error)
	// Remember stores the snapshot of a target for later actions.
	Remember(ctx context.Context, m Memory) error
}

// Memory is the size of a target before a plan raised it, for later actions on the target.
type Memory struct {
	Org      string
	Target   readiness.PolicyTarget
	Snapshot []byte // as a stop before the plan would have kept it
	// ActionID names the stop that owns this snapshot. Empty means that the target is already stopped.
	ActionID string
	// KeepUntil is the time until which a stop keeps this snapshot instead of the present size. Zero means that the
	// next start restores it.
	KeepUntil time.Time
}

// StartRequest names a target that a plan needs, and the action that starts it, if there is one.
type StartRequest struct {
	Org      string
	PlanID   string
	Target   readiness.PolicyTarget
	ActionID string
}

// Start is the progress of the start of a target.
type Start struct {
	ActionID string
	Ended    bool
	Error    string // why it failed
}

// Result tells the machine whether the plan is at its end, or else when to continue.
type Result struct {
	Done bool      `json:"done"`
	At   time.Time `json:"at"`
}

const (
	atOnce      = 8                // targets whose clouds are called beside each other
	soon        = 5 * time.Second  // until something that moves is looked at again, at least
	raiseTime   = 15 * time.Minute // that a scale-up has at least
	restoreTime = 24 * time.Hour   // that a restore has
	shortest    = 10 * time.Second // pause after a call that failed, which doubles
	longest     = 10 * time.Minute
	hourly      = time.Hour // pause between the tries of a target that has been missing for a day
)

func (r *Runner) plans() *readiness.Store { return readiness.New(r.Table, r.Clock) }

func (r *Runner) policies() *readiness.PolicyStore { return readiness.NewPolicyStore(r.Table, r.Clock) }

func (r *Runner) in(d time.Duration) Result { return Result{At: r.Clock.Now().Add(d)} }

var done = Result{Done: true}

// Advance takes a plan one step further.
func (r *Runner) Advance(ctx context.Context, in readiness.Input) (Result, error) {
	p, err := r.plans().Get(ctx, in.Org, in.PlanID)
	switch {
	case fault.Is(err, fault.NotFound):
		return r.rollBack(ctx, in, nil)
	case err != nil:
		return Result{}, err
	case p.Run != in.Run:
		return r.rollBack(ctx, in, nil)
	}
	return r.advance(ctx, in, &p)
}

// advance carries out the step for the status of a plan.
func (r *Runner) advance(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	now := r.Clock.Now()
	switch {
	case p.Status == readiness.Scheduling:
		return r.accept(ctx, in, p)
	case p.Status == readiness.Scheduled && now.Before(p.ScaleUpAt()):
		return r.await(ctx, in, p)
	case p.Status == readiness.Scheduled:
		return r.enter(ctx, in, readiness.Report{Status: readiness.ScalingUp})
	case p.Status == readiness.ScalingUp:
		return r.raise(ctx, in, p)
	case p.Status == readiness.Active && now.Before(p.ScaleDownAt()):
		return Result{At: p.ScaleDownAt()}, nil
	case p.Status == readiness.Active:
		return r.enter(ctx, in, readiness.Report{Status: readiness.ScalingDown})
	case p.Status == readiness.ScalingDown:
		return r.lower(ctx, in, p)
	case p.Status == readiness.Completed:
		return done, nil
	}
	return r.rollBack(ctx, in, p)
}

// enter reports the next status of a plan and continues in it. If the plan no longer permits it, because it was
// cancelled, the next step continues from the plan's present status.
func (r *Runner) enter(ctx context.Context, in readiness.Input, report readiness.Report) (Result, error) {
	report.ID, report.Run = fmt.Sprintf("%s-%d", report.Status, in.Run), in.Run
	err := r.Report(ctx, in.Org, in.PlanID, report)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return r.in(time.Second), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("report %s of %s: %w", report.Status, in.PlanID, err)
	}
	return r.Advance(ctx, in)
}

// await waits for the time to scale up, after everything applied by an earlier dispatch of the plan was given back.
// Half an hour before the event it reports the targets that cannot be ready.
func (r *Runner) await(ctx context.Context, in readiness.Input, p *readiness.Plan) (Result, error) {
	until := p.ScaleUpAt()
	out, err := r.restoreAll(ctx, in, func(c *capture) bool { return c.Run < in.Run })
	if err != nil {
		return Result{}, err
	}
	if out.left() && out.at.Before(until) {
		return Result{At: out.at}, nil
	}
	checkAt := p.EventStart.Add(-checkBefore)
	if now := r.Clock.Now(); checkAt.After(now) {
		return Result{At: clock.Earliest(until, checkAt)}, nil
	}
	return Result{At: until}, r.reportCheck(ctx, in, p)
}

// outcome collects the results of targets.
type outcome struct {
	mu     sync.Mutex
	at     time.Time // when the first of those that are not there yet is looked at again
	notes  []string  // findings, by target
	failed []string  // why targets were refused for good: only a change at their clouds or in their accounts helps

	obstructed int // how many targets cannot be raised before something else has ended
	touched    int // of how many targets something was captured
}

// left reports whether a target is not ready yet.
func (o *outcome) left() bool { return !o.at.IsZero() }

// wait schedules the next look at a target.
func (o *outcome) wait(at time.Time, note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.at.IsZero() || at.Before(o.at) {
		o.at = at
	}
	o.note(note)
}

func (o *outcome) note(note string) {
	if note != "" {
		o.notes = append(o.notes, note)
	}
}

// found records a finding at a target that is ready.
func (o *outcome) found(note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(note)
}

// fail records a target that was refused for good, and when it is retried all the same.
func (o *outcome) fail(at time.Time, why string) {
	o.wait(at, why)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, why)
}

// obstruct records a target with an obstacle, and when it is retried.
func (o *outcome) obstruct(at time.Time, why string) {
	o.wait(at, why)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.obstructed++
}

// mostText is the maximum length of the text of a report.
const mostText = 1000

// text joins the findings at targets.
func text(all []string) string {
	sorted := slices.Sorted(slices.Values(all))
	return clip(strings.Join(slices.Compact(sorted), "; "))
}

// clip shortens a text to the maximum length of a report.
func clip(s string) string {
	if len(s) > mostText {
		s = strings.ToValidUTF8(s[:mostText], "")
	}
	return s
}

// each calls do for each of the ids, some at the same time.
func each(ctx context.Context, ids []string, do func(ctx context.Context, id string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, id := range ids {
		g.Go(func() error { return do(ctx, id) })
	}
	return g.Wait()
}

// GiveUp is called by a machine whose step failed in every try. The plan fails, and the following steps give back the
// capacity. If giving back failed, GiveUp returns an error: the work stays pending, and the sweeper starts it again
// or parks it.
func (r *Runner) GiveUp(ctx context.Context, in readiness.Input, reason string) (Result, error) {
	p, err := r.plans().Get(ctx, in.Org, in.PlanID)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return Result{}, err
	case err != nil, p.Run != in.Run, !p.Status.Permits(readiness.Failed):
		return Result{}, fault.New(
			fault.Unavailable, "the capacity raised by plan %s is not given back: %s", in.PlanID, reason)
	}
	got, err := r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: reason})
	got.At = clock.Latest(got.At, r.Clock.Now().Add(30*time.Second))
	return got, err
}

// forget removes the work of a finished plan from the list of pending work.
func (r *Runner) forget(ctx context.Context, in readiness.Input) error {
	p := readiness.Plan{ID: in.PlanID, Run: in.Run}
	err := r.Table.Transact(table.Within(ctx, workqueue.Prefix), workqueue.RemoveWork(p.WorkID()),
		workqueue.RemoveWork(p.RollbackID()))
	return fault.Wrap("end the work for "+in.PlanID, err)
}
