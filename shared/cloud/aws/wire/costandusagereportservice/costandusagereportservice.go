// Package costandusagereportservice calls the operations of Cost and Usage Report Service that Lamplighter uses
// (shared/cloud/aws/wire).
package costandusagereportservice

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Cost and Usage Report Service", Agent: "costandusagereportservice", Host: "cur", Signing: "cur",
	Protocol: wire.JSON{Version: "1.1", Target: "AWSOrigamiServiceGatewayService"},
}

// Client calls Cost and Usage Report Service in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeReportDefinitions calls DescribeReportDefinitions of Cost and Usage Report Service.
func (c *Client) DescribeReportDefinitions(ctx context.Context,
	in *DescribeReportDefinitionsInput,
) (*DescribeReportDefinitionsOutput, error) {
	op := wire.Operation{Name: "DescribeReportDefinitions"}
	return wire.Call[DescribeReportDefinitionsOutput](ctx, c.wire, op, in)
}
