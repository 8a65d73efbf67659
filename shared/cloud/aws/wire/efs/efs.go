// Package efs calls the operations of EFS that Lamplighter uses (shared/cloud/aws/wire).
package efs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "EFS", Agent: "efs", Host: "elasticfilesystem", Signing: "elasticfilesystem",
	Protocol: wire.RESTJSON{},
}

// Client calls EFS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeFileSystems calls DescribeFileSystems of EFS.
func (c *Client) DescribeFileSystems(ctx context.Context,
	in *DescribeFileSystemsInput,
) (*DescribeFileSystemsOutput, error) {
	op := wire.Operation{Name: "DescribeFileSystems", Method: "GET", URI: "/2015-02-01/file-systems"}
	return wire.Call[DescribeFileSystemsOutput](ctx, c.wire, op, in)
}
