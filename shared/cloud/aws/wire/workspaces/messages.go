package workspaces

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeWorkspacesInput is the request of DescribeWorkspaces.
type DescribeWorkspacesInput struct {
	Limit        *int32   `json:"Limit,omitzero"`
	NextToken    *string  `json:"NextToken,omitzero"`
	WorkspaceIds []string `json:"WorkspaceIds,omitzero"`
}

// DescribeWorkspacesOutput is the response of DescribeWorkspaces.
type DescribeWorkspacesOutput struct {
	NextToken  *string     `json:"NextToken"`
	Workspaces []Workspace `json:"Workspaces"`
}

// StartWorkspacesInput is the request of StartWorkspaces.
type StartWorkspacesInput struct {
	StartWorkspaceRequests []StartRequest `json:"StartWorkspaceRequests,omitzero"`
}

// StartWorkspacesOutput is the response of StartWorkspaces.
type StartWorkspacesOutput struct {
	FailedRequests []FailedWorkspaceChangeRequest `json:"FailedRequests"`
}

// StopWorkspacesInput is the request of StopWorkspaces.
type StopWorkspacesInput struct {
	StopWorkspaceRequests []StopRequest `json:"StopWorkspaceRequests,omitzero"`
}

// StopWorkspacesOutput is the response of StopWorkspaces.
type StopWorkspacesOutput struct {
	FailedRequests []FailedWorkspaceChangeRequest `json:"FailedRequests"`
}

// Workspace is a part of responses.
type Workspace struct {
	ErrorMessage        *string              `json:"ErrorMessage"`
	State               WorkspaceState       `json:"State"`
	WorkspaceId         *string              `json:"WorkspaceId"`
	WorkspaceProperties *WorkspaceProperties `json:"WorkspaceProperties"`
}

// StartRequest is a part of requests.
type StartRequest struct {
	WorkspaceId *string `json:"WorkspaceId,omitzero"`
}

// FailedWorkspaceChangeRequest is a part of responses.
type FailedWorkspaceChangeRequest struct {
	ErrorCode    *string `json:"ErrorCode"`
	ErrorMessage *string `json:"ErrorMessage"`
	WorkspaceId  *string `json:"WorkspaceId"`
}

// StopRequest is a part of requests.
type StopRequest struct {
	WorkspaceId *string `json:"WorkspaceId,omitzero"`
}

// WorkspaceProperties is a part of responses.
type WorkspaceProperties struct {
	RunningMode RunningMode `json:"RunningMode"`
}

// RunningMode is a running mode in AWS's words.
type RunningMode string

// WorkspaceState is a workspace state in AWS's words.
type WorkspaceState string

// Values of RunningMode that Lamplighter knows.
const (
	RunningModeAlwaysOn RunningMode = "ALWAYS_ON"
)

// Values of WorkspaceState that Lamplighter knows.
const (
	WorkspaceStateAvailable   WorkspaceState = "AVAILABLE"
	WorkspaceStateMaintenance WorkspaceState = "MAINTENANCE"
	WorkspaceStatePending     WorkspaceState = "PENDING"
	WorkspaceStateRebooting   WorkspaceState = "REBOOTING"
	WorkspaceStateRebuilding  WorkspaceState = "REBUILDING"
	WorkspaceStateRestoring   WorkspaceState = "RESTORING"
	WorkspaceStateStarting    WorkspaceState = "STARTING"
	WorkspaceStateStopped     WorkspaceState = "STOPPED"
	WorkspaceStateStopping    WorkspaceState = "STOPPING"
	WorkspaceStateTerminated  WorkspaceState = "TERMINATED"
	WorkspaceStateTerminating WorkspaceState = "TERMINATING"
	WorkspaceStateUpdating    WorkspaceState = "UPDATING"
)

// DescribeWorkspacesConnectionStatusInput is the request of DescribeWorkspacesConnectionStatus.
type DescribeWorkspacesConnectionStatusInput struct {
	WorkspaceIds []string `json:"WorkspaceIds,omitzero"`
}

// DescribeWorkspacesConnectionStatusOutput is the response of DescribeWorkspacesConnectionStatus.
type DescribeWorkspacesConnectionStatusOutput struct {
	WorkspacesConnectionStatus []WorkspaceConnectionStatus `json:"WorkspacesConnectionStatus"`
}

// WorkspaceConnectionStatus is a part of responses.
type WorkspaceConnectionStatus struct {
	LastKnownUserConnectionTimestamp *wire.Time `json:"LastKnownUserConnectionTimestamp"`
	WorkspaceId                      *string    `json:"WorkspaceId"`
}
