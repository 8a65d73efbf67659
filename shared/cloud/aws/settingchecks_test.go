package aws_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// nitroMachine are the elements of an instance that has run on Nitro, and machineTypes what AWS says of its types.
const (
	nitroMachine = `<architecture>x86_64</architecture><enaSupport>true</enaSupport>` +
		`<currentInstanceBootMode>legacy-bios</currentInstanceBootMode>`
	machineTypes = `{"instanceTypeSet":[
		{"instanceType":"m5.xlarge","hypervisor":"nitro","supportedBootModes":["legacy-bios","uefi"],
			"processorInfo":{"supportedArchitectures":["x86_64"]},"networkInfo":{"enaSupport":"required"}},
		{"instanceType":"m5.large","hypervisor":"nitro","supportedBootModes":["legacy-bios","uefi"],
			"processorInfo":{"supportedArchitectures":["x86_64"]},"networkInfo":{"enaSupport":"required"}},
		{"instanceType":"m7g.large","hypervisor":"nitro","supportedBootModes":["uefi"],
			"processorInfo":{"supportedArchitectures":["arm64"]},"networkInfo":{"enaSupport":"required"}},
		{"instanceType":"m9.large","hypervisor":"nitro","supportedBootModes":["uefi"],
			"processorInfo":{"supportedArchitectures":["x86_64"]},"networkInfo":{"enaSupport":"required"}},
		{"instanceType":"m4.large","hypervisor":"xen","supportedBootModes":["legacy-bios"],
			"processorInfo":{"supportedArchitectures":["i386","x86_64"]},"networkInfo":{"enaSupport":"unsupported"}}]}`
)

// refused wants the plan of a change to be refused with some words.
func refused(t *testing.T, c cloud.Changer, change cloud.Change, says string) {
	t.Helper()
	if _, err := c.PlanChange(t.Context(), change); err == nil || cloud.ClassOf(err).Retryable() ||
		!strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

func TestSettings_AnInstanceMovesOnlyToATypeWhoseDriversItHas(t *testing.T) {
	for name, c := range map[string]struct{ from, to, machine, says string }{
		"another hypervisor":          {"m4.large", "m5.large", nitroMachine, "runs on hypervisor"},
		"a type that AWS lacks":       {"m5.xlarge", "m99.large", nitroMachine, "runs on hypervisor"},
		"another processor":           {"m5.xlarge", "m7g.large", nitroMachine, "does not run programs for"},
		"a processor of no one knows": {"m5.xlarge", "m5.large", "", "does not run programs for"},
		"another boot mode":           {"m5.xlarge", "m9.large", nitroMachine, "does not boot by legacy-bios"},
		"no driver of the network": {
			"m5.xlarge", "m5.large", strings.Replace(nitroMachine, "true", "false", 1), "needs the driver ENA",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw, conn := connect(t)
			i := tw.AddInstance(awstwin.Instance{
				ID: awstwin.InstanceID(1), Region: changedRegion, Type: c.from, State: "stopped",
			})
			tw.Describe(i.ID, c.machine)
			tw.Hold("ec2:DescribeInstanceTypes", machineTypes)
			refused(t, conn.(cloud.Changer), cloud.Change{
				Verb: cloud.Resize, Kind: cloud.AWSEC2, Region: changedRegion, UID: i.ID,
				Want: cloud.Values{"class": c.to},
			}, c.says)
		})
	}
}

// countTokens sets the uses of IMDSv1 of each of the last days, today first.
func countTokens(tw *awstwin.Cloud, counts ...float64) *[]float64 {
	counts = slices.Clone(counts)
	tw.AddSeries(awstwin.Series{
		Metric: "MetadataNoToken", Statistic: "Sum", Dimension: "i-1", Value: func(at time.Time) (float64, bool) {
			day := int(time.Now().UTC().Truncate(24*time.Hour).Sub(at) / (24 * time.Hour))
			if day >= len(counts) {
				return 0, false
			}
			return counts[day], true
		},
	})
	return &counts
}

func TestSettings_IMDSv2IsRequiredOnlyIfNobodyUsedIMDSv1(t *testing.T) {
	unused := make([]float64, 15)
	change := cloud.Change{
		Verb: cloud.Guard, Kind: cloud.AWSEC2, Region: changedRegion, UID: "i-1", Token: "rem_1-0",
		Want: cloud.Values{"imds_tokens": "required"},
	}
	held := `{"reservationSet":[{"instancesSet":[{"instanceId":"i-1","metadataOptions":{"httpTokens":"optional"}}]}]}`
	for name, c := range map[string]struct {
		counts []float64
		says   string
	}{
		"it was used":                 {append([]float64{3}, unused...), "was used 3 times"},
		"half of the days are absent": {unused[:7], "on 7 days, not on 14"},
		"nothing was counted":         {nil, "on 0 days"},
		"nobody used it":              {unused, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tw, conn := connect(t)
			changer := conn.(cloud.Changer)
			tw.Hold("ec2:DescribeInstances", held)
			counts := countTokens(tw, c.counts...)
			if c.says != "" {
				refused(t, changer, change, c.says)
				return
			}
			before := tw.Held()
			p := applied(t, tw, changer, change)
			if tw.Held()["ec2:DescribeInstances"] == before["ec2:DescribeInstances"] {
				t.Error("nothing was changed")
			}
			if undo(t, changer, change, p); !maps.Equal(tw.Held(), before) {
				t.Errorf("%v, before %v", tw.Held(), before)
			}
			(*counts)[1] = 1
			call := cloud.ChangeCall{Change: change, Set: p.After}
			if err := changer.ApplyChange(t.Context(), call); cloud.ClassOf(err) != cloud.Unsupported {
				t.Errorf("used between plan and change: %v", err)
			}
		})
	}
}

