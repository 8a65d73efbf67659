// Package ecr calls the operations of ECR that Lamplighter uses (shared/cloud/aws/wire).
package ecr

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "ECR", Agent: "ecr", Host: "api.ecr", Signing: "ecr",
	Protocol: wire.JSON{Version: "1.1", Target: "AmazonEC2ContainerRegistry_V20150921"},
}

// Client calls ECR in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeImages calls DescribeImages of ECR.
func (c *Client) DescribeImages(ctx context.Context, in *DescribeImagesInput) (*DescribeImagesOutput, error) {
	op := wire.Operation{Name: "DescribeImages"}
	return wire.Call[DescribeImagesOutput](ctx, c.wire, op, in)
}

// DescribeRepositories calls DescribeRepositories of ECR.
func (c *Client) DescribeRepositories(ctx context.Context, in *DescribeRepositoriesInput) (*DescribeRepositoriesOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeRepositories"}
	return wire.Call[DescribeRepositoriesOutput](ctx, c.wire, op, in)
}

// GetLifecyclePolicy calls GetLifecyclePolicy of ECR.
func (c *Client) GetLifecyclePolicy(ctx context.Context, in *GetLifecyclePolicyInput) (*GetLifecyclePolicyOutput,
	error,
) {
	op := wire.Operation{Name: "GetLifecyclePolicy"}
	return wire.Call[GetLifecyclePolicyOutput](ctx, c.wire, op, in)
}

// GetRegistryScanningConfiguration calls GetRegistryScanningConfiguration of ECR.
func (c *Client) GetRegistryScanningConfiguration(ctx context.Context, in *GetRegistryScanningConfigurationInput) (
	*GetRegistryScanningConfigurationOutput, error,
) {
	op := wire.Operation{Name: "GetRegistryScanningConfiguration"}
	return wire.Call[GetRegistryScanningConfigurationOutput](ctx, c.wire, op, in)
}
