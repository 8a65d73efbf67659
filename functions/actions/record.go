package actions

import (
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
)

// Action is the client's view of one start or stop of one resource.
type Action struct {
	ID             string           `json:"id"`
	ResourceUID    string           `json:"resourceUID" doc:"Native provider identifier of the resource"`
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

func showAction(a execution.Action) Action {
	return Action{
		ID: a.ID, ResourceUID: a.ResourceUID, ResourceType: a.ResourceType, Provider: a.Provider,
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
	State          string         `json:"state" doc:"Resulting state" example:"stopped"`
	ChangedAt      time.Time      `json:"changedAt"`
	ChangedBy      string         `json:"changedBy" doc:"schedule:<name>:<cronId>, manual:<email>, bulk:<email>:<bulkId>, override:<action> or override_expired:<action>; a colon or percent sign inside a part is percent-encoded"`
	ScheduleID     *string        `json:"scheduleId" doc:"The schedule that triggered it; null for none"`
	ExecutionState map[string]any `json:"executionState" doc:"Step-level status of multi-step transitions; empty for others"`
	ErrorMessage   *string        `json:"errorMessage" doc:"Only on failures, else null"`
	Force          bool           `json:"force" doc:"Forced despite overrides and active event readiness plans"`
}

func shownChange(c execution.StateChange) StateChange {
	out := StateChange{
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
