// Package eks calls the operations of EKS that Lamplighter uses (shared/cloud/aws/wire).
package eks

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "EKS", Agent: "eks", Host: "eks", Signing: "eks",
	Protocol: wire.RESTJSON{},
}

// Client calls EKS in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeCluster calls DescribeCluster of EKS.
func (c *Client) DescribeCluster(ctx context.Context, in *DescribeClusterInput) (*DescribeClusterOutput, error) {
	op := wire.Operation{Name: "DescribeCluster", Method: "GET", URI: "/clusters/{name}"}
	return wire.Call[DescribeClusterOutput](ctx, c.wire, op, in)
}

// DescribeNodegroup calls DescribeNodegroup of EKS.
func (c *Client) DescribeNodegroup(ctx context.Context, in *DescribeNodegroupInput) (*DescribeNodegroupOutput, error) {
	op := wire.Operation{
		Name: "DescribeNodegroup", Method: "GET",
		URI: "/clusters/{clusterName}/node-groups/{nodegroupName}",
	}
	return wire.Call[DescribeNodegroupOutput](ctx, c.wire, op, in)
}

// DescribeUpdate calls DescribeUpdate of EKS.
func (c *Client) DescribeUpdate(ctx context.Context, in *DescribeUpdateInput) (*DescribeUpdateOutput, error) {
	op := wire.Operation{Name: "DescribeUpdate", Method: "GET", URI: "/clusters/{name}/updates/{updateId}"}
	return wire.Call[DescribeUpdateOutput](ctx, c.wire, op, in)
}

// ListClusters calls ListClusters of EKS.
func (c *Client) ListClusters(ctx context.Context, in *ListClustersInput) (*ListClustersOutput, error) {
	op := wire.Operation{Name: "ListClusters", Method: "GET", URI: "/clusters"}
	return wire.Call[ListClustersOutput](ctx, c.wire, op, in)
}

// ListNodegroups calls ListNodegroups of EKS.
func (c *Client) ListNodegroups(ctx context.Context, in *ListNodegroupsInput) (*ListNodegroupsOutput, error) {
	op := wire.Operation{Name: "ListNodegroups", Method: "GET", URI: "/clusters/{clusterName}/node-groups"}
	return wire.Call[ListNodegroupsOutput](ctx, c.wire, op, in)
}

// ListUpdates calls ListUpdates of EKS.
func (c *Client) ListUpdates(ctx context.Context, in *ListUpdatesInput) (*ListUpdatesOutput, error) {
	op := wire.Operation{Name: "ListUpdates", Method: "GET", URI: "/clusters/{name}/updates"}
	return wire.Call[ListUpdatesOutput](ctx, c.wire, op, in)
}

// UpdateNodegroupConfig calls UpdateNodegroupConfig of EKS. All attempts carry one token, so that the update is made
// once.
func (c *Client) UpdateNodegroupConfig(ctx context.Context,
	in *UpdateNodegroupConfigInput,
) (*UpdateNodegroupConfigOutput, error) {
	token, err := wire.NewToken()
	if err != nil {
		return nil, err
	}
	in.ClientRequestToken = token
	op := wire.Operation{
		Name: "UpdateNodegroupConfig", Method: "POST",
		URI: "/clusters/{clusterName}/node-groups/{nodegroupName}/update-config", Body: true,
	}
	return wire.Call[UpdateNodegroupConfigOutput](ctx, c.wire, op, in)
}
