// Package synthetics calls the operations of synthetics that Lamplighter uses (shared/cloud/aws/wire).
package synthetics

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "synthetics", Agent: "synthetics", Host: "synthetics", Signing: "synthetics",
	Protocol: wire.RESTJSON{},
}

// Client calls synthetics in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeCanaries calls DescribeCanaries of synthetics.
func (c *Client) DescribeCanaries(ctx context.Context, in *DescribeCanariesInput) (*DescribeCanariesOutput, error) {
	op := wire.Operation{Name: "DescribeCanaries", Method: "POST", URI: "/canaries", Body: true}
	return wire.Call[DescribeCanariesOutput](ctx, c.wire, op, in)
}

// GetCanary calls GetCanary of synthetics.
func (c *Client) GetCanary(ctx context.Context, in *GetCanaryInput) (*GetCanaryOutput, error) {
	op := wire.Operation{Name: "GetCanary", Method: "GET", URI: "/canary/{Name}"}
	return wire.Call[GetCanaryOutput](ctx, c.wire, op, in)
}

// StartCanary calls StartCanary of synthetics.
func (c *Client) StartCanary(ctx context.Context, in *StartCanaryInput) (*StartCanaryOutput, error) {
	op := wire.Operation{Name: "StartCanary", Method: "POST", URI: "/canary/{Name}/start", NoResult: true}
	return wire.Call[StartCanaryOutput](ctx, c.wire, op, in)
}

// StopCanary calls StopCanary of synthetics.
func (c *Client) StopCanary(ctx context.Context, in *StopCanaryInput) (*StopCanaryOutput, error) {
	op := wire.Operation{Name: "StopCanary", Method: "POST", URI: "/canary/{Name}/stop", NoResult: true}
	return wire.Call[StopCanaryOutput](ctx, c.wire, op, in)
}
