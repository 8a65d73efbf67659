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

// listOthers reads all pages of the resources without a kind of their own in a region, and returns the number of
// pages.
func listOthers(t *testing.T, c cloud.Conn, region string) (map[string]cloud.Resource, int) {
	t.Helper()
	out, page := map[string]cloud.Resource{}, ""
	for n := 1; n < 50; n++ {
		got, err := c.List(t.Context(), cloud.AWSOthers, region, page)
		if err != nil {
			t.Fatalf("page %d: %v", n, err)
		}
		for _, r := range got.Resources {
			if _, twice := out[r.UID]; twice || r.Region != region {
				t.Errorf("%+v: listed twice, or of another region than %s", r, region)
			}
			out[r.UID] = r
		}
		if page = got.Next; page == "" {
			return out, n
		}
	}
	t.Fatal("the listing does not end")
	return nil, 0
}

// fill adds one resource of each type to the twin's region, and a volume to another region.
func fill(tw *awstwin.Cloud) {
	id := tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(1), Region: region, State: "stopped"}).ID
	tw.AddVolume(awstwin.Volume{
		ID: "vol-1", Region: region, Type: "gp3", SizeGB: 100, Instance: id,
		Tags: map[string]string{"Name": "data", "env": "prod"},
	})
	tw.AddVolume(awstwin.Volume{ID: "vol-2", Region: region, Type: "gp2", SizeGB: 8})
	tw.AddVolume(awstwin.Volume{ID: "vol-3", Region: "us-east-1", Type: "gp2", SizeGB: 8})
	tw.AddSnapshot(awstwin.Snapshot{ID: "snap-1", Region: region, Volume: "vol-1", SizeGB: 100, Image: "ami-1"})
	tw.AddSnapshot(awstwin.Snapshot{ID: "snap-2", Region: region, Volume: "vol-gone", SizeGB: 8})
	tw.AddAddress(awstwin.Address{ID: "eipalloc-1", Region: region, IP: "198.51.100.1", Instance: id})
	tw.AddAddress(awstwin.Address{ID: "eipalloc-2", Region: region, IP: "198.51.100.2"})
	tw.AddNATGateway(awstwin.NATGateway{ID: "nat-1", Region: region, State: "available", Routes: 2})
	tw.AddNATGateway(awstwin.NATGateway{ID: "nat-2", Region: region, State: "deleted"})
	tw.AddBalancer(awstwin.Balancer{Name: "web", Region: region, Type: "application", Targets: 3, Healthy: 1})
	tw.AddBalancer(awstwin.Balancer{Name: "old", Region: region, Type: "classic"})
	tw.AddBucket(awstwin.Bucket{Name: "logs", Region: region, Versioning: "Enabled", Lifecycle: true})
	tw.AddBucket(awstwin.Bucket{Name: "far", Region: "us-east-1"})
	tw.AddFunction(awstwin.Function{Name: "resize", Region: region, MemoryMB: 512})
	tw.AddQueue(awstwin.Queue{Name: "orders", Region: region, DeadLetters: "dead"})
	tw.AddQueue(awstwin.Queue{Name: "dead", Region: region})
	tw.AddRepository(awstwin.Repository{Name: "team/app", Region: region, Images: 3})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("sns", "alerts"), Type: "sns:topic", Region: region,
		Tags: map[string]string{"team": "a"},
	})
	tw.AddIndexed(awstwin.Indexed{ARN: own("dynamodb", "table/carts"), Type: "dynamodb:table", Region: region})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("braket", "quantum-task/9"), Type: "braket:quantum-task", Region: region,
		Tags: map[string]string{"a": "b"},
	})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("ec2", "volume/vol-1"), Type: "ec2:volume", Region: region,
		Tags: map[string]string{"env": "prod"},
	})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("ec2", "instance/"+id), Type: "ec2:instance", Region: region,
		Tags: map[string]string{"a": "b"},
	})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("rds", "cluster:graph"), Type: "rds:cluster", Region: region,
		Tags: map[string]string{"a": "b"},
	})
	tw.AddIndexed(awstwin.Indexed{
		ARN: own("sqs", "orders"), Type: "sqs:queue", Region: region,
		Tags: map[string]string{"team": "b"},
	})
	tw.AddIndexed(awstwin.Indexed{
		ARN: "arn:aws:iam::" + awstwin.Account + ":role/deploy", Type: "iam:role",
		Region: "global",
		Tags:   map[string]string{"Name": "Deploy"},
	})
}

func own(service, resource string) string {
	return "arn:aws:" + service + ":" + region + ":" + awstwin.Account + ":" + resource
}

