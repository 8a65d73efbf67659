package aws

import (
	"context"
	"regexp"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/containers"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
)

// clusterNeeds are the permissions for clusters, in addition to those for node groups.
var clusterNeeds = []string{"eks:ListClusters", "eks:DescribeCluster"}

// A region has at most 100 clusters, unless the customer requests more from AWS; 50 pages limit a listing that would
// not end.
const (
	clusterPage     = 100
	maxClusterPages = 50
)

// eksName matches the cluster names that EKS allows (CreateCluster, API reference).
var eksName = regexp.MustCompile(`^[0-9A-Za-z][A-Za-z0-9_-]{0,99}$`)

// clusterAPI is the subset of the EKS API that is called for clusters.
type clusterAPI interface {
	containers.EksAPI
	DescribeCluster(context.Context, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput,
		error)
}

// ClusterNames names the EKS clusters of the region.
func (c *conn) ClusterNames(ctx context.Context, region string) ([]string, error) {
	api, err := c.eks(region)
	if err != nil {
		return nil, err
	}
	var names []string
	in := &eks.ListClustersInput{MaxResults: sdk.Int32(clusterPage)}
	for range maxClusterPages {
		out, err := api.ListClusters(ctx, in)
		if err != nil {
			return nil, resource.ClassifyError(err)
		}
		names = append(names, out.Clusters...)
		if in.NextToken = out.NextToken; sdk.ToString(in.NextToken) == "" {
			return names, nil
		}
	}
	return nil, cloud.ErrUnsupported("region %s has more than %d EKS clusters", region, maxClusterPages*clusterPage)
}

// Cluster describes an EKS cluster. A name that EKS does not allow is class NotFound.
func (c *conn) Cluster(ctx context.Context, region, name string) (cloud.Cluster, error) {
	api, err := c.eks(region)
	if err != nil {
		return cloud.Cluster{}, err
	}
	if !eksName.MatchString(name) {
		return cloud.Cluster{}, cloud.ErrNotFound("EKS has no cluster %.100q in region %s", name, region)
	}
	out, err := api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &name})
	if err != nil {
		return cloud.Cluster{}, resource.ClassifyError(err)
	}
	got := cloud.Cluster{
		UID: sdk.ToString(out.Cluster.Arn), Name: name, Region: region, Status: clusterStatus(out.Cluster.Status),
		Version: sdk.ToString(out.Cluster.Version),
	}
	got.NodeCount, err = nodeCount(ctx, api, name)
	if err = resource.ClassifyError(err); err != nil && cloud.ClassOf(err) != cloud.Denied {
		return cloud.Cluster{}, err
	}
	return got, nil
}

func (c *conn) eks(region string) (clusterAPI, error) {
	if !regionName.MatchString(region) {
		return nil, cloud.ErrInvalid("%.64q is not the name of an AWS region", region)
	}
	return eks.NewFromConfig(c.regionConfig(region)), nil
}

// clusterStatus converts a status of EKS. A pending cluster is one on an Outpost that waits for its network.
func clusterStatus(s eks.ClusterStatus) cloud.ClusterStatus {
	switch s {
	case eks.ClusterStatusCreating, eks.ClusterStatusPending:
		return cloud.ClusterCreating
	case eks.ClusterStatusActive:
		return cloud.ClusterActive
	case eks.ClusterStatusUpdating:
		return cloud.ClusterUpdating
	case eks.ClusterStatusDeleting:
		return cloud.ClusterDeleting
	case eks.ClusterStatusFailed:
		return cloud.ClusterFailed
	default:
		return cloud.ClusterUnknown
	}
}

// nodeCount returns the sum of the sizes of the cluster's managed node groups. EKS describes one group per call.
func nodeCount(ctx context.Context, api containers.EksAPI, cluster string) (*int, error) {
	nodes := 0
	in := &eks.ListNodegroupsInput{ClusterName: &cluster, MaxResults: sdk.Int32(clusterPage)}
	for range maxClusterPages {
		out, err := api.ListNodegroups(ctx, in)
		if err != nil {
			return nil, err
		}
		n, err := desired(ctx, api, cluster, out.Nodegroups)
		if err != nil {
			return nil, err
		}
		nodes += n
		if in.NextToken = out.NextToken; sdk.ToString(in.NextToken) == "" {
			return &nodes, nil
		}
	}
	return nil, cloud.ErrUnsupported("cluster %s has more than %d node groups", cluster, maxClusterPages*clusterPage)
}

// desired returns the sum of the groups' desired sizes. Deleted groups, and groups being deleted, count as 0.
func desired(ctx context.Context, api containers.EksAPI, cluster string, names []string) (int, error) {
	got, err := containers.NodegroupResources(ctx, api, cluster, names)
	if err != nil {
		return 0, err
	}
	got = slices.DeleteFunc(got, func(r cloud.Resource) bool { return r.Status == cloud.Terminated })
	nodes := 0
	for _, r := range got {
		nodes += int(r.Capacity["desired"])
	}
	return nodes, nil
}

// probeClusters tries DescribeCluster on a cluster that does not exist: AWS checks the permission first.
func (c *conn) probeClusters(ctx context.Context, region string) ([]cloud.Permission, error) {
	api, err := c.eks(region)
	if err != nil {
		return nil, err
	}
	_, err = api.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: sdk.String("lamplighter-permission-probe")})
	err = resource.ClassifyError(err)
	switch {
	case containers.IsClusterGone(err):
		err = nil
	case err != nil && cloud.ClassOf(err) == cloud.Refused:
		return nil, err
	}
	return []cloud.Permission{newPermission("discover", clusterNeeds[1], err)}, nil
}
