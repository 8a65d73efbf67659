package remediation

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Store stores workflows.
type Store struct {
	table table.Store
	clock clock.Clock
}

// NewStore returns a Store on t, with the clock c.
func NewStore(t table.Store, c clock.Clock) *Store { return &Store{t, c} }

// New returns a Store of p.
func New(p *platform.Platform) *Store { return NewStore(p.Table, p.Clock) }

func pk(org string) string { return table.OrgPK(org) + Partition.Name() }

// Key returns where a workflow is stored.
func Key(org, workflowID string) table.Key { return table.Key{PK: pk(org), SK: workflowID} }

// Get reads a workflow. It returns fault.NotFound when it does not exist. It takes one round trip.
func (s *Store) Get(ctx context.Context, org, workflowID string) (Workflow, error) {
	if !id.IsValid("rem", workflowID) {
		return Workflow{}, Missing(workflowID)
	}
	w, err := table.Read[Workflow](ctx, s.table, Key(org, workflowID))
	if fault.Is(err, fault.NotFound) {
		return Workflow{}, Missing(workflowID)
	}
	return w, fault.Wrap("read remediation workflow "+workflowID, err)
}

// Create stores a new workflow that awaits its approval, holds its resources, and lists the work that lets it expire.
// It returns fault.Conflict if another workflow holds one of the resources.
func (s *Store) Create(ctx context.Context, w Workflow) (Workflow, error) {
	now := s.clock.Now()
	w.ID, w.CreatedAt, w.Steps, w.Digest = id.New("rem", now), now, newSteps(), DigestOf(w.Targets)
	w.ExpiresAt = now.Add(ApprovalTime)
	w.begin(Pending, w.Requester.Email, now)
	w.Steps.Precondition.set(StepSucceeded, "", now)
	w.Steps.Approval.set(StepRunning, "", now)
	if err := w.move(Change{To: AwaitingApproval, By: w.Requester.Email}, now); err != nil {
		return w, err
	}
	work, err := w.listWork(w.ID, w.ExpiresAt)
	if err != nil {
		return w, err
	}
	holds, err := w.takeHolds(now)
	if err != nil {
		return w, err
	}
	return w, s.write(ctx, &w, append([]table.Write{work}, holds...))
}

// CreateAllowed stores a new workflow that needs no approval, and lists its work; the caller starts it. Beside the
// errors of Create, it returns fault.Conflict if the changes of the day are used up.
func (s *Store) CreateAllowed(ctx context.Context, w Workflow) (Workflow, error) {
	now := s.clock.Now()
	if err := s.checkDay(ctx, &w, now); err != nil {
		return w, err
	}
	w.ID = cmp.Or(w.ID, id.New("rem", now)) // a request of the service has its own
	w.CreatedAt, w.Steps, w.Digest = now, newSteps(), DigestOf(w.Targets)
	w.ExpiresAt = now
	w.begin(Pending, w.Requester.Email, now)
	w.Steps.Precondition.set(StepRunning, "", now)
	w.Steps.Approval.set(StepSkipped,
		cmp.Or(autonomousWhy(&w), "the organization lets these rules run without approval"), now)
	if err := w.move(Change{To: Running, By: w.Requester.Email, Why: autonomousWhy(&w)}, now); err != nil {
		return w, err
	}
	work, err := w.listWork(w.ID, now)
	if err != nil {
		return w, err
	}
	holds, err := w.retakeHolds(now)
	if err != nil {
		return w, err
	}
	return w, s.write(ctx, &w, append([]table.Write{work}, holds...))
}

// autonomousWhy returns why a workflow runs without approval, for the history of one that the service requested.
func autonomousWhy(w *Workflow) string {
	if w.Autonomous {
		return w.Reason
	}
	return ""
}

// checkDay returns fault.Conflict if the day has too few changes left for the workflow.
func (s *Store) checkDay(ctx context.Context, w *Workflow, at time.Time) error {
	used, err := s.ChangesOn(ctx, w.Org, at)
	if err == nil && used+len(w.Targets) > MaxDayChanges {
		err = errDayLimit(at.UTC().Format(time.DateOnly))
	}
	return err
}

