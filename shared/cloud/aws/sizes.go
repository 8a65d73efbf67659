package aws

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// sizesNeed is the permission of the descriptions of instance types.
const sizesNeed = "ec2:DescribeInstanceTypes"

// sizesPage is the largest page of instance types.
const sizesPage = 100

var _ cloud.Sizer = (*conn)(nil)

// Sizes describes the instance types of a region: about ten calls.
func (c *conn) Sizes(ctx context.Context, region string) ([]cloud.MachineSize, error) {
	if !regionName.MatchString(region) {
		return nil, cloud.ErrInvalid("%.64q is not the name of an AWS region", region)
	}
	api := ec2.NewFromConfig(c.regionConfig(region))
	pages := wire.NewPages(api.DescribeInstanceTypes,
		&ec2.DescribeInstanceTypesInput{MaxResults: sdk.Int32(sizesPage)})
	var out []cloud.MachineSize
	for pages.HasMorePages() {
		got, err := pages.NextPage(ctx)
		if err != nil {
			return nil, resource.ClassifyError(err)
		}
		for i := range got.InstanceTypes {
			if s, known := machineSize(&got.InstanceTypes[i]); known {
				out = append(out, s)
			}
		}
		if len(out) > cloud.MaxSizes {
			return nil, cloud.ErrUnsupported("region %s has more than %d instance types", region, cloud.MaxSizes)
		}
	}
	return out, nil
}

// machineSize returns the size of an instance type. It returns false for a type that AWS does not describe.
func machineSize(t *ec2.InstanceTypeInfo) (cloud.MachineSize, bool) {
	if t.VCpuInfo == nil || t.MemoryInfo == nil {
		return cloud.MachineSize{}, false
	}
	s := cloud.MachineSize{
		Name: string(t.InstanceType), VCPU: resource.Count32(t.VCpuInfo.DefaultVCpus),
		GiB: float64(sdk.ToInt64(t.MemoryInfo.SizeInMiB)) / 1024, GPU: t.GpuInfo != nil,
		LocalDisk: sdk.ToBool(t.InstanceStorageSupported), Burstable: sdk.ToBool(t.BurstablePerformanceSupported),
		Old: t.CurrentGeneration != nil && !*t.CurrentGeneration, Hypervisor: t.Hypervisor,
	}
	if p := t.ProcessorInfo; p != nil {
		s.Arm = slices.Contains(p.SupportedArchitectures, "arm64")
	}
	addDiskLimits(&s, t.EbsInfo)
	addNetworkLimits(&s, t.NetworkInfo)
	return s, true
}

// addDiskLimits adds the limits of volumes that hold all the time.
func addDiskLimits(s *cloud.MachineSize, e *ec2.EbsInfo) {
	if e == nil {
		return
	}
	if e.NvmeSupport == "required" {
		s.Drivers = append(s.Drivers, "nvme")
	}
	if o := e.EbsOptimizedInfo; o != nil {
		s.IOPS = resource.Count32(o.BaselineIops)
		s.MiBps = sdk.ToFloat64(o.BaselineThroughputInMBps) * 1e6 / (1 << 20)
	}
}

// addNetworkLimits adds the bandwidth of the first card that holds all the time.
func addNetworkLimits(s *cloud.MachineSize, n *ec2.NetworkInfo) {
	if n == nil {
		return
	}
	if s.NICs = resource.Count32(n.MaximumNetworkInterfaces); n.EnaSupport == "required" {
		s.Drivers = append(s.Drivers, "ena")
	}
	for _, card := range n.NetworkCards {
		if sdk.ToInt32(card.NetworkCardIndex) == sdk.ToInt32(n.DefaultNetworkCardIndex) {
			s.Mbps = sdk.ToFloat64(card.BaselineBandwidthInGbps) * 1000
		}
	}
}
