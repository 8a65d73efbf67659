// Package remediating carries out remediation workflows: it plans the changes of their targets, makes them, watches
// them, and gives them back. Each call takes a workflow as far as it comes without waiting. All state is in the store,
// so any call may be the first after a crash, and two may run at once. No call to a cloud is made before the values
// before it are stored, and a call that was never answered is not repeated: the state is read instead.
package remediating

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Runner carries out workflows.
type Runner struct {
	Table           table.Store
	Clock           clock.Clock
	Recommendations *recommendation.Store
	Inventory       *inventory.Store
	Schedules       *scheduling.Store
	// Connect connects to the account of a target, and through it to its cluster if the target is inside one.
	Connect func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error)
	// Rehearses says that the clouds are simulated. Their resources have no use and no history, so the reason of a
	// change is not checked again.
	Rehearses bool
	// Submit requests an action, as execution.SubmitAction does.
	Submit func(ctx context.Context, org string, r execution.Request) (execution.Action, error)
}

// Result tells the machine whether nothing is left to do, or else when to continue.
type Result struct {
	Done bool      `json:"done"`
	At   time.Time `json:"at"`
}

// The pauses between two looks at a change, and its limits.
const (
	shortestPause = time.Second
	longestPause  = 30 * time.Second
	// longestWait is how long an execution waits. For a longer wait it ends, and other work continues the workflow.
	longestWait = 2 * time.Hour
	// patience is how long an unanswered call may take to show its effect.
	patience = 10 * time.Minute
	// watchTime is how long a resource is watched after it has reached its state.
	watchTime = 15 * time.Minute
)

var done = Result{Done: true}

func (r *Runner) store() *remediation.Store { return remediation.NewStore(r.Table, r.Clock) }

// Advance takes a workflow as far as it comes now.
func (r *Runner) Advance(ctx context.Context, in remediation.Input) (Result, error) {
	w, err := r.store().Get(ctx, in.Org, in.WorkflowID)
	if fault.Is(err, fault.NotFound) {
		return done, nil
	}
	if err != nil {
		return Result{}, err
	}
	out, err := r.step(ctx, &w)
	if remediation.IsMoved(err) { // somebody has decided something meanwhile: the next call sees it
		return Result{At: r.Clock.Now().Add(shortestPause)}, nil
	}
	return out, err
}

func (r *Runner) step(ctx context.Context, w *remediation.Workflow) (Result, error) {
	switch {
	case w.Rollback != nil && !w.Rollback.Ended:
		return r.rollBack(ctx, w)
	case w.Status == remediation.AwaitingApproval:
		return r.expire(ctx, w)
	case w.Status == remediation.Running:
		return r.run(ctx, w)
	case w.KeepsCopies() && !r.Clock.Now().Before(w.KeptUntil):
		return done, r.deleteCopies(ctx, w)
	}
	return done, nil
}

// expire ends a proposal whose 24 hours are over without a decision.
func (r *Runner) expire(ctx context.Context, w *remediation.Workflow) (Result, error) {
	if w.StatusAt(r.Clock.Now()) != remediation.Expired {
		return Result{At: w.ExpiresAt}, nil
	}
	_, err := r.store().Move(ctx, *w, remediation.Change{
		To: remediation.Expired, By: remediation.Executor,
		Why: "nobody decided until " + w.ExpiresAt.Format(time.RFC3339),
	})
	return done, err
}

// run takes a running workflow as far as it comes.
func (r *Runner) run(ctx context.Context, w *remediation.Workflow) (Result, error) {
	if w.Steps.Precondition.Status == remediation.StepRunning {
		if failed, err := r.recheck(ctx, w); err != nil || failed {
			return done, err
		}
	}
	var next time.Time
	for i := range w.Targets {
		at, err := r.advanceTarget(ctx, w, i)
		if err != nil {
			return Result{}, err
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	switch {
	case next.IsZero():
		return done, r.conclude(ctx, w)
	case next.Sub(r.Clock.Now()) > longestWait:
		_, err := r.store().Suspend(ctx, *w, next)
		return done, err
	}
	return Result{At: next}, nil
}

// recheck checks all targets of a workflow again before the first of them is changed. It reports whether the workflow
// has failed, because something has changed since the approval.
func (r *Runner) recheck(ctx context.Context, w *remediation.Workflow) (failed bool, err error) {
	if w.Canceller.User == "" {
		got, err := r.Plan(ctx, remediation.PlanInput{Org: w.Org, Targets: w.Targets, WorkflowID: w.ID})
		if err != nil {
			return false, err
		}
		for i := range got.Targets {
			why, err := refusal(&w.Targets[i], &got.Targets[i], got.Problems[i])
			if err != nil {
				return false, err
			}
			if why != "" {
				return true, r.fail(ctx, w, "recommendation "+w.Targets[i].RecID+": "+why)
			}
		}
	}
	next := w.Copy()
	next.Steps.Precondition = remediation.Step{Status: remediation.StepSucceeded, At: r.Clock.Now()}
	if err = r.store().Save(ctx, &next); err == nil {
		*w = next
	}
	return false, err
}

// refusal returns why a target that was planned again is not changed. The error is one that passes.
func refusal(approved, now *remediation.Target, problem *remediation.Problem) (string, error) {
	switch {
	case problem != nil && (problem.Kind == fault.Unavailable || problem.Kind == fault.Internal):
		return "", problem.Err()
	case problem != nil:
		return problem.Message, nil
	case now.Plan.Digest != approved.Plan.Digest:
		return "the plan has changed since it was approved: " + difference(approved, now), nil
	}
	return "", nil
}

// fail ends a workflow before its first change.
func (r *Runner) fail(ctx context.Context, w *remediation.Workflow, why string) error {
	_, err := r.store().Move(ctx, *w, remediation.Change{
		To: remediation.Failed, By: remediation.Executor, Why: why,
		Edit: func(w *remediation.Workflow) {
			w.Steps.Precondition = remediation.Step{Status: remediation.StepFailed, Message: why, At: r.Clock.Now()}
			for i := range w.Targets {
				w.Targets[i].State = remediation.LeftAlone
			}
		},
	})
	return err
}

// pause returns when to look again at something that began at a time.
func (r *Runner) pause(since time.Time) time.Time {
	now := r.Clock.Now()
	return now.Add(min(max(now.Sub(since)/2, shortestPause), longestPause))
}
