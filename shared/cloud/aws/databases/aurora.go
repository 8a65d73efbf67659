package databases

import (
	"context"
	"maps"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
)

// Clusters are Aurora clusters; the uid is the ARN. A start or stop includes their members. AWS starts a stopped
// cluster by itself after seven days, like databases.
var Clusters = databaseClusters(cloud.AWSAurora, func(engine string) bool {
	return strings.HasPrefix(engine, "aurora")
})

// databaseClusters returns the kind of the clusters whose engine isMeant accepts. RDS's API runs DocumentDB and
// Neptune: their own SDKs send the same requests to the same endpoint, under RDS's permissions.
func databaseClusters(kindType string, isMeant func(engine string) bool) resource.Kind[rdsAPI] {
	isOurs := func(d rds.DBCluster) bool { return isMeant(sdk.ToString(d.Engine)) }
	return resource.Kind[rdsAPI]{
		Kind: resource.CatalogueKind(kindType),
		Needs: resource.Needs{
			Discover: []string{
				"rds:DescribeDBClusters", "rds:DescribeDBInstances",
				"rds:DescribeDBMajorEngineVersions", deploymentNeed,
			},
			StartStop: []string{"rds:StartDBCluster", "rds:StopDBCluster"},
		},
		Client: Databases.Client,
		List: func(ctx context.Context, c rdsAPI, page string) (cloud.ResourcePage, error) {
			found, next, err := listClusters(ctx, c, isOurs, page)
			if err != nil {
				return cloud.ResourcePage{}, err
			}
			p := cloud.ResourcePage{Next: next}
			for _, d := range found {
				r := clusterResource(d)
				r.Facts = clusterFacts(kindType, d)
				p.Resources = append(p.Resources, r)
			}
			if kindType == cloud.AWSAurora {
				askClusterFacts(ctx, c, found, p.Resources)
			}
			return p, tieDeployed(ctx, c, p.Resources)
		},
		Read: func(ctx context.Context, c rdsAPI, uids []string) ([]cloud.State, error) {
			return readClusters(ctx, c, isOurs, uids)
		},
		Act: resource.ActOneByOne(actCluster),
	}
}

// ClusterName returns the name of the database cluster in the ARN; "" for another ARN.
func ClusterName(uid string) string { return resource.NameIn(uid, "rds", "cluster:") }

// listClusters filters the clusters of all engines, and multi-zone RDS clusters, which the call returns. It does not
// use the call's own filter: RDS may refuse the name of a retired engine, and with it the whole listing.
func listClusters(ctx context.Context, c rdsAPI, isOurs func(rds.DBCluster) bool, page string) ([]rds.DBCluster,
	string, error,
) {
	out, err := c.DescribeDBClusters(ctx,
		&rds.DescribeDBClustersInput{MaxRecords: sdk.Int32(100), Marker: resource.OptionalString(page)})
	if err != nil {
		return nil, "", err
	}
	return slices.DeleteFunc(out.DBClusters, func(d rds.DBCluster) bool {
		return !isOurs(d)
	}), sdk.ToString(out.Marker), nil
}

func clusterResource(d rds.DBCluster) cloud.Resource {
	return cloud.Resource{
		UID: sdk.ToString(d.DBClusterArn), Name: sdk.ToString(d.DBClusterIdentifier),
		Status: databaseStatus(sdk.ToString(d.Status)), InstanceType: sdk.ToString(d.DBClusterInstanceClass),
		Tags: databaseTags(d.TagList), Capacity: map[string]int64{"members": int64(len(d.DBClusterMembers))},
		Unschedulable: tiedCluster(d), CreatedAt: d.ClusterCreateTime.Value().UTC(),
	}
}

// tiedCluster returns the reason why a cluster cannot be stopped, or "".
func tiedCluster(d rds.DBCluster) string {
	switch mode := sdk.ToString(d.EngineMode); {
	case mode != "" && mode != "provisioned":
		return "a cluster in mode " + mode + ", which cannot be stopped"
	case sdk.ToString(d.GlobalClusterIdentifier) != "":
		return "part of global database " + *d.GlobalClusterIdentifier + ", which cannot be stopped"
	case sdk.ToString(d.ReplicationSourceIdentifier) != "":
		return "replica of " + *d.ReplicationSourceIdentifier + ", which cannot be stopped"
	case len(d.ReadReplicaIdentifiers) > 0:
		return "source of replicas (" + strings.Join(d.ReadReplicaIdentifiers, ", ") + "), which cannot be stopped"
	}
	return ""
}

func readClusters(ctx context.Context, c rdsAPI, isOurs func(rds.DBCluster) bool, uids []string) ([]cloud.State,
	error,
) {
	names := resource.NamesIn(uids, ClusterName)
	if len(names) == 0 {
		return nil, nil
	}
	out, err := c.DescribeDBClusters(ctx, &rds.DescribeDBClustersInput{
		MaxRecords: sdk.Int32(100),
		Filters:    []rds.Filter{{Name: sdk.String("db-cluster-id"), Values: slices.Sorted(maps.Keys(names))}},
	})
	if err != nil {
		return nil, err
	}
	var states []cloud.State
	for _, d := range out.DBClusters {
		if uid := sdk.ToString(d.DBClusterArn); isOurs(d) && names[ClusterName(uid)] == uid {
			states = append(states, databaseState(uid, sdk.ToString(d.Status), tiedCluster(d), d.AutomaticRestartTime))
		}
	}
	return states, tieDeployedStates(ctx, c, states)
}

func actCluster(ctx context.Context, c rdsAPI, v cloud.Verb, t cloud.Target) error {
	name := ClusterName(t.UID)
	if name == "" {
		return cloud.ErrNotFound("%q is not the ARN of a database cluster", t.UID)
	}
	if v == cloud.Start {
		_, err := c.StartDBCluster(ctx, &rds.StartDBClusterInput{DBClusterIdentifier: &name})
		return err
	}
	_, err := c.StopDBCluster(ctx, &rds.StopDBClusterInput{DBClusterIdentifier: &name})
	return err
}
