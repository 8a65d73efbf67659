package settings

import (
	"context"
	"slices"
	"strconv"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatch"
)

// tokenDays is for how many days nobody may have used IMDSv1.
const tokenDays = 14

// needsNoOldTokens refuses to require IMDSv2 unless CloudWatch has counted no use of IMDSv1 on each of the last days.
func needsNoOldTokens(ctx context.Context, k *change, d cloud.Description, set cloud.Values) error {
	if set["imds_tokens"] != "required" {
		return nil
	}
	today := k.at.Now.UTC().Truncate(24 * time.Hour)
	out, err := cloudwatch.NewFromConfig(k.at.Cfg).GetMetricData(ctx, &cloudwatch.GetMetricDataInput{
		StartTime: &wire.Time{Time: today.AddDate(0, 0, -tokenDays)}, EndTime: &wire.Time{Time: k.at.Now.UTC()},
		MetricDataQueries: []cloudwatch.MetricDataQuery{{
			Id: sdk.String("used"), MetricStat: &cloudwatch.MetricStat{
				Period: sdk.Int32(24 * 3600), Stat: sdk.String("Sum"), Metric: &cloudwatch.Metric{
					Namespace: sdk.String("AWS/EC2"), MetricName: sdk.String("MetadataNoToken"),
					Dimensions: []cloudwatch.Dimension{{
						Name: sdk.String("InstanceId"), Value: sdk.String(k.parts["id"]),
					}},
				},
			},
		}},
	})
	if err != nil {
		return resource.ClassifyError(err)
	}
	var counts []float64
	for _, r := range out.MetricDataResults {
		counts = append(counts, r.Values...)
	}
	for _, n := range counts {
		if n > 0 {
			return cloud.ErrUnsupported("IMDSv1 was used %s times on a day of the last %d: update the programs first",
				strconv.FormatFloat(n, 'f', -1, 64), tokenDays)
		}
	}
	if len(counts) < tokenDays {
		return cloud.ErrUnsupported("CloudWatch has counted the use of IMDSv1 on %d days, not on %d: wait for them",
			len(counts), tokenDays)
	}
	return nil
}

// needsResizable refuses a type for an instance that runs, belongs to a group, would lose data, or may lack drivers.
func needsResizable(ctx context.Context, k *change, d cloud.Description, set cloud.Values) error {
	i, _, err := cloud.DecodeSnapshot[map[string]any](d.Native, "instance")
	if err != nil {
		return err
	}
	at := func(path string) string { return textOf(find(i, path)) }
	group := at("tagSet[key=aws:autoscaling:groupName].value")
	switch {
	case group != "":
		return cloud.ErrUnsupported("it belongs to Auto Scaling group %s: change the group", group)
	case at("rootDeviceType") == "instance-store":
		return cloud.ErrUnsupported("its root device is an instance store, whose data a change of its type would lose")
	case at("spotInstanceRequestId") != "":
		return cloud.ErrUnsupported("it is a Spot instance: its type is that of its request")
	case at("instanceState.name") != "stopped":
		return cloud.ErrUnsupported("it is %s: it must be stopped for this change", at("instanceState.name"))
	}
	return needsDrivers(ctx, k, i, set["class"])
}

// needsDrivers refuses a type on another hypervisor, of another processor, or with a network or boot mode that the
// instance has not shown that it can use. An instance that has run on Nitro has the drivers of Nitro.
func needsDrivers(ctx context.Context, k *change, i map[string]any, class string) error {
	now := textOf(find(i, "instanceType"))
	out, err := k.send(ctx, call{op: "ec2:DescribeInstanceTypes", in: params{
		"InstanceType.1": now, "InstanceType.2": given{class},
	}}, scope{})
	if err != nil {
		return err
	}
	from := selected(find(map[string]any(out), "instanceTypeSet"), "instanceType="+now)
	to := selected(find(map[string]any(out), "instanceTypeSet"), "instanceType="+class)
	hypervisor := textOf(find(to, "hypervisor"))
	boot := textOf(find(i, "currentInstanceBootMode"))
	architecture := textOf(find(i, "architecture"))
	switch {
	case hypervisor == "" || textOf(find(from, "hypervisor")) != hypervisor:
		return cloud.ErrUnsupported("%s runs on hypervisor %q, and %s on %q: no read shows whether it has the drivers",
			now, textOf(find(from, "hypervisor")), class, hypervisor)
	case !slices.Contains(textsOf(find(to, "processorInfo.supportedArchitectures"), ""), architecture):
		return cloud.ErrUnsupported("%s does not run programs for %q", class, architecture)
	case textOf(find(to, "networkInfo.enaSupport")) == "required" && textOf(find(i, "enaSupport")) != "true":
		return cloud.ErrUnsupported("%s needs the driver ENA, which its image does not declare", class)
	case boot != "" && !slices.Contains(textsOf(find(to, "supportedBootModes"), ""), boot):
		return cloud.ErrUnsupported("%s does not boot by %s", class, boot)
	}
	return nil
}

// BootedBy returns the instance that boots from a volume, "" for none.
func BootedBy(ctx context.Context, at resource.Place, volume string) (string, error) {
	p := place{at: at}
	out, err := p.send(ctx, call{op: "ec2:DescribeInstances", in: params{
		"Filter.1.Name": "block-device-mapping.volume-id", "Filter.1.Value.1": volume,
	}}, scope{})
	if err != nil {
		return "", err
	}
	for _, r := range listOf(find(map[string]any(out), "reservationSet")) {
		for _, i := range listOf(find(r, "instancesSet")) {
			root := selected(find(i, "blockDeviceMapping"), "deviceName="+textOf(find(i, "rootDeviceName")))
			if textOf(find(root, "ebs.volumeId")) == volume {
				return textOf(find(i, "instanceId")), nil
			}
		}
	}
	return "", nil
}
