package aws_test

import (
	"math"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// described is a type of EC2 as AWS describes it.
const described = `<item><instanceType>m6i.large</instanceType><currentGeneration>true</currentGeneration>` +
	`<hypervisor>nitro</hypervisor><instanceStorageSupported>false</instanceStorageSupported>` +
	`<burstablePerformanceSupported>false</burstablePerformanceSupported>` +
	`<processorInfo><supportedArchitectures><item>x86_64</item></supportedArchitectures></processorInfo>` +
	`<vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo>` +
	`<ebsInfo><ebsOptimizedInfo><baselineBandwidthInMbps>650</baselineBandwidthInMbps>` +
	`<baselineThroughputInMBps>81.25</baselineThroughputInMBps><baselineIops>3600</baselineIops>` +
	`<maximumIops>40000</maximumIops></ebsOptimizedInfo><nvmeSupport>required</nvmeSupport></ebsInfo>` +
	`<networkInfo><maximumNetworkInterfaces>3</maximumNetworkInterfaces><enaSupport>required</enaSupport>` +
	`<defaultNetworkCardIndex>0</defaultNetworkCardIndex><networkCards><item><networkCardIndex>0</networkCardIndex>` +
	`<baselineBandwidthInGbps>0.781</baselineBandwidthInGbps><peakBandwidthInGbps>12.5</peakBandwidthInGbps></item>` +
	`</networkCards></networkInfo></item>`

func TestSizes_HaveTheLimitsThatHoldAllTheTime(t *testing.T) {
	tw, c := connect(t)
	tw.Tell("ec2:DescribeInstanceTypes", `<instanceTypeSet>`+described+
		`<item><instanceType>t4g.micro</instanceType>`+
		`<burstablePerformanceSupported>true</burstablePerformanceSupported>`+
		`<processorInfo><supportedArchitectures><item>arm64</item></supportedArchitectures></processorInfo>`+
		`<vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo>`+
		`<memoryInfo><sizeInMiB>1024</sizeInMiB></memoryInfo></item>`+
		`<item><instanceType>m1.old</instanceType><currentGeneration>false</currentGeneration></item>`+
		`</instanceTypeSet>`)
	got, err := c.(cloud.Sizer).Sizes(t.Context(), region)
	if err != nil || len(got) != 2 {
		t.Fatalf("%+v, %v; want two types", got, err)
	}
	s := got[0]
	if s.Name != "m6i.large" || s.VCPU != 2 || s.GiB != 8 || s.IOPS != 3600 || math.Abs(s.MiBps-77.49) > 0.01 ||
		s.Mbps != 781 || s.NICs != 3 || s.Hypervisor != "nitro" || !slices.Equal(s.Drivers, []string{"nvme", "ena"}) ||
		s.Arm || s.Old || s.LocalDisk || s.Burstable || s.GPU {
		t.Errorf("%+v", s)
	}
	if s = got[1]; !s.Arm || !s.Burstable || s.IOPS != 0 || s.Mbps != 0 {
		t.Errorf("a type without limits: %+v", s)
	}
}

func TestSizes_AreRefusedWithTheNameOfThePermission(t *testing.T) {
	tw, c := connect(t)
	tw.AddFault(awstwin.Fault{
		Op: "ec2:DescribeInstanceTypes", Code: "UnauthorizedOperation", Message: "not authorized", Status: 403,
		Times: -1,
	})
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), region); cloud.ClassOf(err) != cloud.Denied {
		t.Errorf("without the permission: %v", err)
	}
	if _, err := c.(cloud.Sizer).Sizes(t.Context(), "eu west"); cloud.ClassOf(err) != cloud.Invalid {
		t.Errorf("of no region: %v", err)
	}
	if n := len(tw.Calls("ec2:DescribeInstanceTypes")); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}