func TestEverythingElse_IsListedWithFacts(t *testing.T) {
	for _, page := range []int{0, 1} {
		tw, c := connect(t)
		tw.Page = page
		fill(tw)
		tw.Explore(true)
		got, pages := listOthers(t, c, region)
		if page == 0 && pages != 1 {
			t.Errorf("%d pages, which are asked for one after the other; want one where each source has one", pages)
		}
		made := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		for _, want := range []cloud.Resource{
			{
				UID: own("ec2", "volume/vol-1"), Name: "data", Type: "aws-ebs", ParentUID: awstwin.InstanceID(1),
				CreatedAt: made,
				Facts: cloud.Facts{
					"attachment_count": 1.0, "encrypted": true, "instance_state": "stopped", "iops": 3000.0,
					"last_snapshot_at": made, "size_gb": 100.0,
					"throughput_mibps": 125.0, "unattached_since": cloud.Never, "volume_type": "gp3",
				},
			},
			{
				UID: own("ec2", "volume/vol-2"), Name: "vol-2", Type: "aws-ebs", CreatedAt: made, Facts: cloud.Facts{
					"attachment_count": 0.0, "encrypted": true, "instance_state": "",
					"instance_stopped_at": cloud.Never, "iops": 3000.0, "last_snapshot_at": cloud.Epoch, "size_gb": 8.0,
					"throughput_mibps": 125.0, "unattached_since": cloud.Since{}, "volume_type": "gp2",
				},
			},
			{
				UID: own("ec2", "snapshot/snap-1"), Name: "snap-1", Type: "aws-ebs-snapshot",
				ParentUID: own("ec2", "volume/vol-1"), CreatedAt: made,
				Facts: cloud.Facts{
					"ami_count": 1.0, "fsr_zone_count": 0.0, "public": false, "source_exists": true,
					"started_at": made, "storage_tier": "standard",
				},
			},
			{
				UID: own("ec2", "snapshot/snap-2"), Name: "snap-2", Type: "aws-ebs-snapshot",
				ParentUID: own("ec2", "volume/vol-gone"), CreatedAt: made,
				Facts: cloud.Facts{
					"ami_count": 0.0, "fsr_zone_count": 0.0, "public": false, "source_exists": false,
					"started_at": made, "storage_tier": "standard",
				},
			},
			{
				UID: own("ec2", "elastic-ip/eipalloc-1"), Name: "198.51.100.1", Type: "aws-eip",
				ParentUID: awstwin.InstanceID(1), Facts: cloud.Facts{
					"association_id": "eipassoc-eipalloc-1", "instance_state": "stopped", "interface_attached": true,
					"unassociated_since": cloud.Never,
				},
			},
			{
				UID: own("ec2", "elastic-ip/eipalloc-2"), Name: "198.51.100.2", Type: "aws-eip", Facts: cloud.Facts{
					"association_id": "", "instance_state": "", "interface_attached": false,
					"unassociated_since": cloud.Since{},
				},
			},
			{
				UID: own("ec2", "natgateway/nat-1"), Name: "nat-1", Type: "aws-nat", CreatedAt: made,
				Facts: cloud.Facts{
					"dynamodb_endpoint": false, "route_count": 2.0, "s3_endpoint": false, "state": "available",
					"vpc_nat_count": 1.0, "vpc_zone_count": 0.0, "first_of_group": true,
				},
			},
			{
				UID: own("elasticloadbalancing", "loadbalancer/app/web/50dc6c495c0c9188"), Name: "web", Type: "aws-elb",
				CreatedAt: made,
				Facts: cloud.Facts{
					"access_logs": false, "deletion_protection": false, "healthy_count": 1.0, "lb_type": "application",
					"plain_http_forward": false,
					"scheme":             "internet-facing", "target_count": 3.0, "tls_policies": []string{},
					"vpc_lb_count": 1.0, "first_of_group": true,
				},
			},
			{
				UID: own("elasticloadbalancing", "loadbalancer/old"), Name: "old", Type: "aws-elb", CreatedAt: made,
				Facts: cloud.Facts{
					"access_logs": false, "deletion_protection": false, "healthy_count": 0.0, "lb_type": "classic",
					"plain_http_forward": false,
					"scheme":             "internet-facing", "target_count": 0.0, "tls_policies": []string{},
				},
			},
			{
				UID: "arn:aws:s3:::logs", Name: "logs", Type: "aws-s3", CreatedAt: made,
				Facts: cloud.Facts{
					"abort_multipart": true, "lifecycle_rules": 1.0, "logging": false, "multipart_gb": 0.0,
					"noncurrent_expiry": false,
					"policy_public":     false, "public_blocked": false, "tls_only": false, "versioning": "Enabled",
				},
			},
			{
				UID: own("lambda", "function:resize"), Name: "resize", Type: "aws-lambda", CreatedAt: made,
				Facts: cloud.Facts{
					"architecture": "arm64", "ephemeral_mb": 512.0, "has_dlq": false, "memory_mb": 512.0,
					"provisioned_concurrency": 0.0, "runtime": "python3.12", "timeout_s": 30.0,
				},
			},
			{
				UID: own("ecr", "repository/team/app"), Name: "team/app", Type: "aws-ecr", CreatedAt: made,
				Facts: cloud.Facts{
					"last_pull_at": time.Unix(1767323047, 0).UTC(), "lifecycle": false, "registry_scan": false,
					"scan_on_push": true, "size_gb": 3.0, "untagged_gb": 2.0,
				},
			},
			{UID: own("sns", "alerts"), Name: "alerts", Type: "aws-sns"},
			{UID: own("dynamodb", "table/carts"), Name: "carts", Type: "aws-dynamodb"},
			{
				UID: own("braket", "quantum-task/9"), Name: "9", Type: "aws-other",
				Facts: cloud.Facts{"native_type": "braket:quantum-task"},
			},
		} {
			r, ok := got[want.UID]
			if !ok || r.Name != want.Name || r.Type != want.Type || r.ParentUID != want.ParentUID ||
				!r.CreatedAt.Equal(want.CreatedAt) ||
				fmt.Sprint(r.Facts) != fmt.Sprint(want.Facts) || r.Status != cloud.Running {
				t.Errorf("pages of %d:\ngot  %+v\nwant %+v", page, r, want)
			}
		}
		if q := got[own("sqs", "orders")]; q.Tags["team"] != "b" || q.Facts["dead_letter"] != true ||
			q.Facts["wait_seconds"] != 20.0 {
			t.Errorf("queue: %+v", q)
		}
		if v := got[own("ec2", "volume/vol-1")]; v.Tags["env"] != "prod" || v.Zone != region+"a" ||
			v.Capacity["sizeGiB"] != 100 {
			t.Errorf("volume: %+v", v)
		}
		if len(got) != 17 {
			t.Errorf("%d resources: %v; want the 17 that no kind lists", len(got), slices.Sorted(maps.Keys(got)))
		}
	}
}

