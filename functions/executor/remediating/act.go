package remediating

import (
	"cmp"
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// advanceTarget takes a target as far as it comes now. It returns when to continue, or zero if nothing is under way
// for it.
func (r *Runner) advanceTarget(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	for {
		t := &w.Targets[i]
		before := t.State
		at, err := r.advanceOnce(ctx, w, i)
		if err != nil || w.Targets[i].State == before || !at.IsZero() {
			return at, err
		}
	}
}

func (r *Runner) advanceOnce(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	cancelled := w.Canceller.User != ""
	switch state := w.Targets[i].State; {
	case state == remediation.Waiting:
		return r.await(ctx, w, i)
	case state == remediation.Calling:
		return r.follow(ctx, w, i)
	case (state == remediation.Watching || state == remediation.Done) && cancelled:
		return time.Time{}, r.set(ctx, w, i, remediation.Undoing, "the workflow was cancelled")
	case state == remediation.Watching:
		return r.watch(ctx, w, i)
	case state == remediation.Undoing:
		return r.undo(ctx, w, i)
	}
	return time.Time{}, nil
}

// await begins a target that has not begun, unless it has to wait for others or nothing begins any more.
func (r *Runner) await(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	switch {
	case w.Canceller.User != "":
		return time.Time{}, r.set(ctx, w, i, remediation.LeftAlone, "the workflow was cancelled")
	case stopsRest(w):
		return time.Time{}, r.set(ctx, w, i, remediation.LeftAlone, "not begun: too many targets before it failed")
	case !mayBegin(w, i):
		return time.Time{}, nil // the next step is that of another target
	}
	return r.begin(ctx, w, i)
}

// stopsRest reports whether no further target of a workflow begins: the first one failed, or a tenth of all.
func stopsRest(w *remediation.Workflow) bool {
	failed := w.Count(remediation.Broken, remediation.Undoing, remediation.Undone)
	first := w.Targets[0].State
	return failed*10 >= len(w.Targets) && failed > 0 || first.IsFinal() && first != remediation.Done
}

// mayBegin reports whether target i may begin: the first one at once, the others after its validation, so many at a
// time that no more than a tenth of all can fail.
func mayBegin(w *remediation.Workflow, i int) bool {
	return i == 0 || w.Targets[0].State == remediation.Done &&
		w.Count(remediation.Calling) < max(1, len(w.Targets)/10)
}

// set stores a target's state.
func (r *Runner) set(ctx context.Context, w *remediation.Workflow, i int, s remediation.TargetState, why string) error {
	return r.save(ctx, w, i, func(t *remediation.Target) { t.State, t.Message = s, why })
}

// save changes a target and stores it, with further writes. w changes only if that succeeds.
func (r *Runner) save(ctx context.Context, w *remediation.Workflow, i int, edit func(*remediation.Target),
	more ...table.Write,
) error {
	next := w.Copy()
	edit(&next.Targets[i])
	err := r.store().Save(ctx, &next, more...)
	if err == nil {
		*w = next
	}
	return err
}

// end stores a target's state at the end of its change, and releases what the change holds. What it does not hold any
// more, because the resource is gone, needs no release.
func (r *Runner) end(ctx context.Context, w *remediation.Workflow, i int, edit func(*remediation.Target)) error {
	err := r.save(ctx, w, i, edit, releases(w, i)...)
	if _, lost := errors.AsType[*table.ConditionError](err); lost && !remediation.IsMoved(err) {
		return r.save(ctx, w, i, edit)
	}
	return err
}

// begin checks a target once more, stores its values, marks the call, and makes it. Each is a step of its own: a
// process that dies between them leaves either nothing, or a call whose effect the next one reads.
func (r *Runner) begin(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	c, err := r.newChecker(ctx, remediation.PlanInput{
		Org: w.Org, Targets: w.Targets[i : i+1 : i+1], WorkflowID: w.ID,
	})
	if err != nil {
		return time.Time{}, err
	}
	again := w.Targets[i]
	native, err := c.planTarget(ctx, &again)
	why, err := refusal(&w.Targets[i], &again, problemOf(err))
	if err != nil || why != "" {
		if err != nil {
			return time.Time{}, err
		}
		return time.Time{}, r.set(ctx, w, i, remediation.Broken, why)
	}
	err = r.store().WriteCapture(ctx, w.Org, remediation.Capture{
		WorkflowID: w.ID, Target: i, ResourceUID: again.ResourceUID, Before: again.Plan.Before, Native: native,
		At: r.Clock.Now(),
	})
	if err != nil {
		return time.Time{}, err
	}
	return r.callOnce(ctx, w, i)
}

func problemOf(err error) *remediation.Problem {
	if err == nil {
		return nil
	}
	return &remediation.Problem{Kind: problemKind(err), Message: reasonOf(err)}
}

// callOnce marks the call of a target and makes it.
func (r *Runner) callOnce(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	now := r.Clock.Now()
	next := w.Copy()
	t := &next.Targets[i]
	t.State, t.Changed, t.CalledAt, t.Message = remediation.Calling, true, now, ""
	writes := append(ch.mark(t), remediation.CountChange(w.Org, now))
	switch err = r.store().Save(ctx, &next, writes...); {
	case remediation.IsMoved(err) || err != nil && !fault.Is(err, fault.Conflict):
		return time.Time{}, err
	case remediation.IsDayLimit(err):
		return time.Time{}, r.set(ctx, w, i, remediation.Broken, reasonOf(err))
	case err != nil:
		return time.Time{}, r.set(ctx, w, i, remediation.Broken, "an action on its resource began at the same moment")
	}
	*w = next
	if ch, err = r.of(ctx, w, i); err != nil {
		return time.Time{}, err
	}
	err = ch.call(ctx)
	switch {
	case err == nil, isCloudError(err) && cloud.ClassOf(err).Retryable():
		return r.follow(ctx, w, i)
	case isRefused(err):
		return time.Time{}, r.end(ctx, w, i, func(t *remediation.Target) {
			t.State, t.Changed, t.Message = remediation.Broken, false, "refused: "+reasonOf(err)
		})
	}
	return time.Time{}, err
}

// isRefused reports whether an error of a call says that nothing was done and nothing will be.
func isRefused(err error) bool {
	if isCloudError(err) {
		return !cloud.ClassOf(err).Retryable()
	}
	switch fault.KindOf(err) { //nolint:exhaustive // the others are failures of the store, which pass
	case fault.Invalid, fault.Denied, fault.NotFound, fault.Conflict:
		return true
	}
	return false
}

// follow looks at a change that was asked for.
func (r *Runner) follow(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	p, err := ch.look(ctx)
	t := &w.Targets[i]
	switch {
	case isCloudError(err) && cloud.ClassOf(err).Retryable() && r.Clock.Now().Sub(t.CalledAt) < 2*patience:
		return r.pause(t.CalledAt), nil
	case err != nil && !isCloudError(err) && !isRefused(err):
		return time.Time{}, err
	case err != nil:
		p = progress{broken: reasonOf(err), unchanged: !isCloudError(err)}
	}
	switch {
	case p.reached:
		return time.Time{}, r.end(ctx, w, i, func(t *remediation.Target) {
			t.State, t.ReachedAt = remediation.Watching, r.Clock.Now()
		})
	case p.broken == "":
		return r.pause(t.CalledAt), nil
	}
	return time.Time{}, r.end(ctx, w, i, editBroken(p))
}

// editBroken returns the edit of a target whose change or validation failed: it is given back unless nothing was
// changed.
func editBroken(p progress) func(*remediation.Target) {
	return func(t *remediation.Target) {
		t.State, t.Message = remediation.Undoing, p.broken
		if p.unchanged {
			t.State, t.Changed = remediation.Broken, false
		}
	}
}

// watch validates a target: it still has the wanted state when its time is over.
func (r *Runner) watch(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	t := &w.Targets[i]
	if until := t.ReachedAt.Add(t.Plan.Watch); r.Clock.Now().Before(until) {
		return until, nil
	}
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	p, err := ch.look(ctx)
	switch {
	case err != nil && !isRefused(err):
		return time.Time{}, err
	case err != nil:
		p = progress{broken: "validation: " + reasonOf(err)}
	}
	if p.broken != "" {
		return time.Time{}, r.save(ctx, w, i, editBroken(p))
	}
	if err = r.settle(ctx, w, t, recommendation.Applied, "remediation workflow "+w.ID+" carried it out"); err != nil {
		return time.Time{}, err
	}
	return time.Time{}, r.set(ctx, w, i, remediation.Done, "")
}

// settle changes the status of a target's recommendation. One that has ended meanwhile stays as it is.
func (r *Runner) settle(ctx context.Context, w *remediation.Workflow, t *remediation.Target, to recommendation.Status,
	why string,
) error {
	row, err := r.Recommendations.Read(ctx, w.Org, t.RecID)
	if fault.Is(err, fault.NotFound) ||
		err == nil && to == recommendation.Open && row.Status != recommendation.Applied {
		return nil
	}
	if err != nil {
		return err
	}
	_, _, err = r.Recommendations.Decide(ctx, w.Org, t.RecID, recommendation.Decision{
		Status: to, By: cmp.Or(w.Approver.Email, w.Requester.Email), Why: why, At: r.Clock.Now(),
	})
	if fault.Is(err, fault.Conflict) {
		return nil
	}
	return fault.Wrap("settle recommendation "+t.RecID, err)
}