func TestSettings_SuspendedProcessesAreResumedAndSuspendedAgain(t *testing.T) {
	tw, conn := connect(t)
	g := tw.AddGroup(awstwin.Group{
		Name: "web", Region: changedRegion, Min: 1, Max: 3, Desired: 2, Suspended: []string{"HealthCheck", "Launch"},
	})
	change := cloud.Change{
		Verb: cloud.Guard, Kind: cloud.AWSASG, Region: changedRegion, Token: "rem_1-0",
		UID: "arn:aws:autoscaling:" + changedRegion + ":" + awstwin.Account +
			":autoScalingGroup:0f0f:autoScalingGroupName/web",
		Want: cloud.Values{"suspended": ""},
	}
	p := applied(t, tw, conn.(cloud.Changer), change)
	if len(g.Suspended) > 0 {
		t.Errorf("after the change: %v", g.Suspended)
	}
	if undo(t, conn.(cloud.Changer), change, p); fmt.Sprint(g.Suspended) != "[HealthCheck Launch]" {
		t.Errorf("after the undo: %v", g.Suspended)
	}
}

func TestSettings_ADatabaseGetsOnlyAClassThatAWSOffersForIt(t *testing.T) {
	tw, conn := connect(t)
	c := conn.(cloud.Changer)
	db := tw.AddDatabase(awstwin.Database{
		ID: "shop", Region: changedRegion, Engine: "postgres", Class: "db.m6i.xlarge",
		Settings: map[string]string{"EngineVersion": "16.3", "LicenseModel": "postgresql-license"},
	})
	change := cloud.Change{
		Verb: cloud.Resize, Kind: cloud.AWSRDS, Region: changedRegion, UID: db.ARN(), Token: "rem_1-0",
		Want: cloud.Values{"class": "db.m7g.large"},
	}
	tw.Hold("rds:DescribeOrderableDBInstanceOptions", `{"OrderableDBInstanceOptions":{}}`)
	refused(t, c, change, "does not offer db.m7g.large for postgres 16.3")
	tw.Hold("rds:DescribeOrderableDBInstanceOptions", `{"OrderableDBInstanceOptions":{"OrderableDBInstanceOption":[
		{"DBInstanceClass":"db.m7g.large"},{"DBInstanceClass":"db.m6i.xlarge"}]}}`)
	p := applied(t, tw, c, change)
	tw.SettleAll()
	if db.Class != "db.m7g.large" {
		t.Errorf("after the change: %s", db.Class)
	}
	if undo(t, c, change, p); db.Class != "db.m6i.xlarge" {
		t.Errorf("after the undo: %s", db.Class)
	}
	change.Want = cloud.Values{"class": "m7g.large; drop"}
	tw.SettleAll()
	refused(t, c, change, "is no class of databases")
}

func TestSettings_ACacheIsChangedOnlyWithItsGroupAndToAnAllowedType(t *testing.T) {
	i := slices.IndexFunc(settingCases(), func(c settingCase) bool { return c.kind == "aws-elasticache" })
	c := settingCases()[i]
	tw, changer := c.open(t)
	c.want = cloud.Values{"class": "cache.r7g.24xlarge"}
	refused(t, changer, c.change(), "does not change its replication group to")
	tw.Hold("elasticache:DescribeCacheClusters", `{"CacheClusters":{"CacheCluster":{"CacheClusterId":"sessions-001"}}}`)
	refused(t, changer, c.change(), "has no ReplicationGroupId")
}

func TestSettings_ATableWithIndexesKeepsItsBillingMode(t *testing.T) {
	c := settingCases()[2]
	tw, changer := c.open(t)
	tw.Hold("dynamodb:DescribeTable", strings.Replace(c.held["dynamodb:DescribeTable"], `"TableName"`,
		`"GlobalSecondaryIndexes":[{"IndexName":"by-day"}],"TableName"`, 1))
	refused(t, changer, c.change(), "indexes have units of their own")
}

func TestSettings_ABootVolumeDoesNotBecomeAColdDisk(t *testing.T) {
	for device, says := range map[string]string{"/dev/xvda": "boot volume", "/dev/sdf": ""} {
		tw, c := changedCloud(t)
		tw.Hold("ec2:DescribeInstances", `{"reservationSet":[{"instancesSet":[{"instanceId":"i-1","rootDeviceName":
			"/dev/xvda","blockDeviceMapping":[{"deviceName":"`+device+`","ebs":{"volumeId":"vol-3"}}]}]}]}`)
		tw.AddVolume(awstwin.Volume{ID: "vol-3", Region: changedRegion, Type: "gp2", SizeGB: 800, Instance: "i-1"})
		change := changeOf("aws-ebs", cloud.ChangeStorage, "volume/vol-3")
		change.Want = cloud.Values{"volume_type": "sc1"}
		if says != "" {
			refused(t, c, change, says)
			continue
		}
		if _, err := c.PlanChange(t.Context(), change); err != nil {
			t.Error(err)
		}
	}
}
