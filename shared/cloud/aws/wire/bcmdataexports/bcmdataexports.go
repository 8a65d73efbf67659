// Package bcmdataexports calls the operations of BCM Data Exports that Lamplighter uses (shared/cloud/aws/wire).
package bcmdataexports

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "BCM Data Exports", Agent: "bcmdataexports", Host: "bcm-data-exports", Signing: "bcm-data-exports",
	Endpoint: wire.GlobalDualStackHost("bcm-data-exports"),
	Protocol: wire.JSON{Version: "1.1", Target: "AWSBillingAndCostManagementDataExports"},
}

// Client calls BCM Data Exports in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetExport calls GetExport of BCM Data Exports.
func (c *Client) GetExport(ctx context.Context, in *GetExportInput) (*GetExportOutput, error) {
	op := wire.Operation{Name: "GetExport"}
	return wire.Call[GetExportOutput](ctx, c.wire, op, in)
}

// ListExports calls ListExports of BCM Data Exports.
func (c *Client) ListExports(ctx context.Context, in *ListExportsInput) (*ListExportsOutput, error) {
	op := wire.Operation{Name: "ListExports"}
	return wire.Call[ListExportsOutput](ctx, c.wire, op, in)
}
