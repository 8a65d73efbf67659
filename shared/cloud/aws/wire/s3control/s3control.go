// Package s3control calls the operations of S3 Control that Lamplighter uses (shared/cloud/aws/wire).
package s3control

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "S3 Control", Agent: "s3control", Host: "s3-control", Signing: "s3",
	Protocol: wire.RESTXML{}, HashHeader: true,
}

// Client calls S3 Control in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// GetPublicAccessBlock calls GetPublicAccessBlock of S3 Control.
func (c *Client) GetPublicAccessBlock(ctx context.Context, in *GetPublicAccessBlockInput) (*GetPublicAccessBlockOutput,
	error,
) {
	op := wire.Operation{
		Name: "GetPublicAccessBlock", Method: "GET", URI: "/v20180820/configuration/publicAccessBlock",
		HostPrefix: *in.AccountId + ".",
	}
	return wire.Call[GetPublicAccessBlockOutput](ctx, c.wire, op, in)
}
