// Package applicationautoscaling calls the operations of Application Auto Scaling that Lamplighter uses
// (shared/cloud/aws/wire).
package applicationautoscaling

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Application Auto Scaling", Agent: "applicationautoscaling", Host: "application-autoscaling",
	Signing:  "application-autoscaling",
	Protocol: wire.JSON{Version: "1.1", Target: "AnyScaleFrontendService"},
}

// Client calls Application Auto Scaling in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DeleteScalingPolicy calls DeleteScalingPolicy of Application Auto Scaling.
func (c *Client) DeleteScalingPolicy(ctx context.Context, in *DeleteScalingPolicyInput) (*DeleteScalingPolicyOutput,
	error,
) {
	op := wire.Operation{Name: "DeleteScalingPolicy"}
	return wire.Call[DeleteScalingPolicyOutput](ctx, c.wire, op, in)
}

// DeregisterScalableTarget calls DeregisterScalableTarget of Application Auto Scaling.
func (c *Client) DeregisterScalableTarget(ctx context.Context,
	in *DeregisterScalableTargetInput,
) (*DeregisterScalableTargetOutput, error) {
	op := wire.Operation{Name: "DeregisterScalableTarget"}
	return wire.Call[DeregisterScalableTargetOutput](ctx, c.wire, op, in)
}

// DescribeScalableTargets calls DescribeScalableTargets of Application Auto Scaling.
func (c *Client) DescribeScalableTargets(ctx context.Context,
	in *DescribeScalableTargetsInput,
) (*DescribeScalableTargetsOutput, error) {
	op := wire.Operation{Name: "DescribeScalableTargets"}
	return wire.Call[DescribeScalableTargetsOutput](ctx, c.wire, op, in)
}

// DescribeScalingPolicies calls DescribeScalingPolicies of Application Auto Scaling.
func (c *Client) DescribeScalingPolicies(ctx context.Context,
	in *DescribeScalingPoliciesInput,
) (*DescribeScalingPoliciesOutput, error) {
	op := wire.Operation{Name: "DescribeScalingPolicies"}
	return wire.Call[DescribeScalingPoliciesOutput](ctx, c.wire, op, in)
}

// PutScalingPolicy calls PutScalingPolicy of Application Auto Scaling.
func (c *Client) PutScalingPolicy(ctx context.Context, in *PutScalingPolicyInput) (*PutScalingPolicyOutput, error) {
	op := wire.Operation{Name: "PutScalingPolicy"}
	return wire.Call[PutScalingPolicyOutput](ctx, c.wire, op, in)
}

// RegisterScalableTarget calls RegisterScalableTarget of Application Auto Scaling.
func (c *Client) RegisterScalableTarget(ctx context.Context,
	in *RegisterScalableTargetInput,
) (*RegisterScalableTargetOutput, error) {
	op := wire.Operation{Name: "RegisterScalableTarget"}
	return wire.Call[RegisterScalableTargetOutput](ctx, c.wire, op, in)
}
