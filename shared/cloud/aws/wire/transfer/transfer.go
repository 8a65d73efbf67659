// Package transfer calls the operations of Transfer Family that Lamplighter uses (shared/cloud/aws/wire).
package transfer

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Transfer", Agent: "transfer", Host: "transfer", Signing: "transfer",
	Protocol: wire.JSON{Version: "1.1", Target: "TransferService"},
}

// Client calls Transfer Family in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// ListServers calls ListServers of Transfer Family.
func (c *Client) ListServers(ctx context.Context, in *ListServersInput) (*ListServersOutput, error) {
	op := wire.Operation{Name: "ListServers"}
	return wire.Call[ListServersOutput](ctx, c.wire, op, in)
}
