// Package redshift calls the operations of Redshift that Lamplighter uses (shared/cloud/aws/wire).
package redshift

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Redshift", Agent: "redshift", Host: "redshift", Signing: "redshift",
	Protocol: wire.Query{Version: "2012-12-01"},
}

// Client calls Redshift in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeClusters calls DescribeClusters of Redshift.
func (c *Client) DescribeClusters(ctx context.Context, in *DescribeClustersInput) (*DescribeClustersOutput, error) {
	op := wire.Operation{Name: "DescribeClusters"}
	return wire.Call[DescribeClustersOutput](ctx, c.wire, op, in)
}

// DescribeStorage calls DescribeStorage of Redshift.
func (c *Client) DescribeStorage(ctx context.Context, in *DescribeStorageInput) (*DescribeStorageOutput, error) {
	op := wire.Operation{Name: "DescribeStorage"}
	return wire.Call[DescribeStorageOutput](ctx, c.wire, op, in)
}

// PauseCluster calls PauseCluster of Redshift.
func (c *Client) PauseCluster(ctx context.Context, in *PauseClusterInput) (*PauseClusterOutput, error) {
	op := wire.Operation{Name: "PauseCluster"}
	return wire.Call[PauseClusterOutput](ctx, c.wire, op, in)
}

// ResumeCluster calls ResumeCluster of Redshift.
func (c *Client) ResumeCluster(ctx context.Context, in *ResumeClusterInput) (*ResumeClusterOutput, error) {
	op := wire.Operation{Name: "ResumeCluster"}
	return wire.Call[ResumeClusterOutput](ctx, c.wire, op, in)
}
