package azure

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

var _ cloud.Clusters = (*conn)(nil)

// aksName matches the names that AKS allows. They contain no dot.
var aksName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,62}$`)

// ClusterNames names the AKS clusters of the region. Names are unique only within a resource group: a name that occurs
// in two groups gets its group as a suffix, "prod.group-1".
func (c *conn) ClusterNames(ctx context.Context, region string) ([]string, error) {
	all, err := c.listClusters(ctx, region)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, r := range all {
		if names[i] = r.Name; len(findNamed(all, r.Name)) > 1 {
			names[i] = longName(r)
		}
	}
	return names, nil
}

// Cluster describes an AKS cluster, by its name or by name and resource group.
func (c *conn) Cluster(ctx context.Context, region, name string) (cloud.Cluster, error) {
	r, err := c.findCluster(ctx, region, name)
	if err != nil {
		return cloud.Cluster{}, err
	}
	return describeCluster(r, region, name)
}

func (c *conn) findCluster(ctx context.Context, region, name string) (resource, error) {
	short, _, _ := strings.Cut(name, ".")
	if !aksName.MatchString(short) {
		return resource{}, cloud.ErrNotFound("AKS has no cluster %.100q in region %s", name, region)
	}
	all, err := c.listClusters(ctx, region)
	if err != nil {
		return resource{}, err
	}
	switch found := findNamed(all, name); len(found) {
	case 0:
		return resource{}, cloud.ErrNotFound("AKS has no cluster %.100q in region %s", name, region)
	case 1:
		return found[0], nil
	default:
		return resource{}, cloud.ErrInvalid("there are %d clusters %s in region %s: add the resource group, as in %s",
			len(found), name, region, longName(found[0]))
	}
}

// listClusters reads the AKS clusters of the region from the resource manager.
func (c *conn) listClusters(ctx context.Context, region string) ([]resource, error) {
	if !regionName.MatchString(region) {
		return nil, cloud.ErrInvalid("%.64q is not the name of an Azure region", region)
	}
	id, err := c.subscriptionID(ctx)
	if err != nil {
		return nil, err
	}
	all, err := listAll[resource](ctx, c.client, subscriptionsPath+"/"+id+"/providers/"+clusterType, clusterVersion)
	return slices.DeleteFunc(all, func(r resource) bool { return regionOf(r.Location) != region }), err
}

func findNamed(all []resource, name string) []resource {
	var out []resource
	for _, r := range all {
		if strings.EqualFold(r.Name, name) || strings.EqualFold(longName(r), name) {
			out = append(out, r)
		}
	}
	return out
}

// longName is the name with the resource group, the fourth part of an id.
func longName(r resource) string {
	parts := strings.Split(r.ID, "/")
	if len(parts) < 5 {
		return r.Name
	}
	return r.Name + "." + parts[4]
}

func describeCluster(r resource, region, name string) (cloud.Cluster, error) {
	p, err := decodeProperties[aksCluster](r)
	if err != nil {
		return cloud.Cluster{}, err
	}
	nodes := 0
	for _, pool := range p.Pools {
		nodes += int(pool.Count)
	}
	return cloud.Cluster{
		UID: uidOf(r.ID), Name: name, Region: region, Status: clusterStatus(p.ProvisioningState), Version: p.Version,
		NodeCount: &nodes,
	}, nil
}

func clusterStatus(provisioning string) cloud.ClusterStatus {
	switch strings.ToLower(provisioning) {
	case "succeeded":
		return cloud.ClusterActive
	case "creating":
		return cloud.ClusterCreating
	case "updating", "upgrading", "scaling", "starting", "stopping":
		return cloud.ClusterUpdating
	case "deleting":
		return cloud.ClusterDeleting
	case "failed":
		return cloud.ClusterFailed
	default:
		return cloud.ClusterUnknown
	}
}
