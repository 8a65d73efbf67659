// Package organizations calls the operations of Organizations that Lamplighter uses (shared/cloud/aws/wire).
package organizations

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "Organizations", Agent: "organizations", Host: "organizations", Signing: "organizations",
	Endpoint: wire.GlobalHost("organizations"),
	Protocol: wire.JSON{Version: "1.1", Target: "AWSOrganizationsV20161128"},
}

// Client calls Organizations in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeOrganization calls DescribeOrganization of Organizations.
func (c *Client) DescribeOrganization(ctx context.Context, in *DescribeOrganizationInput) (*DescribeOrganizationOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeOrganization"}
	return wire.Call[DescribeOrganizationOutput](ctx, c.wire, op, in)
}

// ListAccountsForParent calls ListAccountsForParent of Organizations.
func (c *Client) ListAccountsForParent(ctx context.Context,
	in *ListAccountsForParentInput,
) (*ListAccountsForParentOutput, error) {
	op := wire.Operation{Name: "ListAccountsForParent"}
	return wire.Call[ListAccountsForParentOutput](ctx, c.wire, op, in)
}

// ListOrganizationalUnitsForParent calls ListOrganizationalUnitsForParent of Organizations.
func (c *Client) ListOrganizationalUnitsForParent(ctx context.Context,
	in *ListOrganizationalUnitsForParentInput,
) (*ListOrganizationalUnitsForParentOutput, error) {
	op := wire.Operation{Name: "ListOrganizationalUnitsForParent"}
	return wire.Call[ListOrganizationalUnitsForParentOutput](ctx, c.wire, op, in)
}

// ListRoots calls ListRoots of Organizations.
func (c *Client) ListRoots(ctx context.Context, in *ListRootsInput) (*ListRootsOutput, error) {
	op := wire.Operation{Name: "ListRoots"}
	return wire.Call[ListRootsOutput](ctx, c.wire, op, in)
}

// ListTagsForResource calls ListTagsForResource of Organizations.
func (c *Client) ListTagsForResource(ctx context.Context, in *ListTagsForResourceInput) (*ListTagsForResourceOutput,
	error,
) {
	op := wire.Operation{Name: "ListTagsForResource"}
	return wire.Call[ListTagsForResourceOutput](ctx, c.wire, op, in)
}
