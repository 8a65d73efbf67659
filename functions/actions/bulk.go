package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// BulkAction is the body of POST /actions/bulk: one of GroupID, ResourceIDs and Filter says what it is about.
type BulkAction struct {
	Type        cloud.Verb  `json:"type" enum:"start,stop"`
	GroupID     string      `json:"groupID,omitempty" minLength:"1" maxLength:"64" doc:"The resource group; or else resourceIDs, or filter"`
	ResourceIDs []string    `json:"resourceIDs,omitempty" minItems:"1" maxItems:"10000" doc:"Our ids of resources (res_…); one that comes twice counts once"`
	Filter      *BulkFilter `json:"filter,omitempty" doc:"The filters of GET /resources; at least one"`
	DryRun      bool        `json:"dryRun,omitempty" doc:"Tell what would be done, and do nothing"`
	Force       bool        `json:"force,omitempty" doc:"Act also on what overrides and active event readiness plans hold; it is put on record"`
}

// BulkSubmitted is the answer to POST /actions/bulk.
type BulkSubmitted struct {
	BulkActionID string               `json:"bulkActionID" doc:"That of the one under way on the group when this one joins it; empty in a dry run of a new one"`
	Status       execution.BulkStatus `json:"status" enum:"queued,planned" doc:"planned in a dry run" example:"queued"`
	Total        int                  `json:"total" doc:"Number of resources"`
	LeftOut      int                  `json:"leftOut" doc:"Number of resources that are not acted on, and that total does not count"`
	LeftOutOf    []execution.NotDone  `json:"leftOutResources" nullable:"false" doc:"The first 50 of these, and why"`
	Plan         *DryRun              `json:"plan" doc:"What would be done, in a dry run; else null"`
}

func (s *service) bulkOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "submitBulkAction", Method: http.MethodPost, Path: "/actions/bulk", Policy: acting, Scoped: true,
		Statuses: execute,
		Summary:  "Start or stop a resource group, or many resources",
		Description: "Queues one start or stop of every resource of a group, of up to 10,000 resources by their ids, " +
			"or of what a filter finds: one of " +
			"groupID, resourceIDs and filter. A start goes up the tiers of a group, and within a tier up the orders; " +
			"a stop goes exactly the other way. A tier begins when everything in the one before has reached its " +
			"state, failed or timed out. " +
			"Of a dynamic group, and of what a filter finds, only what can be started and stopped is acted on. Where " +
			"nothing is left to act " +
			"on the answer is 400. While a bulk action runs on a group, one of the same type joins it, which answers " +
			"with that one's id; " +
			"the opposite is 409, and so are both while a cancelled one ends. What a filter finds is found once, " +
			"when it is asked for. " +
			"A grant on teams or resources suffices for a group when it covers every resource of it; what joins the " +
			"group later, and is " +
			"not covered, is not acted on. Resources in accounts that are disconnected or excluded are left out, and " +
			"so are without force what an override holds in the other state, " +
			"and of a stop, with the reason event, the targets of active event readiness plans; leftOut counts them. " +
			"Where nothing else is left the answer is 409. Of resourceIDs one that the caller does not see is 404, " +
			"one that they may not act on 403; " +
			"a filter acts on what the caller may act on. With dryRun nothing is begun or stored, and plan tells " +
			"what would be asked of what, in which order.",
	}, s.submitBulk)
	rest.Handle(g, rest.Op{
		ID: "getLatestBulkAction", Method: http.MethodGet, Path: "/actions/bulk/latest", Policy: reading, Scoped: true,
		Statuses: read,
		Summary:  "Get the organization's most recent bulk action",
		Description: "404 when there was none. With a grant on teams or resources, the most recent one that acts on " +
			"nothing else, of the " +
			"newest 20 of the organization.",
	}, s.latestBulk)
	rest.Handle(g, rest.Op{
		ID: "getBulkAction", Method: http.MethodGet, Path: "/actions/bulk/{bulkActionID}", Policy: reading,
		Scoped: true, Statuses: read,
		Summary: "Get a bulk action",
		Description: "completed and failed grow until together they reach total. It is seen by who may see every " +
			"resource that it acts on.",
	}, s.getBulkAction)
	rest.Handle(g, rest.Op{
		ID: "cancelBulkAction", Method: http.MethodPost, Path: "/actions/bulk/{bulkActionID}/cancel", Policy: acting,
		Scoped: true, Statuses: execute,
		Summary: "Cancel a bulk action",
		Description: "Ends what it has not begun: these actions end as failed, with who cancelled them; what runs " +
			"goes on to its end. " +
			"Until then the group is not free for another one. One that has completed or was cancelled before is 409. " +
			"It takes the permission to act on every resource that it acts on.",
	}, s.cancelBulk)
}

func (s *service) submitBulk(ctx context.Context, in *struct{ Body BulkAction }) (BulkSubmitted, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.Body.GroupID})
	chosen, err := s.choose(ctx, in.Body)
	if err != nil {
		return BulkSubmitted{}, err
	}
	if in.Body.DryRun {
		audit.Omit(ctx)
		return s.dryRun(ctx, in.Body.Type, chosen)
	}
	b := s.newBulk(ctx, in.Body, chosen)
	noted := func(b execution.Bulk) audit.Change {
		return audit.Change{After: submission{b.WithoutInternals(), in.Body.ResourceIDs, in.Body.Filter}, Final: true}
	}
	audit.NoteChange(ctx, noted(b))
	if b, err = s.begin(ctx, b, chosen); err != nil {
		return BulkSubmitted{}, err
	}
	audit.NoteChange(ctx, noted(b)) // it may have joined another
	b = b.WithoutInternals()
	return BulkSubmitted{BulkActionID: b.ID, Status: execution.BulkQueued, Total: b.Total, LeftOut: b.LeftOut,
		LeftOutOf: b.LeftOutOf}, nil
}

