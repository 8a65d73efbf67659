package remediation

import (
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
)

// keptWorkID returns the name of the work that deletes the snapshots of a workflow.
func (w *Workflow) keptWorkID() string { return w.ID + "-kept" }

// TokenOf returns the name of the change of a workflow's target at its provider: the mark of the resource and of its
// snapshot.
func TokenOf(workflowID string, target int) string { return fmt.Sprintf("%s-%d", workflowID, target) }

// hasCopies reports whether the workflow took snapshots that are still there.
func (w *Workflow) hasCopies() bool {
	for i := range w.Targets {
		if w.Targets[i].CopyUID != "" {
			return true
		}
	}
	return false
}

// KeepCopies makes the end of a workflow one that keeps its snapshots for their time: it lists the work that deletes
// them. Without snapshots it returns c.
func (w *Workflow) KeepCopies(c Change, now time.Time) (Change, error) {
	if !w.hasCopies() {
		return c, nil
	}
	until := now.Add(cloud.CopyKept)
	work, err := workqueue.AddWork(workqueue.Work{
		ID: w.keptWorkID(), Org: w.Org, Machine: Machine, At: until, Until: until,
	}, Input{w.Org, w.ID})
	c.With = append(c.With, work)
	return c.editing(func(w *Workflow) { w.KeptUntil = until }), err
}

// LeaveCopies makes the end of a rollback one after which nothing deletes the snapshots.
func (w *Workflow) LeaveCopies(c Change) Change {
	if w.KeptUntil.IsZero() {
		return c
	}
	c.With = append(c.With, workqueue.RemoveWork(w.keptWorkID()))
	return c.editing(func(w *Workflow) { w.KeptUntil = time.Time{} })
}

// editing adds an edit to that of a change.
func (c Change) editing(edit func(*Workflow)) Change {
	before := c.Edit
	c.Edit = func(w *Workflow) {
		if before != nil {
			before(w)
		}
		edit(w)
	}
	return c
}

// KeepsCopies reports whether an ended workflow has snapshots to delete.
func (w *Workflow) KeepsCopies() bool { return !w.KeptUntil.IsZero() && !w.Status.IsOpen() }

// EndKeeping makes the workflow one whose snapshots are no longer kept, and returns the write that removes their work.
func (w *Workflow) EndKeeping() table.Write {
	w.KeptUntil = time.Time{}
	return workqueue.RemoveWork(w.keptWorkID())
}
