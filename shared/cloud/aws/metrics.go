package aws

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatch"
)

// metricsNeed is the permission of metrics.
const metricsNeed = "cloudwatch:GetMetricData"

// The limits of one call to CloudWatch, and the price of a query. AWS charges several statistics of one metric once,
// so the reported cost is an upper bound.
const (
	perMetricCall   = 500
	pointsPerCall   = 100_000
	usdPerQuery     = 0.01 / 1000
	maxMetricPages  = 50
	metricCallWidth = 4
)

// asked is a query, with the resource and the measure that it is for.
type asked struct {
	uid     string
	measure int
	query   cloudwatch.MetricDataQuery
}

// Metrics reads measures by GetMetricData, with 500 queries per call. Calls for longer windows have fewer queries, so
// that each has one page.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	name := metricNames[r.Type]
	switch {
	case name == nil:
		return cloud.MetricAnswer{}, cloud.ErrUnsupported("AWS has no metrics of %s that are read", r.Type)
	case !regionName.MatchString(r.Region):
		return cloud.MetricAnswer{}, cloud.ErrInvalid("%.64q is not the name of an AWS region", r.Region)
	}
	all, unread := queriesOf(r, name)
	points := max(int(r.To.Sub(r.From)/r.Period), 1)
	batches := slices.Collect(slices.Chunk(all, max(min(perMetricCall, pointsPerCall/points), 1)))
	answers, errs := make([]cloud.MetricAnswer, len(batches)), make([]error, len(batches))
	api := cloudwatch.NewFromConfig(c.regionConfig(r.Region))
	cloud.InParallel(len(batches), metricCallWidth, func(i int) {
		answers[i], errs[i] = readMetrics(ctx, api, batches[i], r)
	})
	out := cloud.MetricAnswer{Unread: unread}
	for i := range answers {
		if errs[i] != nil {
			return cloud.MetricAnswer{}, resource.ClassifyError(errs[i])
		}
		out.Points = append(out.Points, answers[i].Points...)
		out.Calls, out.Queries = out.Calls+answers[i].Calls, out.Queries+answers[i].Queries
	}
	out.USD = float64(out.Queries) * usdPerQuery
	return out, nil
}

// queriesOf returns the queries of a request, and the measures that CloudWatch does not have of their resource.
func queriesOf(r cloud.MetricRequest, name metricNamer) (all []asked, unread []cloud.Unmeasured) {
	for _, uid := range r.UIDs {
		for i, m := range r.Measures {
			metric, ok := name(uid, m)
			if !ok {
				unread = append(unread, cloud.Unmeasured{UID: uid, Measure: i})
				continue
			}
			all = append(all, asked{uid, i, newQuery(len(all), metric, m.Statistic, r)})
		}
	}
	return all, unread
}

func newQuery(n int, m cloudwatch.Metric, statistic string, r cloud.MetricRequest) cloudwatch.MetricDataQuery {
	return cloudwatch.MetricDataQuery{
		Id: sdk.String("q" + strconv.Itoa(n)), ReturnData: sdk.Bool(true),
		MetricStat: &cloudwatch.MetricStat{Metric: &m, Stat: &statistic, Period: sdk.Int32(int32(r.Period.Seconds()))},
	}
}

// readMetrics reads all pages of a batch. Most batches have one page.
func readMetrics(ctx context.Context, api *cloudwatch.Client, batch []asked, r cloud.MetricRequest) (cloud.MetricAnswer,
	error,
) {
	byID := make(map[string]*cloud.Points, len(batch))
	in := &cloudwatch.GetMetricDataInput{
		StartTime: wire.NewTime(r.From), EndTime: wire.NewTime(r.To),
		ScanBy: cloudwatch.ScanByTimestampAscending,
	}
	for i := range batch {
		in.MetricDataQueries = append(in.MetricDataQueries, batch[i].query)
		byID[*batch[i].query.Id] = &cloud.Points{UID: batch[i].uid, Measure: batch[i].measure}
	}
	var out cloud.MetricAnswer
	for range maxMetricPages {
		got, err := api.GetMetricData(ctx, in)
		if err != nil {
			return out, err
		}
		out.Calls, out.Queries = out.Calls+1, out.Queries+len(batch)
		for _, result := range got.MetricDataResults {
			if p := byID[sdk.ToString(result.Id)]; p != nil && len(result.Timestamps) == len(result.Values) {
				p.Times, p.Values = append(p.Times, wire.UnwrapTimes(result.Timestamps)...),
					append(p.Values, result.Values...)
			}
		}
		if in.NextToken = got.NextToken; sdk.ToString(in.NextToken) == "" {
			out.Points = measured(batch, byID)
			return out, nil
		}
	}
	return out, fmt.Errorf("metrics of %d queries have more than %d pages", len(batch), maxMetricPages)
}

