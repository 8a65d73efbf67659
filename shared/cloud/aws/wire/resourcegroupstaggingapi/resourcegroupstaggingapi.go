// Package resourcegroupstaggingapi calls the operations of Resource Groups Tagging API that Lamplighter uses
// (shared/cloud/aws/wire).
package resourcegroupstaggingapi

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Resource Groups Tagging API", Agent: "resourcegroupstaggingapi", Host: "tagging", Signing: "tagging",
	Protocol: wire.JSON{Version: "1.1", Target: "ResourceGroupsTaggingAPI_20170126"},
}

// Client calls Resource Groups Tagging API in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetResources calls GetResources of Resource Groups Tagging API.
func (c *Client) GetResources(ctx context.Context, in *GetResourcesInput) (*GetResourcesOutput, error) {
	op := wire.Operation{Name: "GetResources"}
	return wire.Call[GetResourcesOutput](ctx, c.wire, op, in)
}
