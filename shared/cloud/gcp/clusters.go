package gcp

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

var (
	_ cloud.Clusters      = (*conn)(nil)
	_ cloud.ClusterAccess = (*conn)(nil)
)

// ClusterNames lists the names of the GKE clusters of the region and of its zones.
func (c *conn) ClusterNames(ctx context.Context, region string) ([]string, error) {
	p, err := c.placeAt(region)
	if err != nil {
		return nil, err
	}
	clusters, err := listClusters(ctx, p)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(clusters))
	for i, k := range clusters {
		names[i] = k.Name
	}
	return sortUnique(names), nil
}

// Cluster describes a GKE cluster of the region or of one of its zones. A name that occurs in several zones is class
// Unsupported, because it is ambiguous.
func (c *conn) Cluster(ctx context.Context, region, name string) (cloud.Cluster, error) {
	k, p, err := c.findCluster(ctx, region, name)
	if err != nil {
		return cloud.Cluster{}, err
	}
	got := cloud.Cluster{
		UID: fullName("container.googleapis.com", k.SelfLink), Name: name, Region: region,
		Status: clusterStatuses[k.Status], Version: k.CurrentMasterVersion,
	}
	if got.Status == "" {
		got.Status = cloud.ClusterUnknown
	}
	got.NodeCount, err = nodeCount(ctx, p, k)
	if err != nil && cloud.ClassOf(err) != cloud.Denied {
		return cloud.Cluster{}, err
	}
	return got, nil
}

func (c *conn) placeAt(region string) (place, error) {
	if !regionName.MatchString(region) {
		return place{}, cloud.ErrInvalid("%.64q is not the name of a Google Cloud region", region)
	}
	return place{c.session, region}, nil
}

func (c *conn) findCluster(ctx context.Context, region, name string) (*googlerest.Cluster, place, error) {
	p, err := c.placeAt(region)
	if err != nil {
		return nil, p, err
	}
	all, err := listClusters(ctx, p)
	if err != nil {
		return nil, p, err
	}
	var found []*googlerest.Cluster
	var places []string
	for _, k := range all {
		if k.Name == name {
			found, places = append(found, k), append(places, k.Location)
		}
	}
	slices.Sort(places)
	switch len(found) {
	case 0:
		return nil, p, cloud.ErrNotFound("GKE has no cluster %.100q in region %s", name, region)
	case 1:
		return found[0], p, nil
	default:
		return nil, p, cloud.ErrUnsupported("there are GKE clusters %s in %s: the name and the region do not say "+
			"which is meant", name, strings.Join(places, " and "))
	}
}

// A degraded cluster answers; its message names the fault.
var clusterStatuses = map[string]cloud.ClusterStatus{
	"PROVISIONING": cloud.ClusterCreating,
	"RUNNING":      cloud.ClusterActive,
	"RECONCILING":  cloud.ClusterUpdating,
	"STOPPING":     cloud.ClusterDeleting,
	"ERROR":        cloud.ClusterFailed,
	"DEGRADED":     cloud.ClusterActive,
}

// nodeCount returns the sum of the sizes that the cluster's node pools are set to. The number in the cluster's own
// description is out of date by design.
func nodeCount(ctx context.Context, p place, k *googlerest.Cluster) (*int, error) {
	nodes := 0
	for _, n := range poolsOf(k) {
		sizes, err := groupSizes(ctx, p, n.InstanceGroupURLs)
		if err != nil {
			return nil, err
		}
		for _, s := range sizes {
			nodes += int(s)
		}
	}
	return &nodes, nil
}

// EnterCluster returns the address of the cluster; the account's own access token opens it. It prefers a DNS name that
// accepts calls from outside, because that works for clusters without a public address and has a publicly trusted
// certificate.
func (c *conn) EnterCluster(ctx context.Context, region, name string) (cloud.ClusterEntry, error) {
	k, _, err := c.findCluster(ctx, region, name)
	if err != nil {
		return cloud.ClusterEntry{}, err
	}
	entry := cloud.ClusterEntry{UID: fullName("container.googleapis.com", k.SelfLink), Token: c.clusterToken}
	if name := k.ControlPlaneEndpointsConfig.DNSEndpointConfig; name.AllowExternalTraffic && name.Endpoint != "" {
		entry.Server = "https://" + name.Endpoint
		return entry, nil
	}
	if k.PrivateClusterConfig.EnablePrivateEndpoint {
		return cloud.ClusterEntry{}, cloud.ErrNoPublicEndpoint("the GKE cluster " + name)
	}
	if k.Endpoint == "" || k.MasterAuth == nil {
		return cloud.ClusterEntry{}, cloud.ErrMoving("the GKE cluster %s is %s and has no address yet", name, k.Status)
	}
	entry.Server = "https://" + k.Endpoint
	if entry.Authority, err = base64.StdEncoding.DecodeString(k.MasterAuth.ClusterCaCertificate); err != nil {
		return cloud.ClusterEntry{},
			cloud.ErrInvalid("the certificate authority of the GKE cluster %s cannot be read: %v", name, err)
	}
	return entry, nil
}

// clusterToken returns the access token of the account, which GKE takes too.
func (c *conn) clusterToken(ctx context.Context) (string, error) {
	token, err := c.tokens.Token(ctx)
	if err != nil {
		return "", classifyError("oauth2.token", err)
	}
	return token.Value, nil
}
