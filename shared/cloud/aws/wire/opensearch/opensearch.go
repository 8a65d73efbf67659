// Package opensearch calls the operations of OpenSearch that Lamplighter uses (shared/cloud/aws/wire).
package opensearch

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "OpenSearch", Agent: "opensearch", Host: "es", Signing: "es",
	Protocol: wire.RESTJSON{},
}

// Client calls OpenSearch in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeDomains calls DescribeDomains of OpenSearch.
func (c *Client) DescribeDomains(ctx context.Context, in *DescribeDomainsInput) (*DescribeDomainsOutput, error) {
	op := wire.Operation{Name: "DescribeDomains", Method: "POST", URI: "/2021-01-01/opensearch/domain-info", Body: true}
	return wire.Call[DescribeDomainsOutput](ctx, c.wire, op, in)
}

// ListDomainNames calls ListDomainNames of OpenSearch.
func (c *Client) ListDomainNames(ctx context.Context, in *ListDomainNamesInput) (*ListDomainNamesOutput, error) {
	op := wire.Operation{Name: "ListDomainNames", Method: "GET", URI: "/2021-01-01/domain"}
	return wire.Call[ListDomainNamesOutput](ctx, c.wire, op, in)
}
