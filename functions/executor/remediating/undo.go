package remediating

import (
	"context"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// undo gives the change of a target back, from the values that were stored before it.
func (r *Runner) undo(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	capture, err := r.store().ReadCapture(ctx, w.Org, w.ID, i)
	if err != nil {
		return time.Time{}, err
	}
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	p, err := ch.back(ctx, capture)
	if err != nil {
		return r.undoUnread(ctx, w, i, err)
	}
	switch t := &w.Targets[i]; {
	case p.waits && p.until.After(r.Clock.Now()):
		return p.until, nil
	case p.waits:
		return r.pause(t.CalledAt), nil
	case p.reached:
		return time.Time{}, r.undone(ctx, w, i)
	case p.broken != "":
		return time.Time{}, r.end(ctx, w, i, notGivenBack(p.broken))
	case t.UndoneAt.IsZero():
		return r.undoOnce(ctx, w, i, capture)
	default:
		return r.pause(t.UndoneAt), nil
	}
}

// undoUnread handles a target that could not be read for its undo: it waits, or ends if it will never be read.
func (r *Runner) undoUnread(ctx context.Context, w *remediation.Workflow, i int, err error) (time.Time, error) {
	t := &w.Targets[i]
	switch {
	case isCloudError(err) && cloud.ClassOf(err).Retryable() && r.patientFor(t):
		return r.pause(t.UndoneAt), nil
	case !isRefused(err) && !isCloudError(err):
		return time.Time{}, err
	}
	return time.Time{}, r.end(ctx, w, i, notGivenBack(reasonOf(err)))
}

// patientFor reports whether an undo is still waited for.
func (r *Runner) patientFor(t *remediation.Target) bool {
	return t.UndoneAt.IsZero() || r.Clock.Now().Sub(t.UndoneAt) < 2*patience
}

// notGivenBack returns the edit of a target whose change could not be given back.
func notGivenBack(why string) func(*remediation.Target) {
	return func(t *remediation.Target) {
		t.State = remediation.Broken
		if t.Message != "" {
			why = t.Message + "; it could not be given back: " + why
		}
		t.Message = why
	}
}

// undoOnce marks the undo of a target and asks for it.
func (r *Runner) undoOnce(ctx context.Context, w *remediation.Workflow, i int, c remediation.Capture) (time.Time,
	error,
) {
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	next := w.Copy()
	t := &next.Targets[i]
	t.UndoneAt = r.Clock.Now()
	switch err = r.store().Save(ctx, &next, ch.markUndo(t)...); {
	case remediation.IsMoved(err) || err != nil && !fault.Is(err, fault.Conflict):
		return time.Time{}, err
	case err != nil:
		return time.Time{}, r.save(ctx, w, i, notGivenBack("an action on the resource is in flight"))
	}
	*w = next
	if ch, err = r.of(ctx, w, i); err != nil {
		return time.Time{}, err
	}
	if err = ch.undo(ctx, c); err != nil && isRefused(err) {
		return time.Time{}, r.end(ctx, w, i, notGivenBack(reasonOf(err)))
	}
	if err != nil && !isCloudError(err) {
		return time.Time{}, err
	}
	return r.pause(w.Targets[i].UndoneAt), nil
}

// undone records that a target has its values before again.
func (r *Runner) undone(ctx context.Context, w *remediation.Workflow, i int) error {
	err := r.settle(ctx, w, &w.Targets[i], recommendation.Open, "remediation workflow "+w.ID+" was rolled back")
	if err != nil {
		return err
	}
	return r.end(ctx, w, i, func(t *remediation.Target) { t.State, t.Changed = remediation.Undone, false })
}

// rollBack gives back what an ended workflow changed, for a person.
func (r *Runner) rollBack(ctx context.Context, w *remediation.Workflow) (Result, error) {
	var next time.Time
	for i := range w.Targets {
		if w.Targets[i].State != remediation.Undoing {
			continue
		}
		at, err := r.undo(ctx, w, i)
		if err != nil {
			return Result{}, err
		}
		if w.Targets[i].State == remediation.Undoing && at.IsZero() {
			at = r.Clock.Now().Add(shortestPause)
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if !next.IsZero() {
		return Result{At: next}, nil
	}
	return done, r.endRollback(ctx, w)
}

// endRollback ends a rollback: everything was given back, or the workflow stays and says what was not.
func (r *Runner) endRollback(ctx context.Context, w *remediation.Workflow) error {
	for i := range w.Targets {
		if t := &w.Targets[i]; t.Changed {
			_, err := r.store().EndRollback(ctx, *w, "recommendation "+t.RecID+": "+t.Message)
			return err
		}
	}
	_, err := r.store().Move(ctx, *w, w.LeaveCopies(remediation.Change{
		To: remediation.RolledBack, By: w.Rollback.Email, Why: "rolled back by " + w.Rollback.Email,
		Edit: func(w *remediation.Workflow) {
			ended := *w.Rollback
			ended.Ended = true
			w.Rollback = &ended
		},
	}))
	return err
}
