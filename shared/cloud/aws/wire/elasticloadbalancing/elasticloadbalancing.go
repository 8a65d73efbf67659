// Package elasticloadbalancing calls the operations of Elastic Load Balancing that Lamplighter uses
// (shared/cloud/aws/wire).
package elasticloadbalancing

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Elastic Load Balancing", Agent: "elasticloadbalancing", Host: "elasticloadbalancing",
	Signing:  "elasticloadbalancing",
	Protocol: wire.Query{Version: "2012-06-01"},
}

// Client calls Elastic Load Balancing in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeInstanceHealth calls DescribeInstanceHealth of Elastic Load Balancing.
func (c *Client) DescribeInstanceHealth(ctx context.Context,
	in *DescribeInstanceHealthInput,
) (*DescribeInstanceHealthOutput, error) {
	op := wire.Operation{Name: "DescribeInstanceHealth"}
	return wire.Call[DescribeInstanceHealthOutput](ctx, c.wire, op, in)
}

// DescribeLoadBalancerAttributes calls DescribeLoadBalancerAttributes of Elastic Load Balancing.
func (c *Client) DescribeLoadBalancerAttributes(ctx context.Context,
	in *DescribeLoadBalancerAttributesInput,
) (*DescribeLoadBalancerAttributesOutput, error) {
	op := wire.Operation{Name: "DescribeLoadBalancerAttributes"}
	return wire.Call[DescribeLoadBalancerAttributesOutput](ctx, c.wire, op, in)
}

// DescribeLoadBalancers calls DescribeLoadBalancers of Elastic Load Balancing.
func (c *Client) DescribeLoadBalancers(ctx context.Context,
	in *DescribeLoadBalancersInput,
) (*DescribeLoadBalancersOutput, error) {
	op := wire.Operation{Name: "DescribeLoadBalancers"}
	return wire.Call[DescribeLoadBalancersOutput](ctx, c.wire, op, in)
}
