// Package costexplorer calls the operations of Cost Explorer that Lamplighter uses (shared/cloud/aws/wire).
package costexplorer

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Cost Explorer", Agent: "costexplorer", Host: "ce", Signing: "ce",
	Protocol: wire.JSON{Version: "1.1", Target: "AWSInsightsIndexService"},
	Endpoint: endpoint,
}

// endpoint returns the host for a region. In the European sovereign cloud it is the one with both kinds of addresses.
func endpoint(region string) (host, signingRegion string) {
	if strings.HasPrefix(region, "eusc-") {
		return wire.GlobalDualStackHost("ce")(region)
	}
	return wire.GlobalHost("ce")(region)
}

// Client calls Cost Explorer in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetCostAndUsage calls GetCostAndUsage of Cost Explorer.
func (c *Client) GetCostAndUsage(ctx context.Context, in *GetCostAndUsageInput) (*GetCostAndUsageOutput, error) {
	op := wire.Operation{Name: "GetCostAndUsage"}
	return wire.Call[GetCostAndUsageOutput](ctx, c.wire, op, in)
}
