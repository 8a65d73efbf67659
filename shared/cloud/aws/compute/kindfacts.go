package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/cloud/aws/wire/sagemaker"
)

// askPolicies adds the number of policies that scale each group. One call returns up to 100 policies.
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
			resource.NoteMissing(found[i].Facts, err, "autoscaling:DescribePolicies", "policy_count")
			continue
		}
		found[i].Facts["policy_count"] = float64(counts[found[i].Name])
	}
}

// askNotebook adds the facts that the listing of notebooks leaves out.
func askNotebook(ctx context.Context, c sagemakerAPI, r *cloud.Resource) {
	out, err := c.DescribeNotebookInstance(ctx, &sagemaker.DescribeNotebookInstanceInput{NotebookInstanceName: &r.Name})
	if err != nil {
		resource.NoteMissing(r.Facts, err, "sagemaker:DescribeNotebookInstance", "direct_internet", "volume_gb")
		return
	}
	r.Facts["direct_internet"], r.Facts["volume_gb"] = out.DirectInternetAccess == "Enabled",
		resource.Count32(out.VolumeSizeInGB)
}

func instanceFacts(i ec2.Instance) cloud.Facts {
	f := cloud.Facts{
		"state": resource.NativeState(i), "launched_at": i.LaunchTime.Value().UTC(),
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
	if at, told := resource.StopTime(i); told {
		f["stopped_at"] = at
	}
	return f
}

func groupFacts(g autoscaling.AutoScalingGroup) cloud.Facts {
	f := cloud.Facts{
		"min_size": resource.Count32(g.MinSize), "max_size": resource.Count32(g.MaxSize),
		"desired":           resource.Count32(g.DesiredCapacity),
		"health_check_type": sdk.ToString(g.HealthCheckType), "target_groups": resource.SortTexts(g.TargetGroupARNs),
		"zones":                resource.SortTexts(g.AvailabilityZones),
		"launch_configuration": sdk.ToString(g.LaunchConfigurationName), "on_demand_pct": 100.0,
		"warm_pool_size": resource.Count32(g.WarmPoolSize),
	}
	var suspended []string
	for _, p := range g.SuspendedProcesses {
		suspended = append(suspended, sdk.ToString(p.ProcessName))
	}
	f["suspended"] = resource.SortTexts(suspended)
	if m := g.MixedInstancesPolicy; m != nil && m.InstancesDistribution != nil &&
		m.InstancesDistribution.OnDemandPercentageAboveBaseCapacity != nil {
		f["on_demand_pct"] = resource.Count32(m.InstancesDistribution.OnDemandPercentageAboveBaseCapacity)
	}
	return f
}
