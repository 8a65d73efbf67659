// Package dax calls the operations of DAX that Lamplighter uses (shared/cloud/aws/wire).
package dax

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "DAX", Agent: "dax", Host: "dax", Signing: "dax",
	Protocol: wire.JSON{Version: "1.1", Target: "AmazonDAXV3"},
}

// Client calls DAX in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeClusters calls DescribeClusters of DAX.
func (c *Client) DescribeClusters(ctx context.Context, in *DescribeClustersInput) (*DescribeClustersOutput, error) {
	op := wire.Operation{Name: "DescribeClusters"}
	return wire.Call[DescribeClustersOutput](ctx, c.wire, op, in)
}