// Change is a change of a workflow's status.
type Change struct {
	To   Status
	By   string // the address of a person, or Executor
	Why  string
	Edit func(*Workflow) // further changes; may be nil
	With []table.Write   // further writes of the transaction; may be nil
}

// Move changes the status of a workflow and stores it. It returns fault.Conflict and changes nothing when the
// transition is not in the table, or the workflow has changed since it was read. A workflow that is not open any more
// releases its resources and its work.
func (s *Store) Move(ctx context.Context, w Workflow, c Change) (Workflow, error) {
	was, now := w, s.clock.Now()
	w = w.Copy()
	if c.Edit != nil {
		c.Edit(&w)
	}
	if err := w.move(c, now); err != nil {
		return was, err
	}
	more := c.With
	if !w.Status.IsOpen() {
		drops, err := s.dropHolds(ctx, &w)
		if err != nil {
			return was, err
		}
		more = slices.Concat(more, drops, []table.Write{workqueue.RemoveWork(w.WorkID())})
	}
	if err := s.write(ctx, &w, more); err != nil {
		return was, err
	}
	return w, nil
}

// Save stores a workflow that stays in its status, with further writes. It returns fault.Conflict when it has changed
// since it was read.
func (s *Store) Save(ctx context.Context, w *Workflow, more ...table.Write) error {
	w.Steps.follow(w, s.clock.Now())
	return s.write(ctx, w, more)
}

// begin gives a new workflow its first status.
func (w *Workflow) begin(status Status, by string, now time.Time) {
	w.Status = status
	w.History = []Event{{At: now, To: status, By: by}}
}

func (w *Workflow) move(c Change, now time.Time) error {
	if err := w.Status.Check(c.To); err != nil {
		return err
	}
	w.History = append(w.History, Event{At: now, From: w.Status, To: c.To, By: c.By, Why: c.Why})
	w.Status, w.Message = c.To, c.Why
	w.Steps.follow(w, now)
	if !c.To.IsOpen() {
		w.Steps.skipRest(now)
		if c.To != RolledBack || w.EndedAt.IsZero() {
			w.EndedAt = now
		}
	}
	return nil
}

// Copy returns a workflow whose lists can be changed without changing w.
func (w Workflow) Copy() Workflow {
	w.Targets, w.History = slices.Clone(w.Targets), slices.Clone(w.History)
	return w
}

// write stores the workflow with its next version and its line in the list, on the condition that it has the version
// that was read.
func (s *Store) write(ctx context.Context, w *Workflow, more []table.Write) error {
	cond := table.Equal("version", w.Version)
	if w.Version == 0 {
		cond = table.Absent()
	}
	next := *w
	next.UpdatedAt, next.Version = s.clock.Now(), w.Version+1
	own, err := table.PutFields(Key(w.Org, w.ID), next, cond)
	if err != nil {
		return err
	}
	line, err := next.line()
	if err != nil {
		return err
	}
	own.Changes = append(own.Changes, table.Expire(w.CreatedAt.Add(Keep)))
	err = s.table.Transact(table.Within(ctx, workqueue.Prefix), append([]table.Write{own, line}, more...)...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		return w.lost(lost)
	}
	if err != nil {
		return fault.Wrap("write remediation workflow "+w.ID, err)
	}
	w.UpdatedAt, w.Version = next.UpdatedAt, next.Version
	return nil
}

// lost returns the error for a refused write.
func (w *Workflow) lost(lost *table.ConditionError) error {
	for _, f := range lost.Failed {
		switch {
		case f.Index == 0:
			return errMoved
		case isDay(f.Old.Key):
			return errDayLimit(dayOf(f.Old.Key))
		case isHold(f.Old.Key):
			h, err := table.Decode[hold](f.Old)
			if err != nil {
				return err
			}
			return errHeld(h.ResourceID, h.WorkflowID)
		}
	}
	return fault.NewWithCause(fault.Conflict, lost, "%s", errMoved.Error())
}

// IsMoved reports whether a change failed because the workflow was changed since it was read.
func IsMoved(err error) bool { return errors.Is(err, errMoved) }
