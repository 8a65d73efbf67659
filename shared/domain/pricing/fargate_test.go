package pricing_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
)

// fargateTable has the public prices of us-east-1 (https://aws.amazon.com/fargate/pricing).
func fargateTable(tb testing.TB) *pricing.Table {
	tb.Helper()
	t := &pricing.Table{}
	for key, price := range map[string]string{
		"fargate/vcpu": "0.04048", "fargate/gib": "0.004445",
		"fargate/arm/vcpu": "0.03238", "fargate/arm/gib": "0.00356", "fargate/storage": "0.000111",
	} {
		t.Add(cloud.Price{Key: key, Unit: cloud.PerHour, USD: amount(tb, price)})
	}
	return t
}

func TestRate_OfFargate(t *testing.T) {
	const half = ";task_vcpu=0.5;task_gib=1"
	for name, c := range map[string]struct {
		inputs  string
		desired int64
		status  cloud.Status
		monthly string
		reason  string
	}{
		"two tasks of half a vCPU and a gibibyte": {
			"launch_type=FARGATE" + half + ";architecture=X86_64;os_family=LINUX", 2, cloud.Running, "36.0401", "",
		},
		"the same on Graviton": {
			"launch_type=FARGATE" + half + ";architecture=ARM64;os_family=LINUX", 2, cloud.Running, "28.8350", "",
		},
		"with 100 GiB of ephemeral storage, 80 above the free ones": {
			"launch_type=FARGATE" + half + ";task_storage_gib=100", 2, cloud.Running, "49.0049", "",
		},
		"with the free storage": {
			"launch_type=FARGATE" + half + ";task_storage_gib=20", 2, cloud.Running, "36.0401", "",
		},
		"a stopped service":        {"launch_type=FARGATE" + half, 0, cloud.Stopped, "0.0000", ""},
		"Fargate Spot":             {"launch_type=FARGATE_SPOT" + half, 2, cloud.Running, "", "Fargate Spot"},
		"Fargate and Fargate Spot": {"launch_type=FARGATE,FARGATE_SPOT" + half, 2, cloud.Running, "", "several"},
		"instances":                {"launch_type=EC2" + half, 2, cloud.Running, "", "priced by themselves"},
		"instances of a provider":  {"launch_type=own-instances" + half, 2, cloud.Running, "", "priced by themselves"},
		"machines outside of AWS":  {"launch_type=EXTERNAL" + half, 2, cloud.Running, "", "priced by themselves"},
		"an unknown launch type":   {"task_vcpu=1;task_gib=2", 2, cloud.Running, "", "launch_type is not known"},
		"an unknown size":          {"launch_type=FARGATE", 2, cloud.Running, "", "task_vcpu is not known"},
		"Windows": {
			"launch_type=FARGATE" + half + ";os_family=WINDOWS_SERVER_2022_CORE", 2, cloud.Running, "", "license",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := pricing.Rate(fargateTable(t), pricing.Resource{
				Type: "aws-ecs", Class: "FARGATE", Status: c.status, Inputs: c.inputs,
				Capacity: map[string]int64{"desired": c.desired},
			})
			if e.OK() != (c.reason == "") || !strings.Contains(e.Reason, c.reason) {
				t.Fatalf("the reason is %q; want %q", e.Reason, c.reason)
			}
			monthly := e.Monthly()
			if e.OK() && monthly.Fixed(4) != c.monthly {
				t.Errorf("%s a month; want %s", monthly.Fixed(4), c.monthly)
			}
		})
	}
}
