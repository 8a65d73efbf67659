package remediation

import (
	"context"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/foundation/fault"
)

// WorkflowRejection is the body of POST /remediation-workflows/{workflowID}/reject.
type WorkflowRejection struct {
	Reason string `json:"reason" minLength:"1" maxLength:"500"`
}

type rejectInput struct {
	WorkflowID string `path:"workflowID" maxLength:"64"`
	Body       WorkflowRejection
}

// WorkflowCancellation is the body of POST /remediation-workflows/{workflowID}/cancel.
type WorkflowCancellation struct {
	Reason string `json:"reason,omitempty" maxLength:"500"`
}

type cancelInput struct {
	WorkflowID string                `path:"workflowID" maxLength:"64"`
	Body       *WorkflowCancellation `required:"false"`
}

// reason returns the reason of a cancellation, empty for none.
func (in *cancelInput) reason() string {
	if in.Body == nil {
		return ""
	}
	return in.Body.Reason
}

// permitted reads a workflow that the caller may see and holds the policies on.
func (s *service) permitted(ctx context.Context, workflowID string, policies ...string) (domain.Workflow, error) {
	w, err := s.visible(ctx, workflowID)
	if err != nil {
		return w, err
	}
	return w, s.checkHolds(ctx, &w, policies...)
}

// checkHolds returns fault.Denied unless the caller holds the policies on each resource of a workflow.
func (s *service) checkHolds(ctx context.Context, w *domain.Workflow, policies ...string) error {
	sets, err := s.sets(ctx, policies...)
	if err != nil {
		return err
	}
	for i, policy := range policies {
		if !coversAll(sets[i], resourcesOf(w)) {
			return fault.New(fault.Denied, "permission denied: %s is needed on every resource of workflow %s", policy,
				w.ID)
		}
	}
	return nil
}

// noteBefore records a workflow before its change.
func (s *service) noteBefore(ctx context.Context, w *domain.Workflow) {
	audit.NoteChange(ctx, audit.Change{Target: w.ID, Before: newWorkflow(w, s.p.Clock.Now())})
}

// noteAfter records a workflow after its change, and returns it.
func (s *service) noteAfter(ctx context.Context, w *domain.Workflow) WorkflowDetail {
	out := newWorkflow(w, s.p.Clock.Now())
	audit.NoteChange(ctx, audit.Change{After: out})
	return out
}

func (s *service) approve(ctx context.Context, in *workflowInput) (WorkflowDetail, error) {
	w, err := s.permitted(ctx, in.WorkflowID, writing)
	if err != nil {
		return WorkflowDetail{}, err
	}
	s.noteBefore(ctx, &w)
	by := s.person(identity.CallerFrom(ctx))
	if err = w.CheckApprovable(by); err != nil {
		return WorkflowDetail{}, err
	}
	if w.Proposal {
		if err = s.checkHolds(ctx, &w, executing); err != nil {
			return WorkflowDetail{}, err
		}
	}
	if err = s.checkCurrent(ctx, &w); err != nil {
		return WorkflowDetail{}, err
	}
	if w, err = s.approveSame(ctx, w, by); err != nil {
		return WorkflowDetail{}, err
	}
	return s.noteAfter(ctx, &w), s.start(ctx, &w)
}

// approveSame stores an approval. A workflow that has changed since it was read is read again: a rehearsal changes
// neither what is approved nor who may approve it.
func (s *service) approveSame(ctx context.Context, w domain.Workflow, by domain.Person) (domain.Workflow, error) {
	for try := 1; ; try++ {
		approved, err := s.store.Approve(ctx, w, by)
		if !domain.IsMoved(err) || try == cancelTries {
			return approved, err
		}
		now, err := s.store.Get(ctx, w.Org, w.ID)
		switch {
		case err != nil:
			return w, err
		case now.Digest != w.Digest:
			return w, fault.New(fault.Conflict, "digest: the plan of workflow %s has changed: read it again", w.ID)
		}
		w = now
	}
}

// checkCurrent plans a workflow again, and returns fault.Conflict if it would do something else than what was proposed.
func (s *service) checkCurrent(ctx context.Context, w *domain.Workflow) error {
	got, err := s.plan(ctx, domain.PlanInput{Org: w.Org, Targets: w.Targets, WorkflowID: w.ID})
	if err != nil {
		return err
	}
	if err = got.First(); err != nil {
		return fault.NewWithCause(conflictInstead(fault.KindOf(err)), err, "%s", fault.Message(err))
	}
	for i := range got.Targets {
		if got.Targets[i].Plan.Digest != w.Targets[i].Plan.Digest {
			return fault.New(fault.Conflict,
				"digest: the plan of recommendation %s has changed since it was proposed: request it again",
				w.Targets[i].RecID)
		}
	}
	return nil
}

// conflictInstead returns the kind of the answer for a workflow that cannot be carried out any more: what was possible
// when it was proposed and is not now is a conflict.
func conflictInstead(kind fault.Kind) fault.Kind {
	if kind == fault.Invalid || kind == fault.NotFound {
		return fault.Conflict
	}
	return kind
}

// start starts the listed work of a workflow. If that fails, the caller gets the error and the sweeper starts it.
func (s *service) start(ctx context.Context, w *domain.Workflow) error {
	err := s.p.Workflow.Start(ctx, domain.Machine, w.WorkID(), domain.Input{Org: w.Org, WorkflowID: w.ID})
	return fault.Wrap("start "+w.WorkID(), err)
}

func (s *service) reject(ctx context.Context, in *rejectInput) (WorkflowDetail, error) {
	w, err := s.permitted(ctx, in.WorkflowID, writing)
	if err != nil {
		return WorkflowDetail{}, err
	}
	s.noteBefore(ctx, &w)
	if w, err = s.store.Reject(ctx, w, s.person(identity.CallerFrom(ctx)), in.Body.Reason); err != nil {
		return WorkflowDetail{}, err
	}
	return s.noteAfter(ctx, &w), nil
}

// cancelTries is how often a workflow is read and cancelled: the executor changes it while it runs.
const cancelTries = 3

func (s *service) cancel(ctx context.Context, in *cancelInput) (WorkflowDetail, error) {
	for try := 1; ; try++ {
		w, err := s.permitted(ctx, in.WorkflowID, writing)
		if err != nil {
			return WorkflowDetail{}, err
		}
		s.noteBefore(ctx, &w)
		by := s.person(identity.CallerFrom(ctx))
		w, err = s.store.Cancel(ctx, w, by, in.reason())
		if err == nil && w.ResumeAt.Equal(by.At) { // it waited, and no execution runs
			return s.noteAfter(ctx, &w), s.start(ctx, &w)
		}
		if err == nil {
			return s.noteAfter(ctx, &w), nil
		}
		if try == cancelTries || !domain.IsMoved(err) {
			return WorkflowDetail{}, err
		}
	}
}

func (s *service) rollBack(ctx context.Context, in *workflowInput) (rest.Job, error) {
	w, err := s.permitted(ctx, in.WorkflowID, executing)
	if err != nil {
		return rest.Job{}, err
	}
	s.noteBefore(ctx, &w)
	if w, err = s.store.RequestRollback(ctx, w, s.person(identity.CallerFrom(ctx))); err != nil {
		return rest.Job{}, err
	}
	s.noteAfter(ctx, &w)
	return newJob(&w), s.start(ctx, &w)
}
