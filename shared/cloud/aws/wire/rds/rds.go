// Package rds calls the operations of RDS that Lamplighter uses (shared/cloud/aws/wire).
package rds

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "RDS", Agent: "rds", Host: "rds", Signing: "rds",
	Protocol: wire.Query{Version: "2014-10-31"},
}

// Client calls RDS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeBlueGreenDeployments calls DescribeBlueGreenDeployments of RDS.
func (c *Client) DescribeBlueGreenDeployments(ctx context.Context,
	in *DescribeBlueGreenDeploymentsInput,
) (*DescribeBlueGreenDeploymentsOutput, error) {
	op := wire.Operation{Name: "DescribeBlueGreenDeployments"}
	return wire.Call[DescribeBlueGreenDeploymentsOutput](ctx, c.wire, op, in)
}

// DescribeDBClusters calls DescribeDBClusters of RDS.
func (c *Client) DescribeDBClusters(ctx context.Context, in *DescribeDBClustersInput) (*DescribeDBClustersOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeDBClusters"}
	return wire.Call[DescribeDBClustersOutput](ctx, c.wire, op, in)
}

// DescribeDBInstances calls DescribeDBInstances of RDS.
func (c *Client) DescribeDBInstances(ctx context.Context, in *DescribeDBInstancesInput) (*DescribeDBInstancesOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeDBInstances"}
	return wire.Call[DescribeDBInstancesOutput](ctx, c.wire, op, in)
}

// DescribeDBMajorEngineVersions calls DescribeDBMajorEngineVersions of RDS.
func (c *Client) DescribeDBMajorEngineVersions(ctx context.Context,
	in *DescribeDBMajorEngineVersionsInput,
) (*DescribeDBMajorEngineVersionsOutput, error) {
	op := wire.Operation{Name: "DescribeDBMajorEngineVersions"}
	return wire.Call[DescribeDBMajorEngineVersionsOutput](ctx, c.wire, op, in)
}

// StartDBCluster calls StartDBCluster of RDS.
func (c *Client) StartDBCluster(ctx context.Context, in *StartDBClusterInput) (*StartDBClusterOutput, error) {
	op := wire.Operation{Name: "StartDBCluster"}
	return wire.Call[StartDBClusterOutput](ctx, c.wire, op, in)
}

// StartDBInstance calls StartDBInstance of RDS.
func (c *Client) StartDBInstance(ctx context.Context, in *StartDBInstanceInput) (*StartDBInstanceOutput, error) {
	op := wire.Operation{Name: "StartDBInstance"}
	return wire.Call[StartDBInstanceOutput](ctx, c.wire, op, in)
}

// StopDBCluster calls StopDBCluster of RDS.
func (c *Client) StopDBCluster(ctx context.Context, in *StopDBClusterInput) (*StopDBClusterOutput, error) {
	op := wire.Operation{Name: "StopDBCluster"}
	return wire.Call[StopDBClusterOutput](ctx, c.wire, op, in)
}

// StopDBInstance calls StopDBInstance of RDS.
func (c *Client) StopDBInstance(ctx context.Context, in *StopDBInstanceInput) (*StopDBInstanceOutput, error) {
	op := wire.Operation{Name: "StopDBInstance"}
	return wire.Call[StopDBInstanceOutput](ctx, c.wire, op, in)
}

// DescribeDBSnapshots calls DescribeDBSnapshots of RDS.
func (c *Client) DescribeDBSnapshots(ctx context.Context,
	in *DescribeDBSnapshotsInput,
) (*DescribeDBSnapshotsOutput, error) {
	op := wire.Operation{Name: "DescribeDBSnapshots"}
	return wire.Call[DescribeDBSnapshotsOutput](ctx, c.wire, op, in)
}

// ModifyDBInstance calls ModifyDBInstance of RDS.
func (c *Client) ModifyDBInstance(ctx context.Context, in *ModifyDBInstanceInput) (*ModifyDBInstanceOutput, error) {
	op := wire.Operation{Name: "ModifyDBInstance"}
	return wire.Call[ModifyDBInstanceOutput](ctx, c.wire, op, in)
}
