// Package elasticache calls the operations of ElastiCache that Lamplighter uses (shared/cloud/aws/wire).
package elasticache

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "ElastiCache", Agent: "elasticache", Host: "elasticache", Signing: "elasticache",
	Protocol: wire.Query{Version: "2015-02-02"},
}

// Client calls ElastiCache in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeCacheClusters calls DescribeCacheClusters of ElastiCache.
func (c *Client) DescribeCacheClusters(ctx context.Context,
	in *DescribeCacheClustersInput,
) (*DescribeCacheClustersOutput, error) {
	op := wire.Operation{Name: "DescribeCacheClusters"}
	return wire.Call[DescribeCacheClustersOutput](ctx, c.wire, op, in)
}

// DescribeReplicationGroups calls DescribeReplicationGroups of ElastiCache.
func (c *Client) DescribeReplicationGroups(ctx context.Context,
	in *DescribeReplicationGroupsInput,
) (*DescribeReplicationGroupsOutput, error) {
	op := wire.Operation{Name: "DescribeReplicationGroups"}
	return wire.Call[DescribeReplicationGroupsOutput](ctx, c.wire, op, in)
}
