package aws_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

var midnight = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// ask reads a day of all measures of a type.
func ask(t *testing.T, c cloud.Conn, kind string, uids ...string) cloud.MetricAnswer {
	t.Helper()
	got, err := c.(cloud.Metered).Metrics(t.Context(), cloud.MetricRequest{
		Type: kind, Region: region, UIDs: uids, Measures: cloud.MeasuresOf(kind), Period: time.Hour, From: midnight,
		To: midnight.Add(24 * time.Hour),
	})
	if err != nil {
		t.Fatalf("metrics of %s: %v", kind, err)
	}
	return got
}

func TestMetrics_AreReadOfThoseThatHaveThem(t *testing.T) {
	tw, c := connect(t)
	busy := func(at time.Time) (float64, bool) { return float64(at.Hour()), at.Hour() != 3 }
	tw.AddSeries(awstwin.Series{Metric: "CPUUtilization", Dimension: "i-1", Statistic: "Maximum", Value: busy})
	got := ask(t, c, "aws-ec2", "i-1", "i-2")
	if len(got.Points) != 1 || got.Calls != 1 || got.Queries != 12 || math.Abs(got.USD-0.00012) > 1e-12 {
		t.Fatalf("%+v; want points of one of the 12 queries of one call", got)
	}
	p := got.Points[0]
	if p.UID != "i-1" || cloud.MeasuresOf("aws-ec2")[p.Measure].Statistic != "Maximum" || len(p.Values) != 23 ||
		p.Values[22] != 23 || !p.Times[3].Equal(midnight.Add(4*time.Hour)) {
		t.Errorf("%+v; want 23 hours, without the third", p)
	}
}

// The limit is 120 calls for 10,000 resources (issue). EC2 and RDS have the most measures of all types.
func TestMetrics_OfTenThousandResourcesTake120Calls(t *testing.T) {
	tw, c := connect(t)
	calls, usd := 0, 0.0
	for kind, n := range map[string]int{"aws-ec2": 6000, "aws-rds": 4000} {
		uids := make([]string, n)
		for i := range uids {
			if uids[i] = awstwin.InstanceID(i); kind == "aws-rds" {
				uids[i] = own("rds", fmt.Sprint("db:orders-", i))
			}
		}
		got := ask(t, c, kind, uids...)
		calls, usd = calls+got.Calls, usd+got.USD
	}
	if seen := len(tw.Calls("monitoring:GetMetricData")); calls > 120 || seen != calls {
		t.Errorf("%d calls, of which %d are counted; want 120 at most", seen, calls)
	}
	t.Logf("%d calls, %.2f USD a day", calls, usd)
}

