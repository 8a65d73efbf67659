package remediation

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
)

// checkDecidable returns fault.Conflict for a workflow that awaits no decision any more, with what became of it, and
// fault.Denied for its own requester.
func (w *Workflow) checkDecidable(by Person) error {
	switch status := w.StatusAt(by.At); {
	case status == Expired:
		return fault.New(fault.Conflict,
			"status: nobody decided workflow %s until %s, and it is expired: request a new one", w.ID,
			w.ExpiresAt.Format(time.RFC3339))
	case status != AwaitingApproval:
		return fault.New(fault.Conflict, "status: workflow %s is %s: it awaits no decision any more", w.ID, status)
	case by.User == w.Requester.User:
		return fault.New(fault.Denied,
			"nobody approves or rejects their own request: another person decides workflow %s; its requester may "+
				"cancel it", w.ID)
	}
	return nil
}

// CheckApprovable returns why a person cannot approve or reject the workflow, or nil.
func (w *Workflow) CheckApprovable(by Person) error { return w.checkDecidable(by) }

// Approve records the approval of another person and lists the work that runs the workflow; the caller starts it. It
// returns fault.Conflict for a workflow that was decided meanwhile or is expired, and if the changes of the day are
// used up.
func (s *Store) Approve(ctx context.Context, w Workflow, by Person) (Workflow, error) {
	if err := w.checkDecidable(by); err != nil {
		return w, err
	}
	if err := s.checkDay(ctx, &w, by.At); err != nil {
		return w, err
	}
	work, err := w.listWork(w.ID, by.At)
	if err != nil {
		return w, err
	}
	holds, err := w.keepHolds()
	if err != nil {
		return w, err
	}
	return s.Move(ctx, w, Change{
		To: Running, By: by.Email, With: append([]table.Write{work}, holds...),
		Edit: func(w *Workflow) {
			w.Approver = by
			w.Steps.Precondition.set(StepRunning, "", by.At) // it is checked again before the action
			w.Steps.Approval.set(StepSucceeded, "approved by "+by.Email, by.At)
		},
	})
}

// Reject records that another person rejects the workflow. It returns fault.Conflict as Approve does.
func (s *Store) Reject(ctx context.Context, w Workflow, by Person, reason string) (Workflow, error) {
	if err := w.checkDecidable(by); err != nil {
		return w, err
	}
	return s.Move(ctx, w, Change{
		To: Cancelled, By: by.Email, Why: because("rejected by "+by.Email, reason),
		Edit: func(w *Workflow) {
			w.Approver = by
			w.Steps.Approval.set(StepFailed, "rejected by "+by.Email, by.At)
		},
	})
}

// Cancel withdraws a workflow. One that has begun to change resources stays running: the executor stops it, gives back
// what it changed, and then cancels it.
func (s *Store) Cancel(ctx context.Context, w Workflow, by Person, reason string) (Workflow, error) {
	if status := w.StatusAt(by.At); !status.IsOpen() {
		return w, status.Check(Cancelled)
	}
	if w.Status == Running && w.HasBegun() {
		w = w.Copy()
		if w.Canceller.User != "" {
			return w, nil
		}
		w.Canceller, w.Message = by, because("being cancelled by "+by.Email+": what was changed is given back", reason)
		if !w.isSuspended(by.At) {
			return w, s.Save(ctx, &w)
		}
		writes, err := w.relist(by.At)
		if err != nil {
			return w, err
		}
		w.ResumeAt = by.At
		return w, s.Save(ctx, &w, writes...)
	}
	return s.Move(ctx, w, Change{
		To: Cancelled, By: by.Email, Why: because("cancelled by "+by.Email, reason),
		Edit: func(w *Workflow) { w.Canceller = by },
	})
}

// RequestRollback records that a person wants an ended workflow rolled back, and lists the work; the caller starts it
// under the name WorkID. A second request joins the one under way.
func (s *Store) RequestRollback(ctx context.Context, w Workflow, by Person) (Workflow, error) {
	if w.Rollback != nil && !w.Rollback.Ended {
		return w, nil
	}
	if err := w.checkRollback(by.At); err != nil {
		return w, err
	}
	w = w.Copy()
	w.Rollbacks++
	w.Rollback = &Rollback{Person: by}
	for i := range w.Targets {
		if t := &w.Targets[i]; t.Changed && (t.State == Done || t.State == Broken) {
			t.State, t.UndoID, t.UndoneAt, t.Message = Undoing, "", time.Time{}, ""
		}
	}
	work, err := w.listWork(w.WorkID(), by.At)
	if err != nil {
		return w, err
	}
	holds, err := w.retakeHolds(by.At)
	if err != nil {
		return w, err
	}
	return w, s.write(ctx, &w, append([]table.Write{work}, holds...))
}

// checkRollback returns fault.Conflict for a workflow that a person cannot roll back at a time.
func (w *Workflow) checkRollback(at time.Time) error {
	if w.Status == Running {
		return fault.New(fault.Conflict, "workflow %s is running: cancel it, and what it changed is given back", w.ID)
	}
	if err := w.Status.Check(RolledBack); err != nil {
		return err
	}
	switch until := w.RollbackUntil(); {
	case until.IsZero():
		return fault.New(fault.Conflict, "workflow %s has changed nothing: there is nothing to roll back", w.ID)
	case !at.Before(until):
		return fault.New(fault.Conflict, "workflow %s could be rolled back until %s: make the change by hand", w.ID,
			until.Format(time.RFC3339))
	}
	return nil
}

// EndRollback records that a rollback could not give everything back. The workflow stays as it is, and a person may
// request another one.
func (s *Store) EndRollback(ctx context.Context, w Workflow, why string) (Workflow, error) {
	w = w.Copy()
	r := *w.Rollback
	r.Ended, r.Error = true, why
	w.Rollback = &r
	drops, err := s.dropHolds(ctx, &w)
	if err != nil {
		return w, err
	}
	return w, s.write(ctx, &w, append(drops, workqueue.RemoveWork(w.WorkID())))
}

// because adds a reason to a sentence.
func because(text, reason string) string {
	if reason == "" {
		return text
	}
	return text + ": " + reason
}
