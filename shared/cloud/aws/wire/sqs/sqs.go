// Package sqs calls the operations of SQS that Lamplighter uses (shared/cloud/aws/wire).
package sqs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "SQS", Agent: "sqs", Host: "sqs", Signing: "sqs",
	Protocol: wire.JSON{Version: "1.0", Target: "AmazonSQS", QueryCompatible: true},
}

// Client calls SQS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetQueueAttributes calls GetQueueAttributes of SQS.
func (c *Client) GetQueueAttributes(ctx context.Context, in *GetQueueAttributesInput) (*GetQueueAttributesOutput,
	error,
) {
	op := wire.Operation{Name: "GetQueueAttributes"}
	return wire.Call[GetQueueAttributesOutput](ctx, c.wire, op, in)
}

// ListQueues calls ListQueues of SQS.
func (c *Client) ListQueues(ctx context.Context, in *ListQueuesInput) (*ListQueuesOutput, error) {
	op := wire.Operation{Name: "ListQueues"}
	return wire.Call[ListQueuesOutput](ctx, c.wire, op, in)
}
