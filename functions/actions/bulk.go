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

// BulkAction is the body of POST /actions/bulk. Exactly one of GroupID, ResourceIDs and Filter selects its resources.
type BulkAction struct {
	Type        cloud.Verb  `json:"type" enum:"start,stop"`
	GroupID     string      `json:"groupID,omitempty" minLength:"1" maxLength:"64" doc:"Or else resourceIDs, or filter"`
	ResourceIDs []string    `json:"resourceIDs,omitempty" minItems:"1" maxItems:"10000" doc:"IDs of resources (res_…); duplicates count once"`
	Filter      *BulkFilter `json:"filter,omitempty" doc:"The filters of GET /resources; at least one"`
	DryRun      bool        `json:"dryRun,omitempty" doc:"Only return the plan, and do nothing"`
	Force       bool        `json:"force,omitempty" doc:"Act despite overrides and active event readiness plans; it is audited"`
}

// BulkSubmitted is the answer to POST /actions/bulk.
type BulkSubmitted struct {
	BulkActionID string               `json:"bulkActionID" doc:"The one under way on the group if this one joins it; empty in a dry run of a new one"`
	Status       execution.BulkStatus `json:"status" enum:"queued,planned" doc:"planned in a dry run" example:"queued"`
	Total        int                  `json:"total" doc:"Number of resources"`
	LeftOut      int                  `json:"leftOut" doc:"Number of skipped resources; total does not count them"`
	LeftOutOf    []execution.NotDone  `json:"leftOutResources" nullable:"false" doc:"The first 50 of these, and why"`
	Plan         *DryRun              `json:"plan" doc:"The plan of a dry run; else null"`
}

func (s *service) bulkOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "submitBulkAction", Method: http.MethodPost, Path: "/actions/bulk", Policy: acting, Scoped: true,
		Statuses: execute,
		Summary:  "Start or stop a resource group, or many resources",
		Description: "Queues one start or stop of every resource of a group, of up to 10,000 resources by their " +
			"ids, or of the resources that a filter finds. Send exactly one of groupID, resourceIDs and filter. A " +
			"start proceeds through a group's tiers upward, and within a tier through its orders upward; a stop " +
			"takes exactly the opposite way. A tier begins when every resource of the tier before has reached its " +
			"state, failed or timed out. In a dynamic group, and with a filter, resources that cannot be started " +
			"and stopped are skipped. Without a resource to act on the answer is 400. If a bulk action of the same " +
			"type runs on the group, the request joins it and the answer has its id; with the opposite type, or " +
			"while a cancelled one ends, the answer is 409. A filter is evaluated once, at the request. A grant on " +
			"teams or resources suffices for a group if it covers every resource of it; resources that join the " +
			"group later and are not covered are skipped. Resources in disconnected or excluded accounts are " +
			"skipped. So are, without force, resources that an override holds in the other state, and, for a stop, " +
			"targets of active event readiness plans (reason event); leftOut counts them all. If that leaves none, " +
			"the answer is 409. With resourceIDs, a resource that the caller may not see is 404, and one on which " +
			"the caller may not act 403; a filter finds only resources on which the caller may act. With dryRun " +
			"nothing is begun or stored, and plan lists the orders in sequence.",
	}, s.submitBulk)
	rest.Handle(g, rest.Op{
		ID: "getLatestBulkAction", Method: http.MethodGet, Path: "/actions/bulk/latest", Policy: reading, Scoped: true,
		Statuses: read,
		Summary:  "Get the organization's most recent bulk action",
		Description: "404 if there was none. A caller with a grant on teams or resources gets the most recent one, " +
			"of the newest 20 of the organization, that acts only on resources in it.",
	}, s.latestBulk)
	rest.Handle(g, rest.Op{
		ID: "listBulkActions", Method: http.MethodGet, Path: "/actions/bulk", Policy: reading, Scoped: true,
		Statuses: []int{http.StatusBadRequest},
		Summary:  "List bulk actions",
		Description: "The newest first, among the newest 10,000. GET /actions with bulk_action_id lists the actions " +
			"of one. A caller with a grant on teams or resources gets those, of the newest 20 of the organization, " +
			"that act only on resources in it.",
	}, s.listBulks)
	rest.Handle(g, rest.Op{
		ID: "getBulkAction", Method: http.MethodGet, Path: "/actions/bulk/{bulkActionID}", Policy: reading,
		Scoped: true, Statuses: read,
		Summary: "Get a bulk action",
		Description: "completed and failed grow until their sum reaches total. The caller must be allowed to see " +
			"every resource that it acts on.",
	}, s.getBulkAction)
	rest.Handle(g, rest.Op{
		ID: "cancelBulkAction", Method: http.MethodPost, Path: "/actions/bulk/{bulkActionID}/cancel", Policy: acting,
		Scoped: true, Statuses: execute,
		Summary: "Cancel a bulk action",
		Description: "Actions that have not begun end as failed, with the name of the person who cancelled them. " +
			"Actions that have begun continue to their end; until then the group is not free for another bulk " +
			"action. A bulk action that has completed or was cancelled before is 409. The caller must be allowed " +
			"to act on every resource that it acts on.",
	}, s.cancelBulk)
}

