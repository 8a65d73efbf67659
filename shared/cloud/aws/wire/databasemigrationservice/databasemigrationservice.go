// Package databasemigrationservice calls the operations of DMS that Lamplighter uses (shared/cloud/aws/wire).
package databasemigrationservice

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Database Migration Service", Agent: "databasemigrationservice", Host: "dms", Signing: "dms",
	Protocol: wire.JSON{Version: "1.1", Target: "AmazonDMSv20160101"},
}

// Client calls DMS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeReplicationInstances calls DescribeReplicationInstances of DMS.
func (c *Client) DescribeReplicationInstances(ctx context.Context,
	in *DescribeReplicationInstancesInput,
) (*DescribeReplicationInstancesOutput, error) {
	op := wire.Operation{Name: "DescribeReplicationInstances"}
	return wire.Call[DescribeReplicationInstancesOutput](ctx, c.wire, op, in)
}

// DescribeReplicationTasks calls DescribeReplicationTasks of DMS.
func (c *Client) DescribeReplicationTasks(ctx context.Context,
	in *DescribeReplicationTasksInput,
) (*DescribeReplicationTasksOutput, error) {
	op := wire.Operation{Name: "DescribeReplicationTasks"}
	return wire.Call[DescribeReplicationTasksOutput](ctx, c.wire, op, in)
}
