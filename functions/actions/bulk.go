package actions

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// BulkAction is the body of POST /actions/bulk.
type BulkAction struct {
	Type    cloud.Verb `json:"type" enum:"start,stop"`
	GroupID string     `json:"groupID" minLength:"1" maxLength:"64" doc:"The resource group"`
}

// BulkSubmitted is the answer to POST /actions/bulk.
type BulkSubmitted struct {
	BulkActionID string               `json:"bulkActionID"`
	Status       execution.BulkStatus `json:"status" example:"queued"`
	Total        int                  `json:"total" doc:"Number of resources"`
}

func (s *service) bulkOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "submitBulkAction", Method: http.MethodPost, Path: "/actions/bulk", Policy: acting, Scoped: true, Statuses: execute,
		Summary: "Start or stop a resource group",
		Description: "Queues one start or stop of every resource of the group. A start goes up the tiers, and within a tier up the orders; " +
			"a stop goes exactly the other way. A tier begins when everything in the one before has reached its state, failed or timed out. " +
			"Of a dynamic group only what can be started and stopped is acted on. A group without resources is 400. A grant on teams or " +
			"resources suffices when it covers every resource of the group; what joins the group later, and is not covered, is not acted on.",
	}, s.submitBulk)
	rest.Handle(g, rest.Op{
		ID: "getLatestBulkAction", Method: http.MethodGet, Path: "/actions/bulk/latest", Policy: reading, Scoped: true, Statuses: read,
		Summary: "Get the organization's most recent bulk action", Description: "404 when there was none. With a grant on teams or resources, the most recent one that acts on nothing else, of the " +
			"newest 20 of the organization.",
	}, s.latestBulk)
	rest.Handle(g, rest.Op{
		ID: "getBulkAction", Method: http.MethodGet, Path: "/actions/bulk/{bulkActionID}", Policy: reading, Scoped: true, Statuses: read,
		Summary: "Get a bulk action", Description: "completed and failed grow until together they reach total. It is seen by who may see every resource that it acts on.",
	}, s.bulk)
}

func (s *service) submitBulk(ctx context.Context, in *struct{ Body BulkAction }) (BulkSubmitted, error) {
	c := identity.From(ctx)
	audit.Note(ctx, audit.Change{Target: in.Body.GroupID})
	scopes, err := s.covered(ctx, in.Body.GroupID)
	if err != nil {
		return BulkSubmitted{}, err
	}
	group, members, err := s.group(ctx, c.Org, in.Body.GroupID, scopes)
	if err != nil {
		return BulkSubmitted{}, err
	}
	now := s.p.Clock.Now()
	bulkID := id.New("bulk", now)
	b := execution.Bulk{
		ID: bulkID, GroupID: group.ID, Type: in.Body.Type, Status: execution.BulkQueued, Total: len(members), CreatedAt: now,
		Plan: &execution.BulkPlan{
			ChangedBy: execution.ChangedBy("bulk", c.Email, bulkID), StepDelay: group.StepDelaySeconds, FailurePolicy: group.FailurePolicy,
			Scopes: scopes,
		},
	}
	if err := s.createBulk(ctx, c.Org, b); err != nil {
		return BulkSubmitted{}, err
	}
	return BulkSubmitted{BulkActionID: b.ID, Status: b.Status, Total: b.Total}, nil
}

// covered gives the scopes in which the caller may act, nil for all; a group that they do not see is missing to them.
func (s *service) covered(ctx context.Context, groupID string) (*grant.Scopes, error) {
	c := identity.From(ctx)
	may, sees := c.Scopes(acting), c.Scopes(grouping)
	if may.All {
		return nil, nil
	}
	if sees.All || !id.Valid("grp", groupID) {
		return &may, nil
	}
	parts, err := s.inventory.Parts(ctx, c.Org, sees, groupID)
	if err == nil && len(parts) == 0 {
		err = noGroup(groupID)
	}
	return &may, err
}

func noGroup(groupID string) error { return fault.New(fault.NotFound, "no resource group %q", groupID) }

// group reads a group and its members, and refuses one that has none, or one that lies outside of scopes.
func (s *service) group(ctx context.Context, org, groupID string, scopes *grant.Scopes) (inventory.Group, []inventory.Member, error) {
	if !id.Valid("grp", groupID) {
		return inventory.Group{}, nil, noGroup(groupID)
	}
	group, members, err := execution.Members(ctx, s.inventory, org, groupID)
	switch {
	case fault.Is(err, fault.NotFound):
		return group, nil, noGroup(groupID)
	case err != nil:
		return group, nil, err
	case len(members) == 0:
		return group, nil, fault.New(fault.Invalid, "resource group %s (%s) has no resources that can be acted on: add some first", group.ID, group.Name)
	}
	return group, members, s.cover(ctx, org, members, scopes)
}

// cover refuses members that do not all lie in scopes.
func (s *service) cover(ctx context.Context, org string, members []inventory.Member, scopes *grant.Scopes) error {
	if scopes == nil {
		return nil
	}
	may, err := s.inventory.Reach(ctx, org, *scopes)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !may[0].HasUID(m.UID) {
			return fault.New(fault.Denied, "permission denied: %s is needed on every resource of the group", acting)
		}
	}
	return nil
}

// createBulk commits the bulk action with its place among the pending work, and starts its machine.
func (s *service) createBulk(ctx context.Context, org string, b execution.Bulk) error {
	row, err := table.Row(execution.BulkKey(org, b.ID), b)
	if err != nil {
		return err
	}
	in := execution.BulkInput{Org: org, BulkID: b.ID}
	work, err := workqueue.Add(workqueue.Work{ID: b.ID, Org: org, Machine: execution.BulkMachine, At: b.CreatedAt}, in)
	if err != nil {
		return err
	}
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix),
		table.Check(inventory.GroupKey(org, b.GroupID), table.Exists()), table.Put(row, table.Absent()), work)
	if _, gone := errors.AsType[*table.ConditionError](err); gone {
		return fault.New(fault.NotFound, "resource group %s was deleted meanwhile", b.GroupID)
	}
	if err != nil {
		return fmt.Errorf("create bulk action %s: %w", b.ID, err)
	}
	if err := s.p.Workflow.Start(ctx, execution.BulkMachine, b.ID, in); err != nil {
		return fmt.Errorf("start bulk action %s: %w", b.ID, err)
	}
	return nil
}