func (s *service) submitBulk(ctx context.Context, in *struct{ Body BulkAction }) (BulkSubmitted, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.Body.GroupID})
	chosen, err := s.chooseResources(ctx, in.Body)
	if err != nil {
		return BulkSubmitted{}, err
	}
	if in.Body.DryRun {
		audit.Omit(ctx)
		return s.planDryRun(ctx, in.Body.Type, chosen)
	}
	b := s.newBulk(ctx, in.Body, chosen)
	noted := func(b execution.Bulk) audit.Change {
		return audit.Change{After: submission{b.WithoutInternals(), in.Body.ResourceIDs, in.Body.Filter}, Final: true}
	}
	audit.NoteChange(ctx, noted(b))
	if b, err = s.beginBulk(ctx, b, chosen); err != nil {
		return BulkSubmitted{}, err
	}
	audit.NoteChange(ctx, noted(b)) // it may have joined another
	b = b.WithoutInternals()
	return BulkSubmitted{
		BulkActionID: b.ID, Status: execution.BulkQueued, Total: b.Total, LeftOut: b.LeftOut,
		LeftOutOf: b.LeftOutOf,
	}, nil
}

// submission is the audit row of a bulk action: the record of the bulk action that was begun or joined, and the
// request's selection.
type submission struct {
	execution.Bulk
	ResourceIDs []string    `json:"resourceIDs,omitempty"`
	Filter      *BulkFilter `json:"filter,omitempty"`
}

// newBulk returns a bulk action on the chosen resources.
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

// maxBeginTries is how often a bulk action is begun again because the one that held its group ended at the same
// moment.
const maxBeginTries = 4

// beginBulk begins b, or returns the bulk action of the same type that is under way on its group.
func (s *service) beginBulk(ctx context.Context, b execution.Bulk, chosen choice) (execution.Bulk, error) {
	over := ""
	for range maxBeginTries {
		holder, err := s.createBulk(ctx, b, over, chosen)
		if err != nil || holder == "" {
			return b, err
		}
		running, err := s.joinedBulk(ctx, b.Type, b.GroupID, holder)
		if err == nil && running.ID != "" && b.Force && !running.Force {
			err = errWithoutForce(running)
		}
		if err != nil || running.ID != "" {
			return running, err
		}
		over = holder
	}
	return b, fault.New(fault.Conflict,
		"other bulk actions begin on resource group %s at the same moment: try again", b.GroupID)
}

// joinedBulk returns the bulk action that holds a group if it has the same verb, or the zero bulk action if it has
// ended. The error is fault.Conflict if it has the opposite verb or is being cancelled.
func (s *service) joinedBulk(ctx context.Context, verb cloud.Verb, groupID, holder string) (execution.Bulk, error) {
	b, err := s.readBulk(ctx, holder)
	switch {
	case fault.Is(err, fault.NotFound) || err == nil && b.Over():
		return execution.Bulk{}, nil
	case err != nil:
		return b, err
	case b.Status == execution.BulkCancelled:
		return b, fault.New(fault.Conflict, "bulk action %s on resource group %s was cancelled, and its running "+
			"actions are ending: wait until they have ended", b.ID, groupID)
	case b.Type != verb:
		return b, fault.New(fault.Conflict, "a %s of resource group %s is under way (%s): wait until it has ended, "+
			"or cancel it, then %s", b.Type, groupID, b.ID, verb)
	}
	return b, nil
}

// errWithoutForce refuses a forced bulk action that would join one without force, which skips held resources.
func errWithoutForce(b execution.Bulk) error {
	return fault.New(fault.Conflict,
		"a %s of resource group %s without force is under way (%s): wait until it has ended, or cancel it, then repeat",
		b.Type, b.GroupID, b.ID)
}

// createBulk commits the bulk action and its pending work, and starts its machine. If another bulk action than over
// holds the group, createBulk returns its ID and does nothing.
func (s *service) createBulk(ctx context.Context, b execution.Bulk, over string, chosen choice) (holder string,
	err error,
) {
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

// bulkWrites returns the writes that begin b: on a group its claim and the check that the group exists, else the list
// of its resources.
func bulkWrites(in execution.BulkInput, b execution.Bulk, over string, chosen choice) ([]table.Write, error) {
	row, err := table.NewItem(execution.BulkKey(in.Org, b.ID), b)
	if err != nil {
		return nil, err
	}
	work, err := workqueue.AddWork(workqueue.Work{
		ID: b.ID, Org: in.Org, Machine: execution.BulkMachine,
		At: b.CreatedAt,
	}, in)
	if err != nil {
		return nil, err
	}
	ws := []table.Write{table.Put(row, table.Absent()), work}
	if b.GroupID == "" {
		named, err := table.NewItem(execution.NamedKey(in.Org, b.ID),
			execution.Named{ResourceIDs: chosen.resourceIDs()})
		return append(ws, table.Put(named)), err
	}
	claim, err := execution.ClaimGroup(in.Org, b, over)
	return append(ws, claim, table.Check(inventory.GroupKey(in.Org, b.GroupID), table.Exists())), err
}

// heldBy returns the ID of the bulk action that holds the group, from a refusal of bulkWrites.
func heldBy(lost *table.ConditionError, b execution.Bulk) (string, error) {
	if held, yes := lost.Old(2); yes {
		claim, err := table.Decode[execution.GroupClaim](held)
		return claim.BulkActionID, err
	}
	return "", fault.New(fault.NotFound, "resource group %s was deleted meanwhile", b.GroupID)
}