// submission is what the audit row of a bulk action says: the record of the one that was begun or joined, and what was named.
type submission struct {
	execution.Bulk
	ResourceIDs []string    `json:"resourceIDs,omitempty"`
	Filter      *BulkFilter `json:"filter,omitempty"`
}

// newBulk returns a bulk action on what was chosen.
func (s *service) newBulk(ctx context.Context, asked BulkAction, chosen choice) execution.Bulk {
	now := s.p.Clock.Now()
	bulkID := id.New("bulk", now)
	b := execution.Bulk{
		ID: bulkID, GroupID: chosen.group.ID, Type: asked.Type, Status: execution.BulkQueued,
		Total: len(chosen.members), CreatedAt: now, Force: asked.Force,
		Plan: &execution.BulkPlan{
			ChangedBy:     execution.ChangedBy("bulk", identity.CallerFrom(ctx).Email, bulkID),
			StepDelay:     chosen.group.StepDelaySeconds,
			FailurePolicy: chosen.group.FailurePolicy, Scopes: chosen.scopes,
		},
	}
	b.LeaveOut(chosen.left)
	return b
}

// tries is how often a bulk action is begun anew because the one that held its group ended at the same moment.
const tries = 4

// begin begins b, or gives the one that is under way on its group and does the same.
func (s *service) begin(ctx context.Context, b execution.Bulk, chosen choice) (execution.Bulk, error) {
	over := ""
	for range tries {
		holder, err := s.createBulk(ctx, b, over, chosen)
		if err != nil || holder == "" {
			return b, err
		}
		running, err := s.joined(ctx, b.Type, b.GroupID, holder)
		if err == nil && running.ID != "" && b.Force && !running.Force {
			err = errWithoutForce(running)
		}
		if err != nil || running.ID != "" {
			return running, err
		}
		over = holder
	}
	return b, fault.New(fault.Conflict, "other bulk actions begin on resource group %s at the same moment: repeat", b.GroupID)
}

// joined returns the bulk action that holds a group, when it does the same; the zero one when it has ended. The opposite is refused.
func (s *service) joined(ctx context.Context, verb cloud.Verb, groupID, holder string) (execution.Bulk, error) {
	b, err := s.readBulk(ctx, holder)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && b.Over():
		return execution.Bulk{}, nil
	case err != nil:
		return b, err
	case b.Status == execution.BulkCancelled:
		return b, fault.New(fault.Conflict, "bulk action %s on resource group %s was cancelled, and what it had "+
			"begun is ending: wait until it has", b.ID, groupID)
	case b.Type != verb:
		return b, fault.New(fault.Conflict, "a %s of resource group %s is under way (%s): wait until it has ended, "+
			"or cancel it, then %s", b.Type, groupID, b.ID, verb)
	}
	return b, nil
}

// errWithoutForce refuses a forced bulk action that would join one without force, which leaves out what is held.
func errWithoutForce(b execution.Bulk) error {
	return fault.New(fault.Conflict,
		"a %s of resource group %s without force is under way (%s): wait until it has ended, or cancel it, then repeat",
		b.Type, b.GroupID, b.ID)
}

// createBulk commits the bulk action with its place among the pending work, and starts its machine. Where another one holds
// the group, which is not the one that is over, it gives that one's id and does nothing.
func (s *service) createBulk(ctx context.Context, b execution.Bulk, over string, chosen choice) (holder string,
	err error) {
	org := identity.CallerOrg(ctx)
	in := execution.BulkInput{Org: org, BulkID: b.ID}
	ws, err := bulkWrites(in, b, over, chosen)
	if err != nil {
		return "", err
	}
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix), ws...)
	if lost, refused := errors.AsType[*table.ConditionError](err); refused {
		return heldBy(lost, b)
	}
	if err != nil {
		return "", fmt.Errorf("create bulk action %s: %w", b.ID, err)
	}
	if err := s.p.Workflow.Start(ctx, execution.BulkMachine, b.ID, in); err != nil {
		return "", fmt.Errorf("start bulk action %s: %w", b.ID, err)
	}
	return "", nil
}

// bulkWrites returns the writes that begin b: on a group, its claim and that the group is there; else what it acts on.
func bulkWrites(in execution.BulkInput, b execution.Bulk, over string, chosen choice) ([]table.Write, error) {
	row, err := table.NewItem(execution.BulkKey(in.Org, b.ID), b)
	if err != nil {
		return nil, err
	}
	work, err := workqueue.AddWork(workqueue.Work{ID: b.ID, Org: in.Org, Machine: execution.BulkMachine,
		At: b.CreatedAt}, in)
	if err != nil {
		return nil, err
	}
	ws := []table.Write{table.Put(row, table.Absent()), work}
	if b.GroupID == "" {
		named, err := table.NewItem(execution.NamedKey(in.Org, b.ID), execution.Named{ResourceIDs: chosen.ids()})
		return append(ws, table.Put(named)), err
	}
	claim, err := execution.ClaimGroup(in.Org, b, over)
	return append(ws, claim, table.Check(inventory.GroupKey(in.Org, b.GroupID), table.Exists())), err
}

// heldBy returns from a refusal of bulkWrites who holds the group.
func heldBy(lost *table.ConditionError, b execution.Bulk) (string, error) {
	if held, yes := lost.Old(2); yes {
		claim, err := table.Decode[execution.GroupClaim](held)
		return claim.BulkActionID, err
	}
	return "", fault.New(fault.NotFound, "resource group %s was deleted meanwhile", b.GroupID)
}
