// Package costoptimizationhub calls the operations of Cost Optimization Hub that Lamplighter uses
// (shared/cloud/aws/wire).
package costoptimizationhub

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Cost Optimization Hub", Agent: "costoptimizationhub", Host: "cost-optimization-hub",
	Signing:  "cost-optimization-hub",
	Protocol: wire.JSON{Version: "1.0", Target: "CostOptimizationHubService"},
}

// Client calls Cost Optimization Hub in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// ListRecommendations calls ListRecommendations of Cost Optimization Hub.
func (c *Client) ListRecommendations(ctx context.Context, in *ListRecommendationsInput) (*ListRecommendationsOutput,
	error,
) {
	op := wire.Operation{Name: "ListRecommendations"}
	return wire.Call[ListRecommendationsOutput](ctx, c.wire, op, in)
}
