// Package sagemaker calls the operations of SageMaker that Lamplighter uses (shared/cloud/aws/wire).
package sagemaker

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "SageMaker", Agent: "sagemaker", Host: "api.sagemaker", Signing: "sagemaker",
	Protocol: wire.JSON{Version: "1.1", Target: "SageMaker"},
}

// Client calls SageMaker in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeNotebookInstance calls DescribeNotebookInstance of SageMaker.
func (c *Client) DescribeNotebookInstance(ctx context.Context,
	in *DescribeNotebookInstanceInput,
) (*DescribeNotebookInstanceOutput, error) {
	op := wire.Operation{Name: "DescribeNotebookInstance"}
	return wire.Call[DescribeNotebookInstanceOutput](ctx, c.wire, op, in)
}

// ListNotebookInstances calls ListNotebookInstances of SageMaker.
func (c *Client) ListNotebookInstances(ctx context.Context,
	in *ListNotebookInstancesInput,
) (*ListNotebookInstancesOutput, error) {
	op := wire.Operation{Name: "ListNotebookInstances"}
	return wire.Call[ListNotebookInstancesOutput](ctx, c.wire, op, in)
}

// ListTags calls ListTags of SageMaker.
func (c *Client) ListTags(ctx context.Context, in *ListTagsInput) (*ListTagsOutput, error) {
	op := wire.Operation{Name: "ListTags"}
	return wire.Call[ListTagsOutput](ctx, c.wire, op, in)
}

// StartNotebookInstance calls StartNotebookInstance of SageMaker.
func (c *Client) StartNotebookInstance(ctx context.Context,
	in *StartNotebookInstanceInput,
) (*StartNotebookInstanceOutput, error) {
	op := wire.Operation{Name: "StartNotebookInstance", NoResult: true}
	return wire.Call[StartNotebookInstanceOutput](ctx, c.wire, op, in)
}

// StopNotebookInstance calls StopNotebookInstance of SageMaker.
func (c *Client) StopNotebookInstance(ctx context.Context, in *StopNotebookInstanceInput) (*StopNotebookInstanceOutput,
	error,
) {
	op := wire.Operation{Name: "StopNotebookInstance", NoResult: true}
	return wire.Call[StopNotebookInstanceOutput](ctx, c.wire, op, in)
}
