// Package cloudwatchlogs calls the operations of CloudWatch Logs that Lamplighter uses (shared/cloud/aws/wire).
package cloudwatchlogs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "CloudWatch Logs", Agent: "cloudwatchlogs", Host: "logs", Signing: "logs",
	Protocol: wire.JSON{Version: "1.1", Target: "Logs_20140328"},
}

// Client calls CloudWatch Logs in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeLogGroups calls DescribeLogGroups of CloudWatch Logs.
func (c *Client) DescribeLogGroups(ctx context.Context,
	in *DescribeLogGroupsInput,
) (*DescribeLogGroupsOutput, error) {
	op := wire.Operation{Name: "DescribeLogGroups"}
	return wire.Call[DescribeLogGroupsOutput](ctx, c.wire, op, in)
}