// measured returns the points of the queries that have some, in the order of the queries.
func measured(batch []asked, byID map[string]*cloud.Points) []cloud.Points {
	var out []cloud.Points
	for i := range batch {
		if p := byID[*batch[i].query.Id]; len(p.Times) > 0 {
			out = append(out, *p)
		}
	}
	return out
}

// metricNamer returns CloudWatch's name of a measure of a resource; false if CloudWatch has no such metric of it.
type metricNamer func(uid string, m cloud.Measure) (cloudwatch.Metric, bool)

// metricNames are the names of measures, by resource type.
var metricNames = map[string]metricNamer{
	cloud.AWSEC2: named("InstanceId", func(uid string) string { return uid }),
	cloud.AWSRDS: named("DBInstanceIdentifier", func(uid string) string {
		return resource.NameIn(uid, "rds", "db:")
	}),
	cloud.AWSAurora: named("DBClusterIdentifier", func(uid string) string {
		return resource.NameIn(uid, "rds", "cluster:")
	}),
	cloud.AWSDocDB: named("DBClusterIdentifier", func(uid string) string {
		return resource.NameIn(uid, "rds", "cluster:")
	}),
	cloud.AWSNeptune: named("DBClusterIdentifier", func(uid string) string {
		return resource.NameIn(uid, "rds", "cluster:")
	}),
	cloud.AWSASG: named("AutoScalingGroupName", func(uid string) string {
		return after(uid, "autoScalingGroupName/")
	}),
	cloud.AWSRedshift: named("ClusterIdentifier", func(uid string) string {
		return resource.NameIn(uid, "redshift", "cluster:")
	}),
	cloud.AWSECS: serviceMetric,
	"aws-ebs":    named("VolumeId", func(uid string) string { return after(uid, ":volume/") }),
	"aws-nat":    named("NatGatewayId", func(uid string) string { return after(uid, ":natgateway/") }),
	"aws-lambda": named("FunctionName", func(uid string) string { return resource.NameIn(uid, "lambda", "function:") }),
	"aws-sqs":    named("QueueName", resource.LastPart),
	"aws-elb":    balancerMetric,
	"aws-s3":     named("BucketName", resource.LastPart),
	"aws-elasticache": named("CacheClusterId", func(uid string) string {
		return resource.NameIn(uid, "elasticache", "cluster:")
	}),
	"aws-opensearch": domainMetric,
	"aws-capacity-reservation": named("CapacityReservationId", func(uid string) string {
		return resource.NameIn(uid, "ec2", "capacity-reservation/")
	}),
	"aws-dax":            named("ClusterId", func(uid string) string { return resource.NameIn(uid, "dax", "cache/") }),
	"aws-direct-connect": named("ConnectionId", func(uid string) string { return after(uid, ":dxcon/") }),
	"aws-ecs-cluster": named("ClusterName", func(uid string) string {
		return resource.NameIn(uid, "ecs", "cluster/")
	}),
	"aws-efs": named("FileSystemId", func(uid string) string {
		return resource.NameIn(uid, "elasticfilesystem", "file-system/")
	}),
	"aws-fsx": named("FileSystemId", func(uid string) string {
		return resource.NameIn(uid, "fsx", "file-system/")
	}),
	"aws-kinesis": named("StreamName", func(uid string) string { return resource.NameIn(uid, "kinesis", "stream/") }),
	"aws-log-group": named("LogGroupName", func(uid string) string {
		return resource.NameIn(uid, "logs", "log-group:")
	}),
	"aws-transfer": named("ServerId", func(uid string) string {
		return resource.NameIn(uid, "transfer", "server/")
	}),
	"aws-vpn": named("VpnId", func(uid string) string { return resource.NameIn(uid, "ec2", "vpn-connection/") }),
	cloud.AWSWorkSpace: named("WorkspaceId", func(uid string) string {
		return resource.NameIn(uid, "workspaces", "workspace/")
	}),
}

