// Package ecs calls the operations of ECS that Lamplighter uses (shared/cloud/aws/wire).
package ecs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "ECS", Agent: "ecs", Host: "ecs", Signing: "ecs",
	Protocol: wire.JSON{Version: "1.1", Target: "AmazonEC2ContainerServiceV20141113"},
}

// Client calls ECS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeServices calls DescribeServices of ECS.
func (c *Client) DescribeServices(ctx context.Context, in *DescribeServicesInput) (*DescribeServicesOutput, error) {
	op := wire.Operation{Name: "DescribeServices"}
	return wire.Call[DescribeServicesOutput](ctx, c.wire, op, in)
}

// DescribeTaskDefinition calls DescribeTaskDefinition of ECS.
func (c *Client) DescribeTaskDefinition(ctx context.Context,
	in *DescribeTaskDefinitionInput,
) (*DescribeTaskDefinitionOutput, error) {
	op := wire.Operation{Name: "DescribeTaskDefinition"}
	return wire.Call[DescribeTaskDefinitionOutput](ctx, c.wire, op, in)
}

// ListClusters calls ListClusters of ECS.
func (c *Client) ListClusters(ctx context.Context, in *ListClustersInput) (*ListClustersOutput, error) {
	op := wire.Operation{Name: "ListClusters"}
	return wire.Call[ListClustersOutput](ctx, c.wire, op, in)
}

// ListServices calls ListServices of ECS.
func (c *Client) ListServices(ctx context.Context, in *ListServicesInput) (*ListServicesOutput, error) {
	op := wire.Operation{Name: "ListServices"}
	return wire.Call[ListServicesOutput](ctx, c.wire, op, in)
}

// UpdateService calls UpdateService of ECS.
func (c *Client) UpdateService(ctx context.Context, in *UpdateServiceInput) (*UpdateServiceOutput, error) {
	op := wire.Operation{Name: "UpdateService"}
	return wire.Call[UpdateServiceOutput](ctx, c.wire, op, in)
}

// DescribeClusters calls DescribeClusters of ECS.
func (c *Client) DescribeClusters(ctx context.Context, in *DescribeClustersInput) (*DescribeClustersOutput, error) {
	op := wire.Operation{Name: "DescribeClusters"}
	return wire.Call[DescribeClustersOutput](ctx, c.wire, op, in)
}
