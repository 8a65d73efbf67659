package remediating

import (
	"context"
	"time"

	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// editReached returns the edit of a target whose present step is done: the next step waits for its time, or the
// resource is watched.
func (r *Runner) editReached(ch change) func(*remediation.Target) {
	return func(t *remediation.Target) {
		now := r.Clock.Now()
		if c, is := ch.(*changing); is && c.copied != "" {
			t.CopyUID = c.copied
		}
		if s, is := ch.(stepped); is && s.more() {
			if t.MarkedAt.IsZero() {
				t.MarkedAt = now
			}
			t.State, t.DueAt = remediation.Marked, s.dueAt()
			return
		}
		t.State, t.ReachedAt = remediation.Watching, now
	}
}

// awaitStep begins the next step of a target when its time has come. It is planned again before: a resource that is
// used again, or was changed by hand, is not touched, and what the first steps did is given back.
func (r *Runner) awaitStep(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	t := &w.Targets[i]
	switch {
	case stopsRest(w):
		return time.Time{}, r.set(ctx, w, i, remediation.Undoing, "too many targets before it failed")
	case r.Clock.Now().Before(t.DueAt):
		return t.DueAt, nil
	case !mayBegin(w, i) && t.DueAt.After(t.MarkedAt):
		return time.Time{}, nil // the next step is that of another target
	}
	c, err := r.newChecker(ctx, remediation.PlanInput{
		Org: w.Org, Targets: w.Targets[i : i+1 : i+1], WorkflowID: w.ID,
	})
	if err != nil {
		return time.Time{}, err
	}
	_, _, why, err := c.planAgain(ctx, t)
	switch {
	case err != nil:
		return time.Time{}, err
	case why != "":
		return time.Time{}, r.set(ctx, w, i, remediation.Undoing, why)
	}
	return r.callStep(ctx, w, i)
}

// callStep marks the call of the next step of a target and makes it.
func (r *Runner) callStep(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	switch err := r.markCall(ctx, w, i); {
	case remediation.IsMoved(err) || err != nil && !fault.Is(err, fault.Conflict):
		return time.Time{}, err
	case err != nil:
		return time.Time{}, r.set(ctx, w, i, remediation.Undoing, actionBegan)
	}
	return r.makeCall(ctx, w, i, progress{})
}