func TestEverythingElse_WithoutAnIndexTheTagsTell(t *testing.T) {
	tw, c := connect(t)
	fill(tw)
	got, _ := listOthers(t, c, region)
	if got[own("sns", "alerts")].Tags["team"] != "a" ||
		got[own("braket", "quantum-task/9")].Facts["native_type"] != "braket:quantum-task" {
		t.Errorf("tagged: %+v", got)
	}
	if _, untagged := got[own("dynamodb", "table/carts")]; untagged || len(got) != 16 {
		t.Errorf("%d resources; want the 16 that are described or tagged", len(got))
	}
}

func TestEverythingElse_WhatBelongsToNoRegionIsGlobal(t *testing.T) {
	for _, explored := range []bool{true, false} {
		tw, c := connect(t)
		fill(tw)
		tw.Explore(explored)
		got, _ := listOthers(t, c, cloud.Global)
		role := got["arn:aws:iam::"+awstwin.Account+":role/deploy"]
		if len(got) != 1 || role.Type != "aws-iam-role" || role.Name != "Deploy" || role.Region != cloud.Global {
			t.Errorf("with an index %v: %+v", explored, got)
		}
	}
}

// The resources of a failed source are unknown, so the listing must end with an error. The resources of the other
// sources are kept.
func TestEverythingElse_ADeniedSourceKeepsNoneOfTheOthersBack(t *testing.T) {
	tw, c := connect(t)
	fill(tw)
	tw.AddFault(awstwin.Fault{
		Op: "sqs:ListQueues", Code: "AccessDenied",
		Message: "not authorized to perform: sqs:ListQueues", Status: 403, Times: -1,
	})
	first, err := c.List(t.Context(), cloud.AWSOthers, region, "")
	if err != nil || len(first.Resources) < 10 || first.Next == "" {
		t.Fatalf("first page: %d resources, next %q, %v", len(first.Resources), first.Next, err)
	}
	_, err = c.List(t.Context(), cloud.AWSOthers, region, first.Next)
	wantClass(t, "the page of what is denied", err, cloud.Denied)
	if !strings.Contains(err.Error(), "sqs:ListQueues") {
		t.Errorf("the error does not name the call: %v", err)
	}
	tw.EndFaults()
	rest, err := c.List(t.Context(), cloud.AWSOthers, region, first.Next)
	if err != nil || len(rest.Resources) != 2 || rest.Next != "" {
		t.Errorf("after the permission was given: %+v, %v", rest, err)
	}
}

