package actions

import (
	"context"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// ActionPath names an action in a path. It is exported because the framework ignores unexported embedded structs.
type ActionPath struct {
	ActionID string `path:"actionID" maxLength:"64" doc:"The action"`
}

func (s *service) actionOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "getAction", Method: http.MethodGet, Path: "/actions/{actionID}", Policy: reading, Scoped: true,
		Statuses: read,
		Summary:  "Get an action",
		Description: "The action with its execution log. It is seen by who may see its resource; when that has " +
			"left the inventory, by who may see the whole organization.",
	}, func(ctx context.Context, in *ActionPath) (Action, error) {
		a, err := s.visibleAction(ctx, in.ActionID)
		if err != nil {
			return Action{}, err
		}
		return s.showOne(ctx, a)
	})
	rest.Handle(g, rest.Op{
		ID: "listActionLogs", Method: http.MethodGet, Path: "/actions/{actionID}/logs", Policy: reading, Scoped: true,
		Statuses: read,
		Summary:  "Get the execution log of an action", Description: "Oldest line first; at most 50 lines are kept.",
	}, s.listLogs)
	rest.Handle(g, rest.Op{
		ID: "listActions", Method: http.MethodGet, Path: "/actions", Policy: reading, Scoped: true, Statuses: lists,
		Summary: "List actions",
		Description: "Newest first. Without a filter every action can be reached. A filter looks at the newest " +
			"10,000 actions before to (and after from): narrow the time to look further back. A grant on teams or " +
			"resources is such a filter.",
	}, s.listActions)
}

// visibleAction reads an action on a resource that the caller may see.
func (s *service) visibleAction(ctx context.Context, actionID string) (execution.Action, error) {
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return execution.Action{}, err
	}
	a, err := s.readAction(ctx, actionID)
	if err == nil && !reach[0].HasUID(a.ResourceUID) {
		return execution.Action{}, missingAction(actionID)
	}
	return a, err
}

func missingAction(actionID string) error { return fault.New(fault.NotFound, "no action %q", actionID) }

// readAction reads an action of the caller's organization.
func (s *service) readAction(ctx context.Context, actionID string) (execution.Action, error) {
	if !id.IsValid("act", actionID) {
		return execution.Action{}, missingAction(actionID)
	}
	a, err := table.Read[execution.Action](ctx, s.p.Table, execution.ActionKey(identity.CallerOrg(ctx), actionID))
	if fault.Is(err, fault.NotFound) {
		return a, missingAction(actionID)
	}
	if err != nil {
		return a, fmt.Errorf("read action %s: %w", actionID, err)
	}
	return a, nil
}

func (s *service) listLogs(ctx context.Context, in *struct {
	// a field, because unexported embedded structs are not bound
	ActionID string `path:"actionID" maxLength:"64" doc:"The action"`
	rest.Page
},
) (rest.List[execution.Log], error) {
	a, err := s.visibleAction(ctx, in.ActionID)
	if err != nil {
		return rest.List[execution.Log]{}, err
	}
	return rest.PageOf(a.Logs, in.Page), nil
}

// cancelAction ends an action that has not begun, or that waits for capacity.
func (s *service) cancelAction(ctx context.Context, in *ActionPath) (Action, error) {
	a, err := s.cancellableAction(ctx, in.ActionID)
	if err != nil {
		return Action{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: a.WithoutInternals()})
	c := identity.CallerFrom(ctx)
	if a.Status == execution.Pending || a.Idle {
		reason := "cancelled by " + c.Email
		err = execution.SettleActions(ctx, s.p.Table, c.Org, []execution.Outcome{{
			Action: a, Status: execution.Failed, Message: reason, Unstarted: true, At: s.p.Clock.Now(),
		}})
		if err != nil {
			return Action{}, err
		}
		if a, err = s.readAction(ctx, in.ActionID); err != nil {
			return Action{}, err
		}
		if a.ErrorMessage == reason {
			return s.showOne(ctx, a)
		}
	}
	return Action{}, fault.New(fault.Conflict, "action %s is %s: only one that is pending, or waits for capacity, "+
		"can be cancelled", a.ID, a.Status)
}

// cancellableAction reads an action that the caller may cancel.
func (s *service) cancellableAction(ctx context.Context, actionID string) (execution.Action, error) {
	reach, err := s.resourceSets(ctx, acting, reading)
	if err != nil {
		return execution.Action{}, err
	}
	a, err := s.readAction(ctx, actionID)
	if err != nil {
		return a, err
	}
	return a, checkMayAct(reach[0], reach[1], a.ResourceUID, missingAction(actionID))
}
