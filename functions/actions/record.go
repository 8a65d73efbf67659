package actions

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
)

// Action is the client's view of one start or stop of one resource.
type Action struct {
	ID             string           `json:"id"`
	ResourceUID    string           `json:"resourceUID" doc:"Native provider identifier of the resource"`
	ResourceID     *string          `json:"resourceID" doc:"Our id of the resource; null if it is gone from the inventory"`
	ResourceName   *string          `json:"resourceName" doc:"Its name now; null if it is gone from the inventory"`
	ResourceType   string           `json:"resourceType"`
	Provider       string           `json:"provider"`
	CloudAccountID string           `json:"cloudAccountID"`
	Region         string           `json:"region"`
	Action         cloud.Verb       `json:"action" enum:"start,stop"`
	Reason         string           `json:"reason" doc:"Why it ran; a manual call yields manual"`
	Status         execution.Status `json:"status" enum:"pending,running,succeeded,failed"`
	Attempts       int              `json:"attempts" doc:"Tries against the provider; 0 when nothing had to be done"`
	BulkActionID   *string          `json:"bulkActionID" doc:"The bulk action that it is part of; null for none"`
	ChangedBy      string           `json:"changedBy" doc:"The cause, as in the state history"`
	Force          bool             `json:"force" doc:"Requested despite overrides and active event readiness plans"`
	ErrorMessage   *string          `json:"errorMessage" doc:"Populated only on failure, else null"`
	Logs           []execution.Log  `json:"logs" doc:"The execution log, oldest first"`
	CreatedAt      time.Time        `json:"createdAt"`
	StartedAt      *time.Time       `json:"startedAt" doc:"Null until it is begun"`
	CompletedAt    *time.Time       `json:"completedAt" doc:"Null until it has ended"`
}

func showAction(a execution.Action, names map[string]inventory.Name) Action {
	name := names[a.ResourceUID]
	return Action{
		ID: a.ID, ResourceUID: a.ResourceUID, ResourceType: a.ResourceType, Provider: a.Provider,
		ResourceID: rest.Optional(name.ID), ResourceName: rest.Optional(name.Name),
		CloudAccountID: a.CloudAccountID,
		Region:         a.Region, Action: a.Action, Reason: a.Reason, Status: a.Status, Attempts: a.Attempts,
		BulkActionID: rest.Optional(a.BulkActionID), ChangedBy: a.ChangedBy, Force: a.Force,
		ErrorMessage: rest.Optional(a.ErrorMessage),
		Logs:         append([]execution.Log{}, a.Logs...), CreatedAt: a.CreatedAt,
		StartedAt: rest.Optional(a.StartedAt), CompletedAt: rest.Optional(a.CompletedAt),
	}
}

// StateChange is the client's view of one item of the state history: a resource changed its state.
type StateChange struct {
	ID             string         `json:"id"`
	ResourceUID    string         `json:"resourceUid"`
	ResourceID     *string        `json:"resourceID" doc:"Our id of the resource; null if it is gone from the inventory"`
	ResourceName   *string        `json:"resourceName" doc:"Its name now; null if it is gone from the inventory"`
	State          string         `json:"state" doc:"Resulting state" example:"stopped"`
	ChangedAt      time.Time      `json:"changedAt"`
	ChangedBy      string         `json:"changedBy" doc:"schedule:<name>:<cronId>, manual:<email>, bulk:<email>:<bulkId>, override:<action> or override_expired:<action>; a colon or percent sign inside a part is percent-encoded"`
	ScheduleID     *string        `json:"scheduleId" doc:"The schedule that triggered it; null for none"`
	ExecutionState map[string]any `json:"executionState" doc:"Step-level status of multi-step transitions; empty for others"`
	ErrorMessage   *string        `json:"errorMessage" doc:"Only on failures, else null"`
	Force          bool           `json:"force" doc:"Forced despite overrides and active event readiness plans"`
}

func shownChange(c execution.StateChange, names map[string]inventory.Name) StateChange {
	name := names[c.ResourceUID]
	out := StateChange{
		ResourceID: rest.Optional(name.ID), ResourceName: rest.Optional(name.Name),
		ID: c.ID, ResourceUID: c.ResourceUID, State: c.State, ChangedAt: c.ChangedAt, ChangedBy: c.ChangedBy,
		ScheduleID: rest.Optional(c.ScheduleID), ExecutionState: c.ExecutionState,
		ErrorMessage: rest.Optional(c.ErrorMessage),
		Force:        c.Force,
	}
	if out.ExecutionState == nil {
		out.ExecutionState = map[string]any{}
	}
	return out
}

// showNamed returns a page with each item shown with the name of its resource.
func showNamed[T, U any](ctx context.Context, s *service, page rest.List[T], uidOf func(T) string,
	show func(T, map[string]inventory.Name) U,
) (rest.List[U], error) {
	uids := make([]string, len(page.Items))
	for i, v := range page.Items {
		uids[i] = uidOf(v)
	}
	names, err := s.inventory.ReadNames(ctx, identity.CallerOrg(ctx), uids)
	return rest.MapItems(page, func(v T) U { return show(v, names) }), err
}

// showOne returns an action with the name of its resource.
func (s *service) showOne(ctx context.Context, a execution.Action) (Action, error) {
	names, err := s.inventory.ReadNames(ctx, identity.CallerOrg(ctx), []string{a.ResourceUID})
	return showAction(a, names), err
}
