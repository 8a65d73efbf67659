package execution

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Machine and BulkMachine are the state machines that run actions. Their names are those of their files in
// statemachines/.
const (
	Machine     = "action"
	BulkMachine = "bulk-action"
)

// Request asks for one action. ResourceUID, Provider, ResourceType, CloudAccountID and Region must agree with the
// inventory; CloudAccountID may be our id of the account or its native one.
type Request struct {
	// ID is the id of the action; empty for a new one. A caller that stores the id before it submits may submit again
	// after a crash: the action is created once.
	ID             string
	Verb           cloud.Verb
	ResourceUID    string
	Provider       string
	ResourceType   string
	CloudAccountID string
	Region         string
	Reason         string
	ChangedBy      string
	Force          bool // neither overrides nor event readiness plans are against it
}

// RunInput is the input of the action machine, and of the executor's run task: the actions to run, or, for a bulk
// action, the chunk that lists them.
type RunInput struct {
	Org     string   `json:"org"`
	Actions []string `json:"actions,omitempty"`
	BulkID  string   `json:"bulkID,omitempty"`
	Chunk   string   `json:"chunk,omitempty"`
	Until   string   `json:"until"`
}

// Organisation returns the organization that the input belongs to.
func (in RunInput) Organisation() string { return in.Org }

// The phases that end a run: every action accepted by its provider (or ended), or every action ended.
const (
	UntilAccepted = "accepted"
	UntilSettled  = "settled"
)

// submission is one request on its way to an action.
type submission struct {
	p   *platform.Platform
	org string
	Request
}

// SubmitAction creates the action of r in the organization and starts its execution: one read, one transaction, one
// start. If an action of the same type is in flight on the resource, it returns that one. If an action of the opposite
// type waits for capacity, it ends that one first.
func SubmitAction(ctx context.Context, p *platform.Platform, org string, r Request) (Action, error) {
	s := submission{p, org, r}
	if a, there, err := s.earlier(ctx); err != nil || there {
		return a, err
	}
	res, keep, err := s.lookUp(ctx)
	if err != nil {
		return Action{}, err
	}
	if err := checkActionable(res, r.Verb); err != nil {
		return Action{}, err
	}
	if workflowHolds(res) {
		return Action{}, errHeldByWorkflow(s.Verb, res)
	}
	if res.ActionID != "" {
		free, err := s.supersede(ctx, res)
		if err != nil {
			return Action{}, err
		}
		if !free {
			return s.join(ctx, res)
		}
	}
	a := s.action(res, keep)
	in := RunInput{Org: org, Actions: []string{a.ID}, Until: UntilSettled}
	// before it is stored: the row goes with it
	audit.NoteChange(ctx, audit.Change{After: a.WithoutInternals(), Final: true})
	if err := s.create(ctx, a, in); err != nil {
		return s.lost(ctx, err)
	}
	if err := p.Workflow.Start(ctx, Machine, a.ID, in); err != nil {
		return Action{}, fmt.Errorf("start action %s: %w", a.ID, err)
	}
	return a, nil
}

// earlier returns the action that an earlier submission with the same ID has created, if there is one.
func (s submission) earlier(ctx context.Context) (a Action, there bool, err error) {
	if s.ID == "" {
		return a, false, nil
	}
	a, err = table.Read[Action](ctx, s.p.Table, ActionKey(s.org, s.ID))
	if fault.Is(err, fault.NotFound) {
		return a, false, nil
	}
	return a, err == nil, fault.Wrap("read action "+s.ID, err)
}

// workflowPrefix begins the ids of remediation workflows, which claim resources while they scale them.
const workflowPrefix = "rem_"

// workflowHolds reports whether a remediation workflow changes the resource at this moment.
func workflowHolds(res inventory.Resource) bool {
	return strings.HasPrefix(res.ActionID, workflowPrefix)
}

func errHeldByWorkflow(verb cloud.Verb, res inventory.Resource) error {
	return fault.New(fault.Conflict,
		"remediation workflow %s changes %s at this moment: wait until it has ended, then %s", res.ActionID, res.UID,
		verb)
}

func (s submission) action(res inventory.Resource, keep Retention) Action {
	now := s.p.Clock.Now()
	a := Action{
		ID: cmp.Or(s.ID, id.New("act", now)), ResourceUID: res.UID, ResourceType: res.Type, Provider: res.Provider,
		CloudAccountID: res.CloudAccountID, Region: res.Region, Action: s.Verb, Reason: s.Reason,
		Status: Pending, ChangedBy: s.ChangedBy, Force: s.Force, CreatedAt: now,
		Progress: &Progress{Claimed: true, Keep: keep},
	}
	a.AppendLog(now, "intent", "ok", string(s.Verb)+" asked for by "+s.ChangedBy+withForce(s.Force))
	return a
}

// create stores the action, its claim on the resource and its pending work in one transaction.
func (s submission) create(ctx context.Context, a Action, in RunInput) error {
	row, err := NewActionItem(s.org, a)
	if err != nil {
		return err
	}
	work, err := workqueue.AddWork(workqueue.Work{ID: a.ID, Org: s.org, Machine: Machine, At: a.CreatedAt}, in)
	if err != nil {
		return err
	}
	return s.p.Table.Transact(table.Within(ctx, workqueue.Prefix),
		inventory.ClaimResource(s.org, a.ResourceUID, a.ID, a.Action), table.Put(row, table.Absent()), work,
		CountItems(s.org, ItemCount{List: ActionList, Number: 1, Expires: row.Expires, ShardBy: a.ID}))
}

// lost returns the answer for a submission whose claim was refused: another action was first, or the resource is gone.
func (s submission) lost(ctx context.Context, err error) (Action, error) {
	failed, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		return Action{}, fmt.Errorf("create action: %w", err)
	}
	old, ok := failed.Old(0)
	if !ok || old.Data == nil {
		return Action{}, fault.New(
			fault.NotFound, "the resource is gone from the inventory; discover its account again")
	}
	res, err := table.Decode[inventory.Resource](old)
	if err != nil {
		return Action{}, err
	}
	return s.join(ctx, res)
}

// join returns the action in flight if it has the same type, and refuses the request if it has the opposite type.
func (s submission) join(ctx context.Context, res inventory.Resource) (Action, error) {
	if workflowHolds(res) {
		return Action{}, errHeldByWorkflow(s.Verb, res)
	}
	if res.ActionType != s.Verb {
		return Action{}, fault.New(fault.Conflict, "a %s of %s is in flight (%s): wait until it has ended, then %s",
			res.ActionType, res.UID, res.ActionID, s.Verb)
	}
	a, err := table.Read[Action](ctx, s.p.Table, ActionKey(s.org, res.ActionID))
	if err != nil {
		return Action{}, fmt.Errorf("read action %s in flight: %w", res.ActionID, err)
	}
	if s.Force && !a.Force && !a.IsUnderWay() {
		return Action{}, fault.New(fault.Conflict, "a %s of %s without force is in flight (%s): cancel it, or wait "+
			"until it has ended, then repeat",
			s.Verb, res.UID, a.ID)
	}
	return a, nil
}

// withForce returns the words that a forced action adds to its execution log.
func withForce(force bool) string {
	if force {
		return ", with force"
	}
	return ""
}
