package aws

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
	"lamplighter.dev/shared/cloud/aws/wire/redshift"
)

// This file reads the facts of facts.csv out of what the listings of the kinds hold: nothing is asked for them.

// miss notes that facts could not be read: by the permission that was asked for, and AWS's word for what was wrong.
func miss(f cloud.Facts, err error, need string, names ...string) {
	code := codeOf(err)
	if e, ok := errors.AsType[*cloud.Error](classifyError(err)); ok && code == "" {
		code = e.Code
	}
	f.Miss(need+": "+code, names...)
}

// texts is a list of texts as a fact: empty, and not nil, and in order where AWS keeps none.
func texts(all []string) []string {
	out := append([]string{}, all...)
	slices.Sort(out)
	return out
}

func count32(n *int32) float64 { return float64(sdk.ToInt32(n)) }

func instanceFacts(i ec2.Instance) cloud.Facts {
	f := cloud.Facts{
		"state": nativeState(i), "launched_at": i.LaunchTime.Value().UTC(),
		"platform":     sdk.ToString(i.PlatformDetails),
		"architecture": string(i.Architecture), "public_ip": sdk.ToString(i.PublicIpAddress), "asg_name": "",
		"tenancy":    "default",
		"monitoring": "disabled",
	}
	for _, t := range i.Tags {
		if sdk.ToString(t.Key) == "aws:autoscaling:groupName" {
			f["asg_name"] = sdk.ToString(t.Value)
		}
	}
	if i.Placement != nil && i.Placement.Tenancy != "" {
		f["tenancy"] = string(i.Placement.Tenancy)
	}
	if i.Monitoring != nil {
		f["monitoring"] = string(i.Monitoring.State)
	}
	if i.MetadataOptions != nil {
		f["imds_tokens"] = string(i.MetadataOptions.HttpTokens)
	}
	if at, told := stopTime(i); told {
		f["stopped_at"] = at
	}
	return f
}

func databaseFacts(d rds.DBInstance) cloud.Facts {
	f := cloud.Facts{
		"state": sdk.ToString(d.DBInstanceStatus), "engine": sdk.ToString(d.Engine), "multi_az": sdk.ToBool(d.MultiAZ),
		"storage_type": sdk.ToString(d.StorageType), "allocated_gb": count32(d.AllocatedStorage),
		"max_allocated_gb": count32(d.MaxAllocatedStorage),
		"iops":             count32(d.Iops), "replica_source": sdk.ToString(d.ReadReplicaSourceDBInstanceIdentifier),
		"replica_count": float64(len(d.ReadReplicaDBInstanceIdentifiers)),
		"backup_days":   count32(d.BackupRetentionPeriod),
		"public":        sdk.ToBool(d.PubliclyAccessible), "encrypted": sdk.ToBool(d.StorageEncrypted),
		"deletion_protection": sdk.ToBool(d.DeletionProtection), "auto_minor": sdk.ToBool(d.AutoMinorVersionUpgrade),
		"license_model": sdk.ToString(d.LicenseModel), "insights_days": count32(d.PerformanceInsightsRetentionPeriod),
	}
	if d.CertificateDetails != nil && d.CertificateDetails.ValidTill != nil {
		f["ca_valid_till"] = d.CertificateDetails.ValidTill.UTC()
	}
	return f
}

// clusterFacts are those of a cluster of databases; of DocumentDB and Neptune the rules ask for the state alone.
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

func groupFacts(g autoscaling.AutoScalingGroup) cloud.Facts {
	f := cloud.Facts{
		"min_size": count32(g.MinSize), "max_size": count32(g.MaxSize), "desired": count32(g.DesiredCapacity),
		"health_check_type": sdk.ToString(g.HealthCheckType), "target_groups": texts(g.TargetGroupARNs),
		"zones":                texts(g.AvailabilityZones),
		"launch_configuration": sdk.ToString(g.LaunchConfigurationName), "on_demand_pct": 100.0,
		"warm_pool_size": count32(g.WarmPoolSize),
	}
	var suspended []string
	for _, p := range g.SuspendedProcesses {
		suspended = append(suspended, sdk.ToString(p.ProcessName))
	}
	f["suspended"] = texts(suspended)
	if m := g.MixedInstancesPolicy; m != nil && m.InstancesDistribution != nil &&
		m.InstancesDistribution.OnDemandPercentageAboveBaseCapacity != nil {
		f["on_demand_pct"] = count32(m.InstancesDistribution.OnDemandPercentageAboveBaseCapacity)
	}
	return f
}

func serviceFacts(s ecs.Service, scaled *scaling) cloud.Facts {
	f := cloud.Facts{
		"launch_type": string(s.LaunchType), "desired": float64(s.DesiredCount), "running": float64(s.RunningCount),
		"strategy": string(s.SchedulingStrategy), "circuit_breaker": false, "autoscaled": scaled != nil,
		"min_capacity": 0.0,
		"rollout_failed": slices.ContainsFunc(s.Deployments, func(d ecs.Deployment) bool {
			return d.RolloutState == ecs.DeploymentRolloutStateFailed
		}),
	}
	if len(s.CapacityProviderStrategy) > 0 {
		f["launch_type"] = sdk.ToString(s.CapacityProviderStrategy[0].CapacityProvider)
	}
	if c := s.DeploymentConfiguration; c != nil && c.DeploymentCircuitBreaker != nil {
		f["circuit_breaker"] = c.DeploymentCircuitBreaker.Enable
	}
	if scaled != nil {
		f["min_capacity"] = float64(scaled.Min)
	}
	return f
}

func nodegroupFacts(n *eks.Nodegroup) cloud.Facts {
	s := nodegroupSize(n)
	f := cloud.Facts{
		"min_size": float64(s.Min), "max_size": float64(s.Max), "desired": float64(s.Desired),
		"capacity_type":  string(n.CapacityType),
		"instance_types": texts(n.InstanceTypes), "health_issues": 0.0,
	}
	if n.Health != nil {
		f["health_issues"] = float64(len(n.Health.Issues))
	}
	return f
}

func warehouseFacts(c redshift.Cluster) cloud.Facts {
	return cloud.Facts{
		"state": sdk.ToString(c.ClusterStatus), "node_type": sdk.ToString(c.NodeType),
		"node_count": count32(c.NumberOfNodes),
		"encrypted":  sdk.ToBool(c.Encrypted), "public": sdk.ToBool(c.PubliclyAccessible),
		"manual_snapshot_days": count32(c.ManualSnapshotRetentionPeriod),
	}
}

// minorsBehind counts the minor versions that one is behind another: "1.31" is 2 behind "1.33".
func minorsBehind(version, of string) (float64, bool) {
	minor := func(v string) (int, error) { return strconv.Atoi(strings.Split(v+".", ".")[1]) }
	a, err := minor(version)
	b, err2 := minor(of)
	return float64(max(b-a, 0)), err == nil && err2 == nil
}
