package simulated

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// mainCluster is the only cluster of a region: the one that its node groups are in.
const mainCluster = "main"

// versions are the versions of Kubernetes that clusters may run. The region determines the version.
var versions = []string{"1.32", "1.33", "1.34"}

// clusterStatuses are those that the setting clusterStatus may give to all clusters.
var clusterStatuses = []cloud.ClusterStatus{
	cloud.ClusterActive, cloud.ClusterCreating, cloud.ClusterUpdating, cloud.ClusterDeleting, cloud.ClusterFailed,
}

var _ cloud.Clusters = (*conn)(nil)

// ClusterNames names the cluster of a region that has node groups.
func (c *conn) ClusterNames(ctx context.Context, region string) ([]string, error) {
	_, r, err := c.findKind(kinds[kindNodeGroup].Type, region, "ClusterNames")
	if err != nil {
		return nil, err
	}
	r.op, r.kind, r.capability = "eks:ListClusters", "", discover
	if err = c.simulateCall(ctx, r, nil); err != nil || c.nodeCount(kindNodeGroup, region) == 0 {
		return nil, err
	}
	return []string{mainCluster}, nil
}

// Cluster describes the cluster of a region, with the nodes that its groups are set to at the moment.
func (c *conn) Cluster(ctx context.Context, region, name string) (cloud.Cluster, error) {
	_, r, err := c.findKind(kinds[kindNodeGroup].Type, region, "Cluster")
	if err != nil {
		return cloud.Cluster{}, err
	}
	r.op, r.kind, r.capability = "eks:DescribeCluster", "", discover
	nodes := 0
	err = c.simulateCall(ctx, r, func(ctx context.Context) error {
		return c.world.readHistory(ctx, func(h history) { nodes = c.nodes(h, region) })
	})
	if err != nil {
		return cloud.Cluster{}, err
	}
	if name != mainCluster || c.nodeCount(kindNodeGroup, region) == 0 {
		return cloud.Cluster{},
			newFailure(cloud.NotFound, r, "ResourceNotFoundException",
				fmt.Sprintf("No cluster found for name: %.100s.", name))
	}
	return cloud.Cluster{
		UID: c.clusterUID(region), Name: name, Region: region, Status: c.clusterStatus, NodeCount: &nodes,
		Version: versions[hashParts(strconv.FormatUint(c.key, 16), region)%uint64(len(versions))],
	}, nil
}

func (s *settings) clusterUID(region string) string {
	return "arn:simulated:eks:" + region + ":" + s.number + ":cluster/" + mainCluster
}

// nodes sums the desired sizes of the region's node groups.
func (c *conn) nodes(h history, region string) int {
	sum, now := 0, c.clk.Now()
	for i := range c.nodeCount(kindNodeGroup, region) {
		n := node{kind: kindNodeGroup, region: uint8(slices.Index(regionNames, region)), number: uint32(i)}
		if !c.drawHit(n, asVanish, c.faults.vanish) {
			sum += int(c.stateAt(n, h, now).cap.Desired)
		}
	}
	return sum
}