func TestMetrics_AreNamedAsCloudWatchDoes(t *testing.T) {
	for _, tt := range []struct{ kind, uid, metric, dimension string }{
		{"aws-ebs", own("ec2", "volume/vol-1"), "VolumeReadOps", "vol-1"},
		{"aws-nat", own("ec2", "natgateway/nat-1"), "ActiveConnectionCount", "nat-1"},
		{"aws-lambda", own("lambda", "function:resize"), "Invocations", "resize"},
		{"aws-sqs", own("sqs", "orders"), "NumberOfMessagesReceived", "orders"},
		{"aws-ecs", own("ecs", "service/shop/api"), "MemoryUtilization", "shop"},
		{"aws-asg", own("autoscaling", "autoScalingGroup:1:autoScalingGroupName/web"), "GroupDesiredCapacity", "web"},
		{"aws-redshift", own("redshift", "cluster:dwh"), "PercentageDiskSpaceUsed", "dwh"},
		{"aws-aurora", own("rds", "cluster:shop"), "FreeableMemory", "shop"},
		{"aws-s3", "arn:aws:s3:::logs", "NumberOfObjects", "logs"},
		{"aws-elasticache", own("elasticache", "cluster:sessions-001"), "Evictions", "sessions-001"},
		{"aws-opensearch", own("es", "domain/logs"), "ClusterStatus.red", "logs"},
		{"aws-ebs", own("ec2", "volume/vol-1"), "VolumeWriteBytes", "vol-1"},
		{"aws-elb", own("elasticloadbalancing", "loadbalancer/app/web/50dc"), "RequestCount", "app/web/50dc"},
		{"aws-elb", own("elasticloadbalancing", "loadbalancer/net/tcp/50dc"), "NewFlowCount", "net/tcp/50dc"},
		{"aws-elb", own("elasticloadbalancing", "loadbalancer/old"), "EstimatedProcessedBytes", "old"},
		{"aws-elb", own("elasticloadbalancing", "loadbalancer/old"), "HTTPCode_Backend_5XX", "old"},
		{"aws-elb", own("elasticloadbalancing", "loadbalancer/app/a/50dc"), "HTTPCode_Target_5XX_Count", "app/a/50dc"},
		{"aws-capacity-reservation", own("ec2", "capacity-reservation/cr-1"), "InstanceUtilization", "cr-1"},
		{"aws-dax", own("dax", "cache/orders"), "TotalRequestCount", "orders"},
		{"aws-direct-connect", own("directconnect", "dxcon/dxcon-1"), "ConnectionBpsIngress", "dxcon-1"},
		{"aws-ecs-cluster", own("ecs", "cluster/shop"), "MemoryReservation", "shop"},
		{"aws-efs", own("elasticfilesystem", "file-system/fs-1"), "ClientConnections", "fs-1"},
		{"aws-fsx", own("fsx", "file-system/fs-2"), "MetadataOperations", "fs-2"},
		{"aws-kinesis", own("kinesis", "stream/clicks"), "IncomingRecords", "clicks"},
		{"aws-log-group", own("logs", "log-group:/aws/lambda/resize"), "IncomingBytes", "/aws/lambda/resize"},
		{"aws-transfer", own("transfer", "server/s-1"), "BytesOut", "s-1"},
		{"aws-vpn", own("ec2", "vpn-connection/vpn-1"), "TunnelState", "vpn-1"},
		{"aws-workspaces", own("workspaces", "workspace/ws-1"), "UserConnected", "ws-1"},
	} {
		tw, c := connect(t)
		for _, statistic := range []string{"Sum", "Maximum", "Minimum", "Average"} {
			tw.AddSeries(awstwin.Series{
				Metric: tt.metric, Dimension: tt.dimension, Statistic: statistic,
				Value: func(time.Time) (float64, bool) {
					return 1, true
				},
			})
		}
		if got := ask(t, c, tt.kind, tt.uid); len(got.Points) == 0 {
			t.Errorf("%s of %s: CloudWatch was not asked for %s of %s", tt.kind, tt.uid, tt.metric, tt.dimension)
		}
	}
}

// Every type that is shown as measured can be asked for its metrics.
func TestMetrics_EveryMeasuredTypeOfAWSCanBeAsked(t *testing.T) {
	_, c := connect(t)
	for _, k := range cloud.Catalogue() {
		if k.Provider == "aws" && k.Measured {
			ask(t, c, k.Type, "arn:aws:x:"+region+":1:y")
		}
	}
	_, err := c.(cloud.Metered).Metrics(t.Context(),
		cloud.MetricRequest{Type: "aws-vpc", Region: region, Period: time.Hour})
	wantClass(t, "metrics of what has none", err, cloud.Unsupported)
}

// CloudWatch counts no requests of gateway load balancers: nothing is known, which is not 0.
func TestMetrics_ThatCloudWatchDoesNotHaveAreUnread(t *testing.T) {
	_, c := connect(t)
	uid := own("elasticloadbalancing", "loadbalancer/gwy/inspect/50dc")
	got := ask(t, c, "aws-elb", uid, own("elasticloadbalancing", "loadbalancer/app/web/50dc"))
	for _, u := range got.Unread {
		if u.UID != uid {
			t.Errorf("%s: measure %d is unread", u.UID, u.Measure)
		}
	}
	if n := len(cloud.MeasuresOf("aws-elb")); len(got.Unread) != n {
		t.Errorf("%d measures are unread; want %d", len(got.Unread), n)
	}
}
