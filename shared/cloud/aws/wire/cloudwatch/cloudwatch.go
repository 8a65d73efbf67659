// Package cloudwatch calls the operations of CloudWatch that Lamplighter uses (shared/cloud/aws/wire).
package cloudwatch

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "CloudWatch", Agent: "cloudwatch", Host: "monitoring", Signing: "monitoring",
	Protocol: wire.Query{Version: "2010-08-01"},
}

// Client calls CloudWatch in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetMetricData calls GetMetricData of CloudWatch.
func (c *Client) GetMetricData(ctx context.Context, in *GetMetricDataInput) (*GetMetricDataOutput, error) {
	op := wire.Operation{Name: "GetMetricData"}
	return wire.Call[GetMetricDataOutput](ctx, c.wire, op, in)
}

// DescribeAlarms calls DescribeAlarms of CloudWatch.
func (c *Client) DescribeAlarms(ctx context.Context, in *DescribeAlarmsInput) (*DescribeAlarmsOutput, error) {
	op := wire.Operation{Name: "DescribeAlarms"}
	return wire.Call[DescribeAlarmsOutput](ctx, c.wire, op, in)
}
