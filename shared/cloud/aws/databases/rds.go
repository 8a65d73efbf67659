// Package databases holds databases, warehouses, caches and search domains.
package databases

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
)

// Databases are RDS instances; the uid is the ARN. AWS starts a stopped instance by itself after seven days; its
// State.Reason has the time. A resource that is to be stopped and reads "available" again must be stopped again.
// Members of clusters are listed, but acted on through their cluster.
var Databases = resource.Kind[rdsAPI]{
	Kind: resource.CatalogueKind(cloud.AWSRDS),
	Needs: resource.Needs{
		Discover:  []string{"rds:DescribeDBInstances", "rds:DescribeDBMajorEngineVersions", deploymentNeed},
		StartStop: []string{"rds:StartDBInstance", "rds:StopDBInstance"},
	},
	Client: func(cfg sdk.Config) rdsAPI { return rds.NewFromConfig(cfg) },
	List:   listDatabases,
	Read:   readDatabases,
	Act:    resource.ActOneByOne(actDatabase),
}

// rdsAPI is the subset of the RDS API that is called for instances and clusters.
type rdsAPI interface {
	DescribeBlueGreenDeployments(context.Context,
		*rds.DescribeBlueGreenDeploymentsInput) (*rds.DescribeBlueGreenDeploymentsOutput, error)
	DescribeDBInstances(context.Context, *rds.DescribeDBInstancesInput) (*rds.DescribeDBInstancesOutput, error)
	DescribeDBMajorEngineVersions(context.Context,
		*rds.DescribeDBMajorEngineVersionsInput) (*rds.DescribeDBMajorEngineVersionsOutput, error)
	StartDBInstance(context.Context, *rds.StartDBInstanceInput) (*rds.StartDBInstanceOutput,
		error)
	StopDBInstance(context.Context, *rds.StopDBInstanceInput) (*rds.StopDBInstanceOutput, error)
	DescribeDBClusters(context.Context, *rds.DescribeDBClustersInput) (*rds.DescribeDBClustersOutput, error)
	StartDBCluster(context.Context, *rds.StartDBClusterInput) (*rds.StartDBClusterOutput, error)
	StopDBCluster(context.Context, *rds.StopDBClusterInput) (*rds.StopDBClusterOutput, error)
}

// DatabaseName returns the name of the database instance in the ARN; "" for another ARN.
func DatabaseName(uid string) string { return resource.NameIn(uid, "rds", "db:") }

// listDatabases leaves out the instances of DocumentDB and Neptune, which the call returns too.
func listDatabases(ctx context.Context, c rdsAPI, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeDBInstances(ctx,
		&rds.DescribeDBInstancesInput{MaxRecords: sdk.Int32(100), Marker: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.Marker)}
	var versions []engineVersion
	for _, d := range out.DBInstances {
		if !foreignEngine(sdk.ToString(d.Engine)) {
			p.Resources = append(p.Resources, databaseResource(d))
			versions = append(versions, engineVersion{sdk.ToString(d.Engine), sdk.ToString(d.EngineVersion)})
		}
	}
	askSupportEnds(ctx, c, p.Resources, versions)
	return p, tieDeployed(ctx, c, p.Resources)
}

func foreignEngine(engine string) bool { return engine == "docdb" || engine == "neptune" }

func databaseResource(d rds.DBInstance) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(d.DBInstanceArn), Name: sdk.ToString(d.DBInstanceIdentifier),
		Zone: sdk.ToString(d.AvailabilityZone), Status: databaseStatus(sdk.ToString(d.DBInstanceStatus)),
		InstanceType: sdk.ToString(d.DBInstanceClass), Tags: databaseTags(d.TagList),
		Capacity:      map[string]int64{"storageGiB": int64(sdk.ToInt32(d.AllocatedStorage))},
		Unschedulable: tiedDatabase(d), CreatedAt: d.InstanceCreateTime.Value().UTC(), Facts: databaseFacts(d),
	}
	if c := sdk.ToString(d.DBClusterIdentifier); c != "" {
		r.ParentUID = strings.TrimSuffix(r.UID, "db:"+r.Name) + "cluster:" + c
	}
	return r
}

