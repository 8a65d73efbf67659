// Package rescaling carries event readiness plans out: it raises the capacity of their targets when it is time, and gives it back. Each call
// takes a plan one step further, from whatever status it finds it in, with all that it must remember in the store, so that any call may be
// the first after a crash, and two may be under way at once.
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

// Runner carries plans out.
type Runner struct {
	Table table.Store
	Clock clock.Clock
	// Open connects to the account of a group; what cannot be scaled is an error of class cloud.Unsupported.
	Open func(ctx context.Context, org, accountID string, of readiness.PolicyTarget) (Group, error)
	// Starter starts the targets that are stopped.
	Starter Starter
	// Report tells how far a plan is. A report that the plan does not permit is fault.Conflict.
	Report func(ctx context.Context, org, planID string, r readiness.Report) error
}

// Group is what a connection to the account of a group is asked.
type Group interface {
	cloud.Autoscaler
	Read(ctx context.Context, kind, region string, uids []string) ([]cloud.State, error)
}

// Starter is the part of the executor that starts resources.
type Starter interface {
	// Obstacles returns why targets cannot be raised, by their native ids. Targets without an obstacle are missing from the answer.
	Obstacles(ctx context.Context, q readiness.PrecheckQuery) (map[string]string, error)
	// Start asks for a start of a target that has 0 instances, or, where the request names an action, reports how that goes.
	Start(ctx context.Context, of StartRequest) (Start, error)
	// StartProblem returns why a target that has 0 instances cannot be started; "" when it can, or when only the start will tell.
	StartProblem(ctx context.Context, org string, of readiness.PolicyTarget) (string, error)
	// Remember stores what later actions find of a target.
	Remember(ctx context.Context, m Memory) error
}

// Memory is the size of a target before a plan raised it, for later actions on the target.
type Memory struct {
	Org      string
	Target   readiness.PolicyTarget
	Snapshot []byte // as a stop before the plan would have kept it
	// ActionID names the stop that keeps this snapshot as its own; empty: the target is stopped already.
	ActionID string
	// KeepUntil is the time until which any stop keeps this snapshot and not the present size; zero: the next start restores it.
	KeepUntil time.Time
}

// StartRequest names a target that a plan needs, and the action that starts it, if there is one.
type StartRequest struct {
	Org      string
	PlanID   string
	Target   readiness.PolicyTarget
	ActionID string
}

// Start is how the start of a target goes.
type Start struct {
	ActionID string
	Ended    bool
	Error    string // why it failed
}

// Result tells the machine whether the plan is at its end, and else when to go on.
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

// advance does what the status of a plan asks for.
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

// enter reports the next status of a plan and goes on in it. Where the plan does not permit it any more, for it was cancelled, it goes on
// from what the plan is then.
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

// await waits for the time to scale up, once what an earlier dispatch of the plan applied is given back. Half an hour before the event it
// reports the targets that cannot be ready.
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

// outcome is what became of targets.
type outcome struct {
	mu     sync.Mutex
	at     time.Time // when the first of those that are not there yet is looked at again
	notes  []string  // what was found, by target
	failed []string  // why targets were refused for good: only a change at their clouds or in their accounts helps

	obstructed int // how many targets cannot be raised before something else has ended
	touched    int // of how many targets something was captured
}

// left reports whether a target is not there yet.
func (o *outcome) left() bool { return !o.at.IsZero() }

// wait has a target looked at again at a time.
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

// found notes what was found at a target that is there.
func (o *outcome) found(note string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.note(note)
}

// fail notes a target that was refused for good, and when it is tried again all the same.
func (o *outcome) fail(at time.Time, why string) {
	o.wait(at, why)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = append(o.failed, why)
}

// obstruct notes a target that something else keeps from being raised, and when it is tried again.
func (o *outcome) obstruct(at time.Time, why string) {
	o.wait(at, why)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.obstructed++
}

// mostText is how long the text of a report is at most.
const mostText = 1000

// text returns what was found of targets in one text.
func text(all []string) string {
	sorted := slices.Sorted(slices.Values(all))
	return clip(strings.Join(slices.Compact(sorted), "; "))
}

// clip shortens the text of a report to what one takes.
func clip(s string) string {
	if len(s) > mostText {
		s = strings.ToValidUTF8(s[:mostText], "")
	}
	return s
}

// each does something for each of the ids, some beside each other.
func each(ctx context.Context, ids []string, do func(ctx context.Context, id string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for _, id := range ids {
		g.Go(func() error { return do(ctx, id) })
	}
	return g.Wait()
}

// GiveUp is for a machine whose step failed however often it was tried: the plan fails, and what it applied is rolled back by the steps
// that follow. Where that is what failed, it is an error: the work stays listed, and the sweeper begins it anew or parks it.
func (r *Runner) GiveUp(ctx context.Context, in readiness.Input, reason string) (Result, error) {
	p, err := r.plans().Get(ctx, in.Org, in.PlanID)
	switch {
	case err != nil && !fault.Is(err, fault.NotFound):
		return Result{}, err
	case err != nil, p.Run != in.Run, !p.Status.Permits(readiness.Failed):
		return Result{}, fault.New(fault.Unavailable, "what plan %s applied is not rolled back: %s", in.PlanID, reason)
	}
	got, err := r.enter(ctx, in, readiness.Report{Status: readiness.Failed, Message: reason})
	got.At = clock.Latest(got.At, r.Clock.Now().Add(30*time.Second))
	return got, err
}

// forget takes what is at its end off the list of pending work.
func (r *Runner) forget(ctx context.Context, in readiness.Input) error {
	p := readiness.Plan{ID: in.PlanID, Run: in.Run}
	err := r.Table.Transact(table.Within(ctx, workqueue.Prefix), workqueue.RemoveWork(p.WorkID()),
		workqueue.RemoveWork(p.RollbackID()))
	return fault.Wrap("end the work for "+in.PlanID, err)
}