// A listing by tags instead of the index would show all resources without tags as deleted.
func TestEverythingElse_AnIndexThatIsDeniedIsNotReplacedByTags(t *testing.T) {
	tw, c := connect(t)
	fill(tw)
	tw.Explore(true)
	tw.AddFault(awstwin.Fault{
		Op: "resource-explorer-2:ListResources", Code: "AccessDeniedException",
		Message: "not authorized", Status: 403, Times: -1,
	})
	first, err := c.List(t.Context(), cloud.AWSOthers, region, "")
	if err != nil || first.Next == "" {
		t.Fatalf("first page: next %q, %v", first.Next, err)
	}
	_, err = c.List(t.Context(), cloud.AWSOthers, region, first.Next)
	wantClass(t, "the index", err, cloud.Denied)
}

func TestEverythingElse_APageThatIsNoneIsRefused(t *testing.T) {
	_, c := connect(t)
	for _, page := range []string{"x", `{"nonsense":""}`} {
		_, err := c.List(t.Context(), cloud.AWSOthers, region, page)
		wantClass(t, "page "+page, err, cloud.Invalid)
	}
	_, err := c.List(t.Context(), cloud.AWSOthers, "nowhere", "")
	wantClass(t, "region", err, cloud.Invalid)
}

// A fact that is told only when it is true leaves a rule about its absence unknown for ever.
func TestRepositories_TellWhetherAPushIsScanned(t *testing.T) {
	tw, c := connect(t)
	tw.AddRepository(awstwin.Repository{Name: "scanned", Region: region})
	tw.AddRepository(awstwin.Repository{Name: "unscanned", Region: region, Unscanned: true})
	got, _ := listOthers(t, c, region)
	for name, want := range map[string]bool{"scanned": true, "unscanned": false} {
		if told, is := got[own("ecr", "repository/"+name)].Facts["scan_on_push"]; !is || told != want {
			t.Errorf("%s: scan_on_push is %v; want %v", name, told, want)
		}
	}
}

// The scanning of a registry covers repositories that do not scan by themselves. A filter without "*" selects the names
// that contain it.
func TestRepositories_TellWhetherTheRegistryScansThem(t *testing.T) {
	for _, c := range []struct {
		frequency, filter string
		want              bool
	}{
		{"SCAN_ON_PUSH", "*", true},
		{"CONTINUOUS_SCAN", "team/*", true},
		{"SCAN_ON_PUSH", "*/app", true},
		{"SCAN_ON_PUSH", "t*m/*pp", true},
		{"SCAN_ON_PUSH", "eam/a", true},
		{"SCAN_ON_PUSH", "team/app", true},
		{"MANUAL", "*", false},
		{"SCAN_ON_PUSH", "app/*", false},
		{"SCAN_ON_PUSH", "*/web", false},
		{"SCAN_ON_PUSH", "team/*/app", false},
		{"SCAN_ON_PUSH", "team/app*app", false},
		{"SCAN_ON_PUSH", "other", false},
	} {
		tw, conn := connect(t)
		tw.AddRepository(awstwin.Repository{Name: "team/app", Region: region, Unscanned: true})
		tw.AddScanRule(awstwin.ScanRule{Frequency: c.frequency, Filter: c.filter})
		got, _ := listOthers(t, conn, region)
		facts := got[own("ecr", "repository/team/app")].Facts
		if facts["registry_scan"] != c.want || facts["scan_on_push"] != false {
			t.Errorf("%+v: the facts are %v", c, facts)
		}
	}
}

// A role from before this permission does not make the repositories disappear.
func TestRepositories_WithoutTheRegistryTellWhy(t *testing.T) {
	tw, c := connect(t)
	tw.AddRepository(awstwin.Repository{Name: "team/app", Region: region})
	tw.AddFault(awstwin.Fault{
		Op: "ecr:GetRegistryScanningConfiguration", Code: "AccessDeniedException", Message: "not authorized",
		Status: 400, Times: -1,
	})
	got, _ := listOthers(t, c, region)
	facts := got[own("ecr", "repository/team/app")].Facts
	if _, is := facts["registry_scan"]; is || facts["scan_on_push"] != true ||
		!strings.Contains(fmt.Sprint(facts[cloud.Unread]), "registry_scan") {
		t.Errorf("%v", facts)
	}
}
