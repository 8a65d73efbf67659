package remediating

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// conclude ends a workflow of which nothing is under way.
func (r *Runner) conclude(ctx context.Context, w *remediation.Workflow) error {
	to, why := lastStatus(w)
	c, err := w.KeepCopies(remediation.Change{To: to, By: remediation.Executor, Why: why}, r.Clock.Now())
	if err != nil {
		return err
	}
	_, err = r.store().Move(ctx, *w, c)
	return err
}

// lastStatus returns the last status of a workflow by its targets, and why.
func lastStatus(w *remediation.Workflow) (remediation.Status, string) {
	all, ok, undone := len(w.Targets), w.Count(remediation.Done), w.Count(remediation.Undone)
	why := ""
	changed := false
	for i := range w.Targets {
		t := &w.Targets[i]
		if changed = changed || t.Changed; why == "" && t.State != remediation.Done {
			why = t.Message
		}
	}
	switch {
	case ok == all:
		return remediation.Succeeded, ""
	case w.Canceller.User != "" && !changed:
		return remediation.Cancelled, "cancelled by " + w.Canceller.Email + ": everything is as it was"
	case ok == 0 && undone > 0 && !changed:
		return remediation.RolledBack, "given back: " + why
	}
	return remediation.Failed, fmt.Sprintf("%d of %d changed, %d given back: %s", ok, all, undone, why)
}

// GiveUp ends a workflow that cannot be carried out any further, with a reason. Changes that are under way stay as they
// are, and can be rolled back.
func (r *Runner) GiveUp(ctx context.Context, in remediation.Input, reason string) (Result, error) {
	w, err := r.store().Get(ctx, in.Org, in.WorkflowID)
	if fault.Is(err, fault.NotFound) {
		return done, nil
	}
	if err != nil {
		return Result{}, err
	}
	switch {
	case w.Rollback != nil && !w.Rollback.Ended:
		for i := range w.Targets {
			if t := &w.Targets[i]; t.State == remediation.Undoing {
				t.State, t.Message = remediation.Broken, reason
			}
		}
		_, err = r.store().EndRollback(ctx, w, reason)
	case w.Status == remediation.AwaitingApproval:
		return r.expire(ctx, &w)
	case w.Status == remediation.Running:
		err = r.abandon(ctx, &w, reason)
	case w.KeepsCopies():
		err = r.endKeeping(ctx, &w, func(t *remediation.Target) string { return stays(t, reason) })
	}
	if remediation.IsMoved(err) {
		return r.GiveUp(ctx, in, reason)
	}
	return done, err
}

// abandon ends a running workflow, target by target, and releases what each of them holds.
func (r *Runner) abandon(ctx context.Context, w *remediation.Workflow, reason string) error {
	for i := range w.Targets {
		var err error
		switch t := &w.Targets[i]; {
		case t.State.IsFinal():
			continue
		case t.State == remediation.Waiting:
			err = r.set(ctx, w, i, remediation.LeftAlone, reason)
		default:
			err = r.end(ctx, w, i, func(t *remediation.Target) {
				t.State, t.Message = remediation.Broken, reason
			})
		}
		if err != nil {
			return err
		}
	}
	return r.conclude(ctx, w)
}
