package remediating

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// advanceTarget takes a target as far as it comes now. It returns when to continue, or zero if nothing is under way
// for it.
func (r *Runner) advanceTarget(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	for {
		state, step := w.Targets[i].State, w.Targets[i].Step
		at, err := r.advanceOnce(ctx, w, i)
		stays := w.Targets[i].State == state && w.Targets[i].Step == step
		if err != nil || stays || !at.IsZero() {
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
	case cancelled && (state == remediation.Watching || state == remediation.Marked || state == remediation.Done):
		return time.Time{}, r.set(ctx, w, i, remediation.Undoing, "the workflow was cancelled")
	case state == remediation.Marked:
		return r.awaitStep(ctx, w, i)
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
	case !mayBegin(w, i) && !mayMark(w, i):
		return time.Time{}, nil // the next step is that of another target
	}
	return r.begin(ctx, w, i)
}

// mayMark reports whether target i may begin because its first call marks it only: when the first target is marked,
// so that all of them wait at the same time.
func mayMark(w *remediation.Workflow, i int) bool {
	return w.Targets[i].Verb == rule.VerbDelete && w.Targets[0].State == remediation.Marked
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
	again, native, why, err := c.planAgain(ctx, &w.Targets[i])
	if err != nil {
		return time.Time{}, err
	}
	if why != "" {
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

// planAgain plans a target that was approved, and returns why it is not changed as approved. The error is one that
// passes.
func (c *checker) planAgain(ctx context.Context, approved *remediation.Target) (again remediation.Target,
	native json.RawMessage, why string, err error,
) {
	again = *approved
	native, err = c.planTarget(ctx, &again)
	why, err = refusal(approved, &again, problemOf(err))
	return again, native, why, err
}

func problemOf(err error) *remediation.Problem {
	if err == nil {
		return nil
	}
	out := &remediation.Problem{Kind: problemKind(err), Message: reasonOf(err)}
	if m, is := errors.AsType[*managed](err); is {
		out.Patch = &m.patch
	}
	return out
}

// callOnce marks the first call of a target and makes it.
func (r *Runner) callOnce(ctx context.Context, w *remediation.Workflow, i int) (time.Time, error) {
	now := r.Clock.Now()
	switch err := r.markCall(ctx, w, i, remediation.CountChange(w.Org, now)); {
	case remediation.IsMoved(err) || err != nil && !fault.Is(err, fault.Conflict):
		return time.Time{}, err
	case remediation.IsDayLimit(err):
		return time.Time{}, r.set(ctx, w, i, remediation.Broken, reasonOf(err))
	case err != nil:
		return time.Time{}, r.set(ctx, w, i, remediation.Broken, actionBegan)
	}
	return r.makeCall(ctx, w, i, progress{unchanged: true})
}

const actionBegan = "an action on its resource began at the same moment"

// markCall records that the call of a target's present step is made now. w changes only if that succeeds.
func (r *Runner) markCall(ctx context.Context, w *remediation.Workflow, i int, more ...table.Write) error {
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return err
	}
	next := w.Copy()
	t := &next.Targets[i]
	if t.State == remediation.Marked {
		t.Step++
	}
	t.State, t.Changed, t.CalledAt, t.DueAt, t.Message = remediation.Calling, true, r.Clock.Now(), time.Time{}, ""
	if err = r.store().Save(ctx, &next, append(ch.mark(t), more...)...); err == nil {
		*w = next
	}
	return err
}

// makeCall makes a call that was marked. A refused one ends the target as its progress says.
func (r *Runner) makeCall(ctx context.Context, w *remediation.Workflow, i int, refused progress) (time.Time, error) {
	ch, err := r.of(ctx, w, i)
	if err != nil {
		return time.Time{}, err
	}
	err = ch.call(ctx)
	switch {
	case err == nil, isCloudError(err) && cloud.ClassOf(err).Retryable():
		return r.follow(ctx, w, i)
	case isRefused(err):
		refused.broken = "refused: " + reasonOf(err)
		return time.Time{}, r.end(ctx, w, i, editBroken(refused))
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
		return time.Time{}, r.end(ctx, w, i, r.editReached(ch))
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
