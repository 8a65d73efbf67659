// Package apprunner calls the operations of AppRunner that Lamplighter uses (shared/cloud/aws/wire).
package apprunner

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "AppRunner", Agent: "apprunner", Host: "apprunner", Signing: "apprunner",
	Protocol: wire.JSON{Version: "1.0", Target: "AppRunner"},
}

// Client calls AppRunner in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeService calls DescribeService of AppRunner.
func (c *Client) DescribeService(ctx context.Context, in *DescribeServiceInput) (*DescribeServiceOutput, error) {
	op := wire.Operation{Name: "DescribeService"}
	return wire.Call[DescribeServiceOutput](ctx, c.wire, op, in)
}

// ListServices calls ListServices of AppRunner.
func (c *Client) ListServices(ctx context.Context, in *ListServicesInput) (*ListServicesOutput, error) {
	op := wire.Operation{Name: "ListServices"}
	return wire.Call[ListServicesOutput](ctx, c.wire, op, in)
}

// PauseService calls PauseService of AppRunner.
func (c *Client) PauseService(ctx context.Context, in *PauseServiceInput) (*PauseServiceOutput, error) {
	op := wire.Operation{Name: "PauseService"}
	return wire.Call[PauseServiceOutput](ctx, c.wire, op, in)
}

// ResumeService calls ResumeService of AppRunner.
func (c *Client) ResumeService(ctx context.Context, in *ResumeServiceInput) (*ResumeServiceOutput, error) {
	op := wire.Operation{Name: "ResumeService"}
	return wire.Call[ResumeServiceOutput](ctx, c.wire, op, in)
}
