package databases

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/elasticache"
)

// Caches are ElastiCache clusters, the units that CloudWatch measures and AWS bills. A replication group consists of
// several clusters.
var Caches = resource.Source{
	Name: "caches", List: listCaches,
	Needs: []string{"elasticache:DescribeCacheClusters", "elasticache:DescribeReplicationGroups", "tag:GetResources"},
}

var cacheStatuses = map[string]cloud.Status{
	"available": cloud.Running, "creating": cloud.Pending, "modifying": cloud.Pending,
	"rebooting cluster nodes": cloud.Pending, "snapshotting": cloud.Running,
	"deleting": cloud.Terminated, "deleted": cloud.Terminated,
}

func listCaches(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := elasticache.NewFromConfig(at.Cfg)
	out, err := api.DescribeCacheClusters(ctx,
		&elasticache.DescribeCacheClustersInput{MaxRecords: sdk.Int32(100), Marker: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.Marker)}
	for _, c := range out.CacheClusters {
		p.Resources = append(p.Resources, cacheResource(c))
	}
	addReplicationGroups(ctx, api, out.CacheClusters, p.Resources)
	return p, resource.AddTags(ctx, at, p.Resources)
}

func cacheResource(c elasticache.CacheCluster) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(c.ARN), Name: sdk.ToString(c.CacheClusterId), Type: "aws-elasticache",
		Zone:         sdk.ToString(c.PreferredAvailabilityZone),
		Status:       resource.NativeStatus(cacheStatuses, sdk.ToString(c.CacheClusterStatus)),
		InstanceType: sdk.ToString(c.CacheNodeType),
		Capacity:     map[string]int64{"nodes": int64(sdk.ToInt32(c.NumCacheNodes))},
		CreatedAt:    c.CacheClusterCreateTime.Value().UTC(),
		Facts: cloud.Facts{
			"engine": sdk.ToString(c.Engine), "replicas": 0.0, "auto_failover": false,
			"tls": sdk.ToBool(c.TransitEncryptionEnabled),
		},
	}
	if v := sdk.ToString(c.EngineVersion); v != "" {
		r.Facts["engine_version"] = v
	}
	return r
}

// addReplicationGroups adds the facts that replication groups hold about their clusters.
func addReplicationGroups(ctx context.Context, api *elasticache.Client, all []elasticache.CacheCluster,
	found []cloud.Resource,
) {
	if len(all) == 0 {
		return
	}
	groups := map[string]elasticache.ReplicationGroup{}
	pages := wire.NewPages(api.DescribeReplicationGroups,
		&elasticache.DescribeReplicationGroupsInput{MaxRecords: sdk.Int32(100)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			missGroups(all, found, err)
			return
		}
		for _, g := range out.ReplicationGroups {
			groups[sdk.ToString(g.ReplicationGroupId)] = g
		}
	}
	for i, c := range all {
		if g, ok := groups[sdk.ToString(c.ReplicationGroupId)]; ok {
			addGroup(found[i].Facts, g)
		}
	}
}

func addGroup(f cloud.Facts, g elasticache.ReplicationGroup) {
	if len(g.NodeGroups) > 0 {
		f["replicas"] = float64(max(len(g.NodeGroups[0].NodeGroupMembers)-1, 0))
	}
	f["auto_failover"] = g.AutomaticFailover == elasticache.AutomaticFailoverStatusEnabled
	f["tls"] = f["tls"] == true || sdk.ToBool(g.TransitEncryptionEnabled)
}

// missGroups notes the missing facts of the clusters that are in a group.
func missGroups(all []elasticache.CacheCluster, found []cloud.Resource, err error) {
	for i, c := range all {
		if c.ReplicationGroupId == nil {
			continue
		}
		delete(found[i].Facts, "replicas")
		delete(found[i].Facts, "auto_failover")
		resource.NoteMissing(found[i].Facts, err, "elasticache:DescribeReplicationGroups", "auto_failover", "replicas")
	}
}
