// Package workspaces calls the operations of WorkSpaces that Lamplighter uses (shared/cloud/aws/wire).
package workspaces

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "WorkSpaces", Agent: "workspaces", Host: "workspaces", Signing: "workspaces",
	Protocol: wire.JSON{Version: "1.1", Target: "WorkspacesService"},
}

// Client calls WorkSpaces in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeWorkspaces calls DescribeWorkspaces of WorkSpaces.
func (c *Client) DescribeWorkspaces(ctx context.Context, in *DescribeWorkspacesInput) (*DescribeWorkspacesOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeWorkspaces"}
	return wire.Call[DescribeWorkspacesOutput](ctx, c.wire, op, in)
}

// StartWorkspaces calls StartWorkspaces of WorkSpaces.
func (c *Client) StartWorkspaces(ctx context.Context, in *StartWorkspacesInput) (*StartWorkspacesOutput, error) {
	op := wire.Operation{Name: "StartWorkspaces"}
	return wire.Call[StartWorkspacesOutput](ctx, c.wire, op, in)
}

// StopWorkspaces calls StopWorkspaces of WorkSpaces.
func (c *Client) StopWorkspaces(ctx context.Context, in *StopWorkspacesInput) (*StopWorkspacesOutput, error) {
	op := wire.Operation{Name: "StopWorkspaces"}
	return wire.Call[StopWorkspacesOutput](ctx, c.wire, op, in)
}

// DescribeWorkspacesConnectionStatus calls DescribeWorkspacesConnectionStatus of WorkSpaces.
func (c *Client) DescribeWorkspacesConnectionStatus(ctx context.Context,
	in *DescribeWorkspacesConnectionStatusInput,
) (*DescribeWorkspacesConnectionStatusOutput, error) {
	op := wire.Operation{Name: "DescribeWorkspacesConnectionStatus"}
	return wire.Call[DescribeWorkspacesConnectionStatusOutput](ctx, c.wire, op, in)
}
