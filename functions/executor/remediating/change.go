package remediating

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// progress is the state of a change that is under way, as its last read shows it.
type progress struct {
	reached bool   // the wanted values, or the values before, are there
	broken  string // why they will not be; empty while they may still come
	// unchanged says, beside broken, that nothing was changed, so there is nothing to give back.
	unchanged bool
	waits     bool // something else of the workflow must end before the change is given back
	// until is, beside waits, when to look again. It is zero if that is not known.
	until time.Time
}

// stepped is a change that takes several calls. Each is marked in the record of the target before it is made.
type stepped interface {
	change
	// more reports whether a step follows the present one.
	more() bool
	// dueAt returns when the step after the present one begins.
	dueAt() time.Time
}

// change is what a verb does with one target. The same code plans, makes, reads and gives back the change.
type change interface {
	// plan reads the present values and plans the change. native is what restores the values exactly.
	plan(ctx context.Context, listed inventory.Listed) (p remediation.Plan, native json.RawMessage, err error)
	// mark prepares the record of a target for the call, and returns the writes that go with it.
	mark(t *remediation.Target) []table.Write
	// call makes the change, after the target was marked.
	call(ctx context.Context) error
	// look reads whether the wanted values are there.
	look(ctx context.Context) (progress, error)
	// markUndo prepares the record of a target for undo, and returns the writes that go with it.
	markUndo(t *remediation.Target) []table.Write
	// undo asks for the values before, after the target was marked.
	undo(ctx context.Context, c remediation.Capture) error
	// back reads whether the values before are there. It is broken if somebody else has changed them since.
	back(ctx context.Context, c remediation.Capture) (progress, error)
}

// subject is a target with the connection to its cloud.
type subject struct {
	r          *Runner
	org        string
	workflowID string
	t          *remediation.Target
	conn       cloud.Conn
}

// open returns the change of a target. The workflow's id is only needed to carry it out.
func (r *Runner) open(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (change, error) {
	s := subject{r: r, org: org, t: t}
	if t.Verb == rule.VerbSchedule {
		return &attaching{s}, nil
	}
	var err error
	if s.conn, err = r.Connect(ctx, org, a, t); err != nil {
		return nil, err
	}
	if t.Verb == rule.VerbStop {
		return &stopping{s}, nil
	}
	if !remediation.UsesActions(t.Verb) {
		return s.openChange()
	}
	scaler, ok := s.conn.(cloud.Autoscaler)
	if !ok {
		return nil, cloud.ErrUnsupported("groups of %s are not scaled", t.Provider)
	}
	return &sizing{s, scaler}, nil
}

// of returns the change of a workflow's target that is under way.
func (r *Runner) of(ctx context.Context, w *remediation.Workflow, i int) (change, error) {
	t := &w.Targets[i]
	a, err := r.Inventory.ReadAccount(ctx, w.Org, t.CloudAccountID)
	if err != nil {
		return nil, fmt.Errorf("read account %s: %w", t.CloudAccountID, err)
	}
	ch, err := r.open(ctx, w.Org, a, t)
	if err != nil {
		return nil, err
	}
	switch c := ch.(type) {
	case *attaching:
		c.workflowID = w.ID
	case *stopping:
		c.workflowID = w.ID
	case *sizing:
		c.workflowID = w.ID
	case *changing:
		c.workflowID, c.number = w.ID, i
	}
	return ch, nil
}

// releases returns the writes that release what the change of a target holds at this moment.
func releases(w *remediation.Workflow, i int) []table.Write {
	t := &w.Targets[i]
	undoes := t.State == remediation.Undoing && !t.UndoneAt.IsZero()
	claims := t.Verb == rule.VerbScale || !remediation.UsesActions(t.Verb)
	if claims && (t.State == remediation.Calling || undoes) {
		return []table.Write{inventory.ReleaseResource(w.Org, t.ResourceUID, w.ID)}
	}
	return nil
}

// isCloudError reports whether err is an answer of a cloud, or of the way there.
func isCloudError(err error) bool {
	_, is := errors.AsType[*cloud.Error](err)
	return is
}

// reasonOf returns the text of an error for the people who read the workflow.
func reasonOf(err error) string {
	if e, is := errors.AsType[*cloud.Error](err); is {
		return e.Error()
	}
	return fault.Message(err)
}
