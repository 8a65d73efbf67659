// Package secretsmanager calls the operations of Secrets Manager that Lamplighter uses (shared/cloud/aws/wire).
package secretsmanager

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Secrets Manager", Agent: "secretsmanager", Host: "secretsmanager", Signing: "secretsmanager",
	Protocol: wire.JSON{Version: "1.1", Target: "secretsmanager"},
}

// Client calls Secrets Manager in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// ListSecrets calls ListSecrets of Secrets Manager.
func (c *Client) ListSecrets(ctx context.Context, in *ListSecretsInput) (*ListSecretsOutput, error) {
	op := wire.Operation{Name: "ListSecrets"}
	return wire.Call[ListSecretsOutput](ctx, c.wire, op, in)
}