func databaseTags(list []rds.Tag) map[string]string {
	tags := map[string]string{}
	for _, t := range list {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return tags
}

// tiedDatabase returns the reason why an instance cannot be stopped, or "". AWS refuses these instances too, but too
// late.
func tiedDatabase(d rds.DBInstance) string {
	engine := sdk.ToString(d.Engine)
	switch {
	case sdk.ToString(d.DBClusterIdentifier) != "":
		return "member of DB cluster " + *d.DBClusterIdentifier + ": act on the cluster"
	case sdk.ToString(d.ReadReplicaSourceDBInstanceIdentifier) != "":
		return "read replica of " + *d.ReadReplicaSourceDBInstanceIdentifier + ", which RDS does not stop"
	case sdk.ToString(d.ReadReplicaSourceDBClusterIdentifier) != "":
		return "read replica of cluster " + *d.ReadReplicaSourceDBClusterIdentifier + ", which RDS does not stop"
	case len(d.ReadReplicaDBInstanceIdentifiers)+len(d.ReadReplicaDBClusterIdentifiers) > 0:
		replicas := slices.Concat(d.ReadReplicaDBInstanceIdentifiers, d.ReadReplicaDBClusterIdentifiers)
		return "source of read replicas (" + strings.Join(replicas, ", ") + "), which RDS does not stop"
	case strings.HasPrefix(engine, "custom-"):
		return "RDS Custom, which cannot be stopped"
	case strings.HasPrefix(engine, "sqlserver") && sdk.ToBool(d.MultiAZ):
		return "SQL Server in several zones, which RDS does not stop"
	}
	return ""
}

func readDatabases(ctx context.Context, c rdsAPI, uids []string) ([]cloud.State, error) {
	names := resource.NamesIn(uids, DatabaseName)
	if len(names) == 0 {
		return nil, nil
	}
	out, err := c.DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{
		MaxRecords: sdk.Int32(100),
		Filters:    []rds.Filter{{Name: sdk.String("db-instance-id"), Values: slices.Sorted(maps.Keys(names))}},
	})
	if err != nil {
		return nil, err
	}
	var states []cloud.State
	for _, d := range out.DBInstances {
		if uid := sdk.ToString(d.DBInstanceArn); names[DatabaseName(uid)] == uid {
			states = append(states,
				databaseState(uid, sdk.ToString(d.DBInstanceStatus), tiedDatabase(d), d.AutomaticRestartTime))
		}
	}
	return states, tieDeployedStates(ctx, c, states)
}

func databaseState(uid, native, tied string, restart *wire.Time) cloud.State {
	s := cloud.State{UID: uid, Status: databaseStatus(native), Native: native, Unschedulable: tied}
	switch {
	case s.Status == cloud.Unknown:
		s.Reason = "RDS reports " + native
	case s.Status == cloud.Stopped && restart != nil:
		s.Reason = "RDS starts it by itself at " + restart.UTC().Format(time.RFC3339)
	}
	return s
}

func actDatabase(ctx context.Context, c rdsAPI, v cloud.Verb, t cloud.Target) error {
	name := DatabaseName(t.UID)
	if name == "" {
		return cloud.ErrNotFound("%q is not the ARN of an RDS instance", t.UID)
	}
	if v == cloud.Start {
		_, err := c.StartDBInstance(ctx, &rds.StartDBInstanceInput{DBInstanceIdentifier: &name})
		return err
	}
	_, err := c.StopDBInstance(ctx, &rds.StopDBInstanceInput{DBInstanceIdentifier: &name})
	return err
}

var databaseStatuses = map[string]cloud.Status{
	"available":            cloud.Running,
	"storage-optimization": cloud.Running, // in full service, for hours
	"stopped":              cloud.Stopped,
	"starting":             cloud.Starting,
	"stopping":             cloud.Stopping,
	"deleting":             cloud.Terminated,
	"deleted":              cloud.Terminated,
}

// databaseStatus converts RDS's statuses of instances and clusters. Dozens of them mean work under way (modifying,
// backing-up, configuring-…), which ends by itself. The ones below need a person.
func databaseStatus(native string) cloud.Status {
	if s, ok := databaseStatuses[native]; ok {
		return s
	}
	for _, bad := range []string{
		"failed", "incompatible-", "inaccessible-", "storage-full", "insufficient-",
		"restore-error",
	} {
		if strings.Contains(native, bad) {
			return cloud.Unknown
		}
	}
	if native == "" {
		return cloud.Unknown
	}
	return cloud.Pending
}
