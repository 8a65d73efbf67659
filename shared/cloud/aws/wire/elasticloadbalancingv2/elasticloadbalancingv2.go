// Package elasticloadbalancingv2 calls the operations of Elastic Load Balancing v2 that Lamplighter uses
// (shared/cloud/aws/wire).
package elasticloadbalancingv2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Elastic Load Balancing v2", Agent: "elasticloadbalancingv2", Host: "elasticloadbalancing",
	Signing:  "elasticloadbalancing",
	Protocol: wire.Query{Version: "2015-12-01"},
}

// Client calls Elastic Load Balancing v2 in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeListeners calls DescribeListeners of Elastic Load Balancing v2.
func (c *Client) DescribeListeners(ctx context.Context, in *DescribeListenersInput) (*DescribeListenersOutput, error) {
	op := wire.Operation{Name: "DescribeListeners"}
	return wire.Call[DescribeListenersOutput](ctx, c.wire, op, in)
}

// DescribeLoadBalancerAttributes calls DescribeLoadBalancerAttributes of Elastic Load Balancing v2.
func (c *Client) DescribeLoadBalancerAttributes(ctx context.Context,
	in *DescribeLoadBalancerAttributesInput,
) (*DescribeLoadBalancerAttributesOutput, error) {
	op := wire.Operation{Name: "DescribeLoadBalancerAttributes"}
	return wire.Call[DescribeLoadBalancerAttributesOutput](ctx, c.wire, op, in)
}

// DescribeLoadBalancers calls DescribeLoadBalancers of Elastic Load Balancing v2.
func (c *Client) DescribeLoadBalancers(ctx context.Context,
	in *DescribeLoadBalancersInput,
) (*DescribeLoadBalancersOutput, error) {
	op := wire.Operation{Name: "DescribeLoadBalancers"}
	return wire.Call[DescribeLoadBalancersOutput](ctx, c.wire, op, in)
}

// DescribeTargetGroups calls DescribeTargetGroups of Elastic Load Balancing v2.
func (c *Client) DescribeTargetGroups(ctx context.Context, in *DescribeTargetGroupsInput) (*DescribeTargetGroupsOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeTargetGroups"}
	return wire.Call[DescribeTargetGroupsOutput](ctx, c.wire, op, in)
}

// DescribeTargetHealth calls DescribeTargetHealth of Elastic Load Balancing v2.
func (c *Client) DescribeTargetHealth(ctx context.Context, in *DescribeTargetHealthInput) (*DescribeTargetHealthOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeTargetHealth"}
	return wire.Call[DescribeTargetHealthOutput](ctx, c.wire, op, in)
}
