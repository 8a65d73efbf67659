// Package lightsail calls the operations of Lightsail that Lamplighter uses (shared/cloud/aws/wire).
package lightsail

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Lightsail", Agent: "lightsail", Host: "lightsail", Signing: "lightsail",
	Protocol: wire.JSON{Version: "1.1", Target: "Lightsail_20161128"},
}

// Client calls Lightsail in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetInstances calls GetInstances of Lightsail.
func (c *Client) GetInstances(ctx context.Context, in *GetInstancesInput) (*GetInstancesOutput, error) {
	op := wire.Operation{Name: "GetInstances"}
	return wire.Call[GetInstancesOutput](ctx, c.wire, op, in)
}

// StartInstance calls StartInstance of Lightsail.
func (c *Client) StartInstance(ctx context.Context, in *StartInstanceInput) (*StartInstanceOutput, error) {
	op := wire.Operation{Name: "StartInstance"}
	return wire.Call[StartInstanceOutput](ctx, c.wire, op, in)
}

// StopInstance calls StopInstance of Lightsail.
func (c *Client) StopInstance(ctx context.Context, in *StopInstanceInput) (*StopInstanceOutput, error) {
	op := wire.Operation{Name: "StopInstance"}
	return wire.Call[StopInstanceOutput](ctx, c.wire, op, in)
}
