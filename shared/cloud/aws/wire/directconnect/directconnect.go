// Package directconnect calls the operations of Direct Connect that Lamplighter uses (shared/cloud/aws/wire).
package directconnect

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Direct Connect", Agent: "directconnect", Host: "directconnect", Signing: "directconnect",
	Protocol: wire.JSON{Version: "1.1", Target: "OvertureService"},
}

// Client calls Direct Connect in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeConnections calls DescribeConnections of Direct Connect.
func (c *Client) DescribeConnections(ctx context.Context,
	in *DescribeConnectionsInput,
) (*DescribeConnectionsOutput, error) {
	op := wire.Operation{Name: "DescribeConnections"}
	return wire.Call[DescribeConnectionsOutput](ctx, c.wire, op, in)
}

// DescribeVirtualInterfaces calls DescribeVirtualInterfaces of Direct Connect.
func (c *Client) DescribeVirtualInterfaces(ctx context.Context,
	in *DescribeVirtualInterfacesInput,
) (*DescribeVirtualInterfacesOutput, error) {
	op := wire.Operation{Name: "DescribeVirtualInterfaces"}
	return wire.Call[DescribeVirtualInterfacesOutput](ctx, c.wire, op, in)
}
