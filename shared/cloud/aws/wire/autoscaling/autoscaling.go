// Package autoscaling calls the operations of Auto Scaling that Lamplighter uses (shared/cloud/aws/wire).
package autoscaling

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Auto Scaling", Agent: "autoscaling", Host: "autoscaling", Signing: "autoscaling",
	Protocol: wire.Query{Version: "2011-01-01"},
}

// Client calls Auto Scaling in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DeletePolicy calls DeletePolicy of Auto Scaling.
func (c *Client) DeletePolicy(ctx context.Context, in *DeletePolicyInput) (*DeletePolicyOutput, error) {
	op := wire.Operation{Name: "DeletePolicy", NoResult: true}
	return wire.Call[DeletePolicyOutput](ctx, c.wire, op, in)
}

// DescribeAutoScalingGroups calls DescribeAutoScalingGroups of Auto Scaling.
func (c *Client) DescribeAutoScalingGroups(ctx context.Context,
	in *DescribeAutoScalingGroupsInput,
) (*DescribeAutoScalingGroupsOutput, error) {
	op := wire.Operation{Name: "DescribeAutoScalingGroups"}
	return wire.Call[DescribeAutoScalingGroupsOutput](ctx, c.wire, op, in)
}

// DescribePolicies calls DescribePolicies of Auto Scaling.
func (c *Client) DescribePolicies(ctx context.Context, in *DescribePoliciesInput) (*DescribePoliciesOutput, error) {
	op := wire.Operation{Name: "DescribePolicies"}
	return wire.Call[DescribePoliciesOutput](ctx, c.wire, op, in)
}

// PutScalingPolicy calls PutScalingPolicy of Auto Scaling.
func (c *Client) PutScalingPolicy(ctx context.Context, in *PutScalingPolicyInput) (*PutScalingPolicyOutput, error) {
	op := wire.Operation{Name: "PutScalingPolicy"}
	return wire.Call[PutScalingPolicyOutput](ctx, c.wire, op, in)
}

// ResumeProcesses calls ResumeProcesses of Auto Scaling.
func (c *Client) ResumeProcesses(ctx context.Context, in *ResumeProcessesInput) (*ResumeProcessesOutput, error) {
	op := wire.Operation{Name: "ResumeProcesses", NoResult: true}
	return wire.Call[ResumeProcessesOutput](ctx, c.wire, op, in)
}

// SuspendProcesses calls SuspendProcesses of Auto Scaling.
func (c *Client) SuspendProcesses(ctx context.Context, in *SuspendProcessesInput) (*SuspendProcessesOutput, error) {
	op := wire.Operation{Name: "SuspendProcesses", NoResult: true}
	return wire.Call[SuspendProcessesOutput](ctx, c.wire, op, in)
}

// UpdateAutoScalingGroup calls UpdateAutoScalingGroup of Auto Scaling.
func (c *Client) UpdateAutoScalingGroup(ctx context.Context,
	in *UpdateAutoScalingGroupInput,
) (*UpdateAutoScalingGroupOutput, error) {
	op := wire.Operation{Name: "UpdateAutoScalingGroup", NoResult: true}
	return wire.Call[UpdateAutoScalingGroupOutput](ctx, c.wire, op, in)
}
