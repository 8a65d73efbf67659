package databases

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
	"lamplighter.dev/shared/cloud/aws/wire/redshift"
)

// askSupportEnds adds the end of standard support of the versions of a page of databases. One call returns it for all
// engines.
func askSupportEnds(ctx context.Context, c rdsAPI, found []cloud.Resource, of []engineVersion) {
	if len(found) == 0 {
		return
	}
	versions, err := majorVersions(ctx, c)
	for i := range found {
		if err != nil {
			resource.NoteMissing(found[i].Facts, err, "rds:DescribeDBMajorEngineVersions", "standard_support_end")
			continue
		}
		addSupportEnd(found[i].Facts, versions, of[i])
	}
}

// engineVersion is a version of an engine.
type engineVersion struct{ engine, version string }

func majorVersions(ctx context.Context, c rdsAPI) ([]rds.DBMajorEngineVersion, error) {
	var all []rds.DBMajorEngineVersion
	pages := wire.NewPages(c.DescribeDBMajorEngineVersions,
		&rds.DescribeDBMajorEngineVersionsInput{MaxRecords: sdk.Int32(100)})
	for pages.HasMorePages() {
		got, err := pages.NextPage(wire.WithAttempts(ctx, resource.FactAttempts))
		if err != nil {
			return nil, err
		}
		all = append(all, got.DBMajorEngineVersions...)
	}
	return all, nil
}

// addSupportEnd adds the end of support of the major version that the version begins with, or none if AWS has no end
// for it.
func addSupportEnd(f cloud.Facts, all []rds.DBMajorEngineVersion, of engineVersion) {
	for _, v := range all {
		if sdk.ToString(v.Engine) != of.engine ||
			!strings.HasPrefix(of.version+".", sdk.ToString(v.MajorEngineVersion)+".") {
			continue
		}
		f["standard_support_end"] = cloud.Never
		for _, l := range v.SupportedEngineLifecycles {
			if l.LifecycleSupportEndDate != nil && strings.Contains(string(l.LifecycleSupportName), "standard") {
				f["standard_support_end"] = l.LifecycleSupportEndDate.UTC()
			}
		}
	}
}

// askClusterFacts adds the facts of the versions and the members of Aurora clusters.
func askClusterFacts(ctx context.Context, c rdsAPI, clusters []rds.DBCluster, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	versions, names := make([]engineVersion, len(clusters)), make([]string, len(clusters))
	for i, d := range clusters {
		versions[i], names[i] = engineVersion{sdk.ToString(d.Engine), sdk.ToString(d.EngineVersion)},
			sdk.ToString(d.DBClusterIdentifier)
	}
	askSupportEnds(ctx, c, found, versions)
	serverless := map[string]bool{}
	pages := wire.NewPages(c.DescribeDBInstances, &rds.DescribeDBInstancesInput{
		MaxRecords: sdk.Int32(100), Filters: []rds.Filter{{Name: sdk.String("db-cluster-id"), Values: names}},
	})
	var err error
	for pages.HasMorePages() && err == nil {
		var got *rds.DescribeDBInstancesOutput
		if got, err = pages.NextPage(ctx); err != nil {
			break
		}
		for _, m := range got.DBInstances {
			serverless[sdk.ToString(m.DBClusterIdentifier)] = serverless[sdk.ToString(m.DBClusterIdentifier)] ||
				sdk.ToString(m.DBInstanceClass) == "db.serverless"
		}
	}
	for i := range found {
		if err != nil {
			resource.NoteMissing(found[i].Facts, err, "rds:DescribeDBInstances", "serverless")
			continue
		}
		found[i].Facts["serverless"] = serverless[names[i]]
	}
}

// askBackups adds the size of the region's snapshots of clusters. Redshift returns one sum for all clusters.
func askBackups(ctx context.Context, c redshiftAPI, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	out, err := c.DescribeStorage(ctx, &redshift.DescribeStorageInput{})
	for _, r := range found {
		if err != nil {
			resource.NoteMissing(r.Facts, err, "redshift:DescribeStorage", "manual_snapshot_gb")
			continue
		}
		r.Facts["manual_snapshot_gb"] = sdk.ToFloat64(out.TotalBackupSizeInMegaBytes) / 1024
	}
}

func databaseFacts(d rds.DBInstance) cloud.Facts {
	f := cloud.Facts{
		"state": sdk.ToString(d.DBInstanceStatus), "engine": sdk.ToString(d.Engine), "multi_az": sdk.ToBool(d.MultiAZ),
		"storage_type": sdk.ToString(d.StorageType), "allocated_gb": resource.Count32(d.AllocatedStorage),
		"max_allocated_gb": resource.Count32(d.MaxAllocatedStorage),
		"iops":             resource.Count32(d.Iops),
		"replica_source":   sdk.ToString(d.ReadReplicaSourceDBInstanceIdentifier),
		"replica_count":    float64(len(d.ReadReplicaDBInstanceIdentifiers)),
		"backup_days":      resource.Count32(d.BackupRetentionPeriod),
		"public":           sdk.ToBool(d.PubliclyAccessible), "encrypted": sdk.ToBool(d.StorageEncrypted),
		"deletion_protection": sdk.ToBool(d.DeletionProtection), "auto_minor": sdk.ToBool(d.AutoMinorVersionUpgrade),
		"license_model": sdk.ToString(d.LicenseModel),
		"insights_days": resource.Count32(d.PerformanceInsightsRetentionPeriod),
	}
	if d.CertificateDetails != nil && d.CertificateDetails.ValidTill != nil {
		f["ca_valid_till"] = d.CertificateDetails.ValidTill.UTC()
	}
	return f
}

// clusterFacts returns the facts of a cluster of databases. The rules for DocumentDB and Neptune need only the state.
func clusterFacts(kindType string, d rds.DBCluster) cloud.Facts {
	f := cloud.Facts{"state": sdk.ToString(d.Status)}
	if kindType != cloud.AWSAurora {
		return f
	}
	readers := 0
	for _, m := range d.DBClusterMembers {
		if !sdk.ToBool(m.IsClusterWriter) {
			readers++
		}
	}
	f["storage_type"], f["member_count"], f["reader_count"] = "aurora", float64(len(d.DBClusterMembers)),
		float64(readers)
	if t := sdk.ToString(d.StorageType); t != "" {
		f["storage_type"] = t
	}
	f["serverless_min_acu"] = 0.0
	if s := d.ServerlessV2ScalingConfiguration; s != nil {
		f["serverless_min_acu"] = sdk.ToFloat64(s.MinCapacity)
	}
	f["encrypted"], f["deletion_protection"] = sdk.ToBool(d.StorageEncrypted), sdk.ToBool(d.DeletionProtection)
	f["global"] = sdk.ToString(d.GlobalClusterIdentifier) != ""
	return f
}

func warehouseFacts(c redshift.Cluster) cloud.Facts {
	return cloud.Facts{
		"state": sdk.ToString(c.ClusterStatus), "node_type": sdk.ToString(c.NodeType),
		"node_count": resource.Count32(c.NumberOfNodes),
		"encrypted":  sdk.ToBool(c.Encrypted), "public": sdk.ToBool(c.PubliclyAccessible),
		"manual_snapshot_days": resource.Count32(c.ManualSnapshotRetentionPeriod),
	}
}