// after returns the part of s after mark; "" when s does not contain mark.
func after(s, mark string) string {
	_, tail, _ := strings.Cut(s, mark)
	return tail
}

// newMetric makes the name of a measure, without the note that may follow it in metrics.csv.
func newMetric(namespace, metric string, dimensions ...string) cloudwatch.Metric {
	name, _, _ := strings.Cut(metric, " ")
	m := cloudwatch.Metric{Namespace: &namespace, MetricName: &name}
	for pair := range slices.Chunk(dimensions, 2) {
		m.Dimensions = append(m.Dimensions, cloudwatch.Dimension{Name: &pair[0], Value: &pair[1]})
	}
	return m
}

// roles are the roles of a cluster's members, by the note behind a measure's name.
var roles = map[string]string{"(writer)": "WRITER", "(reader)": "READER"}

// domainMetric names the metrics of OpenSearch domains, which have the account number as a second dimension.
func domainMetric(uid string, m cloud.Measure) (cloudwatch.Metric, bool) {
	f := strings.SplitN(uid, ":", 6)
	name := resource.NameIn(uid, "es", "domain/")
	if name == "" || len(f) < 6 {
		return cloudwatch.Metric{}, false
	}
	return newMetric(m.Namespace, m.Metric, "DomainName", name, "ClientId", f[4]), true
}

// named makes the names of a type whose metrics have one dimension. A note behind a measure's name adds a second
// dimension: a role, or a pair such as "StorageType=StandardStorage".
func named(dimension string, value func(uid string) string) func(string, cloud.Measure) (cloudwatch.Metric, bool) {
	return func(uid string, m cloud.Measure) (cloudwatch.Metric, bool) {
		v := value(uid)
		if role := roles[after(m.Metric, " ")]; role != "" {
			return newMetric(m.Namespace, m.Metric, dimension, v, "Role", role), v != ""
		}
		if name, value, more := strings.Cut(after(m.Metric, " "), "="); more {
			return newMetric(m.Namespace, m.Metric, dimension, v, name, value), v != ""
		}
		return newMetric(m.Namespace, m.Metric, dimension, v), v != ""
	}
}

// serviceMetric names the metrics of ECS services: "service/<cluster>/<name>".
func serviceMetric(uid string, m cloud.Measure) (cloudwatch.Metric, bool) {
	cluster, service, ok := strings.Cut(after(uid, ":service/"), "/")
	return newMetric(m.Namespace, m.Metric, "ClusterName", cluster, "ServiceName", service), ok
}

// targetErrors are the answers of targets with a status of 5xx.
const targetErrors = "HTTPCode_Target_5XX_Count"

// balancerMetric names the metrics of load balancers. Each sort has its own namespace and metric names.
func balancerMetric(uid string, m cloud.Measure) (cloudwatch.Metric, bool) {
	name, metric := after(uid, ":loadbalancer/"), strings.Fields(m.Metric)[0]
	switch {
	case strings.HasPrefix(name, "app/"):
		return newMetric("AWS/ApplicationELB", metric, "LoadBalancer", name), true
	case strings.HasPrefix(name, "net/"):
		if metric == targetErrors {
			return cloudwatch.Metric{}, false // a flow has no status
		}
		if metric == "RequestCount" { // ActiveFlowCount is a gauge: its sum counts no flows
			metric = "NewFlowCount"
		}
		return newMetric("AWS/NetworkELB", metric, "LoadBalancer", name), true
	case metric == "ConsumedLCUs" || strings.Contains(name, "/"):
		return cloudwatch.Metric{}, false // classic and gateway load balancers have no metrics
	}
	switch metric {
	case "ProcessedBytes":
		metric = "EstimatedProcessedBytes"
	case targetErrors:
		metric = "HTTPCode_Backend_5XX"
	}
	return newMetric("AWS/ELB", metric, "LoadBalancerName", name), name != ""
}
