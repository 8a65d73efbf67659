// Package fsx calls the operations of FSx that Lamplighter uses (shared/cloud/aws/wire).
package fsx

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "FSx", Agent: "fsx", Host: "fsx", Signing: "fsx",
	Protocol: wire.JSON{Version: "1.1", Target: "AWSSimbaAPIService_v20180301"},
}

// Client calls FSx in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeFileSystems calls DescribeFileSystems of FSx.
func (c *Client) DescribeFileSystems(ctx context.Context,
	in *DescribeFileSystemsInput,
) (*DescribeFileSystemsOutput, error) {
	op := wire.Operation{Name: "DescribeFileSystems"}
	return wire.Call[DescribeFileSystemsOutput](ctx, c.wire, op, in)
}
