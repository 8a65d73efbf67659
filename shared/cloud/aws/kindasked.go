package aws

import (
	"context"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
	"lamplighter.dev/shared/cloud/aws/wire/redshift"
	"lamplighter.dev/shared/cloud/aws/wire/sagemaker"
)

// askSupportEnds adds until when the versions of a page of databases have standard support, which one call tells of all engines.
func askSupportEnds(ctx context.Context, c rdsAPI, found []cloud.Resource, of []engineVersion) {
	if len(found) == 0 {
		return
	}
	versions, err := majorVersions(ctx, c)
	for i := range found {
		if err != nil {
			miss(found[i].Facts, err, "rds:DescribeDBMajorEngineVersions", "standard_support_end")
			continue
		}
		addSupportEnd(found[i].Facts, versions, of[i])
	}
}

// factAttempts is how often a fact is asked for that few clouds beside AWS tell: its absence must not hold a listing up.
const factAttempts = 2

// engineVersion is a version of an engine.
type engineVersion struct{ engine, version string }

func majorVersions(ctx context.Context, c rdsAPI) ([]rds.DBMajorEngineVersion, error) {
	var all []rds.DBMajorEngineVersion
	pages := wire.NewPages(c.DescribeDBMajorEngineVersions,
		&rds.DescribeDBMajorEngineVersionsInput{MaxRecords: sdk.Int32(100)})
	for pages.HasMorePages() {
		got, err := pages.NextPage(wire.WithAttempts(ctx, factAttempts))
		if err != nil {
			return nil, err
		}
		all = append(all, got.DBMajorEngineVersions...)
	}
	return all, nil
}

// addSupportEnd finds the major version that the version begins with; one that AWS names no end of has none.
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

// askClusterFacts adds what the versions and the members of Aurora clusters tell.
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
			miss(found[i].Facts, err, "rds:DescribeDBInstances", "serverless")
			continue
		}
		found[i].Facts["serverless"] = serverless[names[i]]
	}
}

// askPolicies adds how many policies scale each group: one call tells of a hundred policies.
func askPolicies(ctx context.Context, c asgAPI, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	counts := map[string]int{}
	pages := wire.NewPages(c.DescribePolicies, &autoscaling.DescribePoliciesInput{MaxRecords: sdk.Int32(100)})
	var err error
	for pages.HasMorePages() && err == nil {
		var got *autoscaling.DescribePoliciesOutput
		if got, err = pages.NextPage(ctx); err != nil {
			break
		}
		for _, p := range got.ScalingPolicies {
			counts[sdk.ToString(p.AutoScalingGroupName)]++
		}
	}
	for i := range found {
		if err != nil {
			miss(found[i].Facts, err, "autoscaling:DescribePolicies", "policy_count")
			continue
		}
		found[i].Facts["policy_count"] = float64(counts[found[i].Name])
	}
}

// askTasks adds what the tasks of services are: each definition is asked for once.
func askTasks(ctx context.Context, c ecsAPI, list []ecs.Service, found []cloud.Resource) {
	definition := map[string]string{}
	var names []string
	for _, s := range list {
		name := sdk.ToString(s.TaskDefinition)
		definition[longARN(sdk.ToString(s.ServiceArn), sdk.ToString(s.ClusterArn))] = name
		names = append(names, name)
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return n == "" })
	got, errs := make([]*ecs.DescribeTaskDefinitionOutput, len(names)), make([]error, len(names))
	each(len(names), func(i int) {
		got[i], errs[i] = c.DescribeTaskDefinition(ctx, &ecs.DescribeTaskDefinitionInput{TaskDefinition: &names[i]})
	})
	for _, r := range found {
		at, ok := slices.BinarySearch(names, definition[r.UID])
		switch {
		case !ok:
		case errs[at] != nil:
			miss(r.Facts, errs[at], "ecs:DescribeTaskDefinition", "architecture", "cpu_units")
		default:
			addTask(r.Facts, got[at].TaskDefinition)
		}
	}
}

func addTask(f cloud.Facts, t *ecs.TaskDefinition) {
	if t == nil {
		return
	}
	f["cpu_units"], f["architecture"] = numberIn(sdk.ToString(t.Cpu)), "X86_64"
	if t.RuntimePlatform != nil && t.RuntimePlatform.CpuArchitecture != "" {
		f["architecture"] = string(t.RuntimePlatform.CpuArchitecture)
	}
}

// askVersionLag adds how far node groups are behind their cluster.
func askVersionLag(ctx context.Context, c eksAPI, cluster string, found []cloud.Resource, versions []string) {
	if len(found) == 0 {
		return
	}
	out, err := c.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: &cluster})
	for i, r := range found {
		if err != nil {
			miss(r.Facts, err, "eks:DescribeCluster", "version_lag")
			continue
		}
		if lag, ok := minorsBehind(versions[i], sdk.ToString(out.Cluster.Version)); ok {
			r.Facts["version_lag"] = lag
		}
	}
}

// askBackups adds what the region's snapshots of clusters take, which Redshift tells for all of them together.
func askBackups(ctx context.Context, c redshiftAPI, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	out, err := c.DescribeStorage(ctx, &redshift.DescribeStorageInput{})
	for _, r := range found {
		if err != nil {
			miss(r.Facts, err, "redshift:DescribeStorage", "manual_snapshot_gb")
			continue
		}
		r.Facts["manual_snapshot_gb"] = sdk.ToFloat64(out.TotalBackupSizeInMegaBytes) / 1024
	}
}

// askNotebook adds what the listing of notebooks leaves out.
func askNotebook(ctx context.Context, c sagemakerAPI, r *cloud.Resource) {
	out, err := c.DescribeNotebookInstance(ctx, &sagemaker.DescribeNotebookInstanceInput{NotebookInstanceName: &r.Name})
	if err != nil {
		miss(r.Facts, err, "sagemaker:DescribeNotebookInstance", "direct_internet", "volume_gb")
		return
	}
	r.Facts["direct_internet"], r.Facts["volume_gb"] = out.DirectInternetAccess == "Enabled",
		count32(out.VolumeSizeInGB)
}

// numberIn reads a number that AWS writes as text; 0 of none.
func numberIn(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return n
}
