package remediation

import (
	"context"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// Suspend ends the present execution of a running workflow and lists the work that continues it at a time, for waits
// that are longer than a state machine runs. A cancellation resumes it at once.
func (s *Store) Suspend(ctx context.Context, w Workflow, until time.Time) (Workflow, error) {
	w = w.Copy()
	writes, err := w.relist(until)
	if err != nil {
		return w, err
	}
	w.ResumeAt = until
	return w, s.Save(ctx, &w, writes...)
}

// relist returns the writes that replace the work of the workflow by new work, due at a time. A name of an execution
// cannot be used twice, so the new work has another.
func (w *Workflow) relist(at time.Time) ([]table.Write, error) {
	old := w.WorkID()
	w.Suspensions++
	work, err := w.listWork(w.WorkID(), at)
	return []table.Write{workqueue.RemoveWork(old), work}, err
}

// isSuspended reports whether no execution runs for the workflow at a time, because it waits.
func (w *Workflow) isSuspended(at time.Time) bool { return at.Before(w.ResumeAt) }
