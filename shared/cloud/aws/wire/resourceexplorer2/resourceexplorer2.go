// Package resourceexplorer2 calls the operations of Resource Explorer 2 that Lamplighter uses (shared/cloud/aws/wire).
package resourceexplorer2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Resource Explorer 2", Agent: "resourceexplorer2", Host: "resource-explorer-2", Signing: "resource-explorer-2",
	Protocol: wire.RESTJSON{},
}

// Client calls Resource Explorer 2 in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// ListResources calls ListResources of Resource Explorer 2.
func (c *Client) ListResources(ctx context.Context, in *ListResourcesInput) (*ListResourcesOutput, error) {
	op := wire.Operation{Name: "ListResources", Method: "POST", URI: "/ListResources", Body: true}
	return wire.Call[ListResourcesOutput](ctx, c.wire, op, in)
}
