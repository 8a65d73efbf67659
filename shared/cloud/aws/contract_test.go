package aws_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

const region = "eu-west-1"

// options send the requests to the twin instead of AWS, and never pause for long.
func options(transport http.RoundTripper) aws.Options {
	if tw, is := transport.(*awstwin.Cloud); is {
		noteTwin(tw)
	}
	return aws.Options{
		Clock: clock.System{}, Transport: transport, MaxBackoff: time.Millisecond, Limits: map[string]aws.Limit{"": {}},
		Base: credentials.NewStaticCredentialsProvider("OURSOURSOURSOURS", "secret", ""),
	}
}

func keys(key string) cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: "aws", AuthMethod: "static_keys",
		Credentials: map[string]string{"accessKeyID": key, "secretAccessKey": "secret"},
	}
}

// numbered is an account with its number, as a connected account has it.
func numbered(key string) cloud.Account {
	a := keys(key)
	a.NativeID = awstwin.Account
	return a
}

// connect returns a new twin and a connection to it.
func connect(t *testing.T) (*awstwin.Cloud, cloud.Conn) {
	t.Helper()
	tw := &awstwin.Cloud{}
	return tw, open(t, tw, keys(awstwin.AccessKey))
}

func open(t *testing.T, tw *awstwin.Cloud, a cloud.Account) cloud.Conn {
	t.Helper()
	c, err := aws.New(options(tw)).Connect(t.Context(), a)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return c
}

func TestAWSOverItsTwinKeepsTheContractOfClouds(t *testing.T) {
	tw := &awstwin.Cloud{Page: 2}
	refused := keys("AKIASOMEONEELSES")
	denied := []string{
		"ec2:StopInstances", "rds:StopDBInstance", "rds:StopDBCluster", "autoscaling:SuspendProcesses",
		"autoscaling:UpdateAutoScalingGroup",
		"ecs:UpdateService", "application-autoscaling:RegisterScalableTarget", "eks:UpdateNodegroupConfig",
		"redshift:PauseCluster", "sagemaker:StopNotebookInstance", "lambda:TagResource",
		"workspaces:StopWorkspaces", "apprunner:PauseService", "lightsail:StopInstance", "synthetics:StopCanary",
	}
	cloudtest.Run(t, aws.New(options(tw)), cloudtest.Fixture{
		Account: numbered(awstwin.AccessKey), NativeID: awstwin.Account, Refused: &refused,
		Groups: []cloudtest.Group{
			ec2Group(tw), rdsGroup(tw), auroraGroup(tw), asgGroup(tw), ecsGroup(tw), eksGroup(tw), redshiftGroup(tw),
			notebookGroup(tw),
			functionGroup(tw), desktopGroup(tw), collectedGroup(tw, cloud.AWSAppRunner, "apprunner"),
			collectedGroup(tw, cloud.AWSLightsail, "lightsail"),
			collectedGroup(tw, cloud.AWSCanary, "synthetics"),
			clusterGroup(tw, cloud.AWSDocDB, "docdb"), clusterGroup(tw, cloud.AWSNeptune, "neptune"),
		},
		Metered: []cloudtest.Metered{metered(tw)}, Collective: collective(tw), Autoscaled: autoscaledGroups(tw),
		Settle:   tw.SettleAll,
		Throttle: tw.ThrottleCalls,
		Deny: func(on bool) {
			tw.EndFaults()
			for _, op := range denied {
				if on {
					tw.AddFault(awstwin.Fault{
						Op: op, Code: "AccessDenied",
						Message: "User is not authorized to perform: " + op, Status: 403, Times: -1,
					})
				}
			}
		},
	})
	callsAreNeeded(t, tw)
}

// far is a region with no group of the contract.
const far = "eu-central-1"

func metered(tw *awstwin.Cloud) cloudtest.Metered {
	const op = "monitoring:GetMetricData"
	tw.AddSeries(awstwin.Series{
		Metric: "CPUUtilization", Dimension: awstwin.InstanceID(500), Statistic: "Average",
		Value: func(at time.Time) (float64, bool) {
			return 0, at.Hour() != 3
		},
	})
	m := cloudtest.Metered{
		Kind: "aws-ec2", Region: far, Measured: []string{awstwin.InstanceID(500)},
		Quiet:   []string{awstwin.InstanceID(501)},
		Missing: awstwin.InstanceID(999), PerCall: 500,
		Start: midnight, Gap: 3 * time.Hour, Unmeasured: "aws-vpc", Calls: func() int { return len(tw.Calls(op)) },
		Deny: func(on bool) {
			tw.EndFaults()
			if on {
				tw.AddFault(awstwin.Fault{
					Op: op, Code: "AccessDenied",
					Message: "User is not authorized to perform: cloudwatch:GetMetricData", Status: 403, Times: -1,
				})
			}
		},
	}
	for n := range 300 {
		m.Many = append(m.Many, awstwin.InstanceID(1000+n))
	}
	return m
}

func collective(tw *awstwin.Cloud) *cloudtest.Collective {
	c := &cloudtest.Collective{Region: far, Facts: map[string]string{}, Pages: 2, Break: func(on bool) {
		tw.EndFaults()
		if on {
			tw.AddFault(awstwin.Fault{
				Op: "sqs:ListQueues", Code: "AccessDenied",
				Message: "not authorized to perform: sqs:ListQueues", Status: 403, Times: -1,
			})
		}
	}}
	arn := "arn:aws:ec2:" + far + ":" + awstwin.Account + ":volume/"
	for n := range 3 {
		id := fmt.Sprint("vol-far-", n)
		tw.AddVolume(awstwin.Volume{ID: id, Region: far, Type: "gp3", SizeGB: 8})
		c.Facts[arn+id] = "size_gb"
	}
	tw.AddQueue(awstwin.Queue{Name: "far", Region: far})
	return c
}

// callsAreNeeded compares the declared needs of the kinds, which are the source of the policies for customers, with
// the calls that reached the cloud while all kinds were listed, read, started, stopped, scaled and probed, and clusters
// and opinions were read.
func callsAreNeeded(t *testing.T, tw *awstwin.Cloud) {
	t.Helper()
	c := open(t, tw, keys(awstwin.AccessKey)).(cloud.Clusters)
	names, err := c.ClusterNames(t.Context(), region)
	if err != nil || len(names) == 0 {
		t.Fatalf("clusters %v, %v", names, err)
	}
	if _, err = c.Cluster(t.Context(), region, names[0]); err != nil {
		t.Error(err)
	}
	if _, _, err = readOpinions(t, tw, 1); err != nil {
		t.Error(err)
	}
	called := map[string]bool{}
	for _, call := range tw.Calls("") {
		op := permission(call.Op)
		called[op] = !strings.HasPrefix(op, "sts:") // no policy is needed to ask who one is
	}
	needed := aws.ListRequiredActions().Scale
	for op, counts := range called {
		if counts && !slices.Contains(needed, op) && !slices.Contains(aws.ListRequiredActions().Billing, op) {
			t.Errorf("%s is called, and no kind says that it needs it", op)
		}
	}
	for _, op := range needed {
		if !called[op] && !impliedActions[op] {
			t.Errorf("%s is needed by a kind, and was never called", op)
		}
	}
}

// permission returns the permission of an operation of the twin.
func permission(op string) string {
	if named, hasOther := actionNames[op]; hasOther {
		return named
	}
	if name, isMetrics := strings.CutPrefix(op, "monitoring:"); isMetrics {
		return "cloudwatch:" + name
	}
	return op
}

// actionNames are the permissions of operations with another name.
var actionNames = map[string]string{
	"apigateway:GetStage": "apigateway:GET", "apigateway:UpdateStage": "apigateway:PATCH",
	"tagging:GetResources": "tag:GetResources", "s3:ListBuckets": "s3:ListAllMyBuckets",
	"s3:GetBucketLifecycleConfiguration": "s3:GetLifecycleConfiguration",
	"s3:GetPublicAccessBlock":            "s3:GetBucketPublicAccessBlock",
	"s3:ListMultipartUploads":            "s3:ListBucketMultipartUploads",
	"s3:ListParts":                       "s3:ListMultipartUploadParts",
}

// impliedActions are permissions that AWS checks when another operation is called, or operations for facts of types
// that this cloud has none of; the tests of these types call them.
var impliedActions = map[string]bool{
	"rds:ListTagsForResource": true, "ecs:ListTagsForResource": true,

	"cloudwatch:DescribeAlarms": true, "dax:DescribeClusters": true, "directconnect:DescribeConnections": true,
	"directconnect:DescribeVirtualInterfaces": true, "dms:DescribeReplicationInstances": true,
	"dms:DescribeReplicationTasks": true, "ec2:DescribeCapacityReservations": true, "ec2:DescribeFlowLogs": true,
	"ec2:DescribeHosts": true, "ec2:DescribeNetworkInterfaces": true, "ec2:DescribeSecurityGroups": true,
	"ec2:DescribeVpcs": true, "ec2:DescribeVpnConnections": true, "ecs:DescribeClusters": true,
	"elasticfilesystem:DescribeFileSystems": true, "fsx:DescribeFileSystems": true, "logs:DescribeLogGroups": true,
	"rds:DescribeDBSnapshots": true, "secretsmanager:ListSecrets": true, "transfer:ListServers": true,
	"workspaces:DescribeWorkspacesConnectionStatus": true,

	"cloudwatch:GetMetricData": true, "ec2:DescribeImages": true, "ec2:DescribeRouteTables": true,
	"ecr:DescribeImages": true, "ecr:GetRegistryScanningConfiguration": true,
	"ecr:GetLifecyclePolicy": true, "elasticloadbalancing:DescribeInstanceHealth": true,
	"elasticloadbalancing:DescribeTargetGroups": true,
	"elasticloadbalancing:DescribeTargetHealth": true, "resource-explorer-2:GetView": true,
	"s3:GetBucketVersioning":       true,
	"s3:GetLifecycleConfiguration": true, "sqs:GetQueueAttributes": true, "ec2:DescribeSubnets": true,
	"ec2:DescribeFastSnapshotRestores": true, "ec2:DescribeVpcEndpoints": true,
	"ecs:DescribeTaskDefinition": true, "elasticache:DescribeReplicationGroups": true,
	"elasticloadbalancing:DescribeListeners":              true,
	"elasticloadbalancing:DescribeLoadBalancerAttributes": true, "es:DescribeDomains": true,
	"lambda:ListFunctionEventInvokeConfigs":    true,
	"lambda:ListProvisionedConcurrencyConfigs": true, "s3:GetBucketLogging": true, "s3:GetBucketPolicy": true,
	"s3:GetBucketPolicyStatus":      true,
	"s3:GetBucketPublicAccessBlock": true, "s3:ListBucketMultipartUploads": true, "s3:ListMultipartUploadParts": true,
}

func ec2Group(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{
		Kind: "aws-ec2", Region: region, Missing: awstwin.InstanceID(999), Pages: 3,
		Tied: map[string]string{},
	}
	for n := range 4 {
		g.Free = append(g.Free,
			tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(n), Region: region, Name: fmt.Sprint("web-", n)}).ID)
	}
	g.Free = append(g.Free,
		tw.AddInstance(awstwin.Instance{
			ID: awstwin.InstanceID(4), Region: region, SpotRequest: "sir-1",
			SpotType: "persistent",
		}).ID)
	tied := map[string]awstwin.Instance{
		"member of Auto Scaling group web": {Tags: map[string]string{"aws:autoscaling:groupName": "web"}},
		"one-time":                         {SpotRequest: "sir-2", SpotType: "one-time"},
		"could not be read":                {SpotRequest: "sir-3"},
		"instance store":                   {InstanceStore: true},
		"managed by eks.amazonaws.com":     {Operator: "eks.amazonaws.com"},
	}
	for reason, i := range tied {
		i.ID, i.Region = awstwin.InstanceID(100+len(g.Tied)), region
		g.Tied[tw.AddInstance(i).ID] = reason
	}
	tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(50), Region: region, State: "terminated"})
	tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(51), Region: "us-east-1"})
	return g
}

func rdsGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-rds", Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&awstwin.Database{ID: "nothing", Region: region}).ARN()
	for _, id := range []string{"orders", "users", "stock"} {
		g.Free = append(g.Free, tw.AddDatabase(awstwin.Database{ID: id, Region: region, Engine: "postgres"}).ARN())
	}
	tied := map[string]awstwin.Database{
		"read replica of orders":        {Engine: "postgres", ReplicaOf: "orders"},
		"source of read replicas":       {Engine: "mysql", SourceOf: []string{"copy"}},
		"SQL Server":                    {Engine: "sqlserver-se", MultiAZ: true},
		"RDS Custom":                    {Engine: "custom-oracle-ee"},
		"member of DB cluster checkout": {Engine: "aurora-mysql", Cluster: "checkout"},
	}
	for reason, d := range tied {
		d.ID, d.Region = fmt.Sprint("tied-", len(g.Tied)), region
		g.Tied[tw.AddDatabase(d).ARN()] = reason
	}
	tw.AddDatabase(awstwin.Database{ID: "documents-1", Region: region, Engine: "docdb", Cluster: "documents"})
	return g
}

func auroraGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-aurora", Region: region, Pages: 2, Tied: map[string]string{}}
	g.Missing = (&awstwin.Database{ID: "nothing", Region: region, IsCluster: true}).ARN()
	g.Free = []string{tw.AddDatabase(awstwin.Database{
		ID: "checkout", Region: region, Engine: "aurora-mysql",
		IsCluster: true, Mode: "provisioned",
	}).ARN()}
	serverless := tw.AddDatabase(awstwin.Database{
		ID: "old", Region: region, Engine: "aurora", IsCluster: true,
		Mode: "serverless",
	})
	global := tw.AddDatabase(awstwin.Database{
		ID: "world", Region: region, Engine: "aurora-postgresql", IsCluster: true,
		Global: "planet",
	})
	g.Tied[serverless.ARN()], g.Tied[global.ARN()] = "mode serverless", "global database planet"
	return g
}

// clusterGroup returns clusters of an engine that RDS's API runs besides Aurora.
func clusterGroup(tw *awstwin.Cloud, kind, engine string) cloudtest.Group {
	g := cloudtest.Group{Kind: kind, Region: region, Pages: 2, Tied: map[string]string{}}
	g.Missing = (&awstwin.Database{ID: "nothing", Region: region, IsCluster: true}).ARN()
	for n := range 3 {
		g.Free = append(g.Free,
			tw.AddDatabase(awstwin.Database{
				ID: fmt.Sprint(engine, n), Region: region, Engine: engine,
				IsCluster: true,
			}).ARN())
	}
	world := tw.AddDatabase(awstwin.Database{
		ID: engine + "-world", Region: region, Engine: engine, IsCluster: true,
		Global: "planet",
	})
	g.Tied[world.ARN()] = "global database planet"
	return g
}

func redshiftGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.AWSRedshift, Region: region, Pages: 2, Tied: map[string]string{}}
	g.Missing = (&awstwin.Warehouse{ID: "nothing", Region: region}).ARN()
	for n := range 3 {
		g.Free = append(g.Free,
			tw.AddWarehouse(awstwin.Warehouse{
				ID: fmt.Sprint("sales-", n), Region: region, Nodes: 2,
				NoNamespace: n == 1,
			}).ARN())
	}
	g.Tied[tw.AddWarehouse(awstwin.Warehouse{
		ID: "safe", Region: region, Nodes: 2,
		MultiAZ: true,
	}).ARN()] = "several zones"
	tw.AddWarehouse(awstwin.Warehouse{ID: "far", Region: "us-east-1", Nodes: 2})
	return g
}

func notebookGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.AWSSageMakerNotebook, Region: region, Pages: 2}
	g.Missing = (&awstwin.Notebook{Name: "nothing", Region: region}).ARN()
	for n := range 3 {
		g.Free = append(g.Free, tw.AddNotebook(awstwin.Notebook{Name: fmt.Sprint("study-", n), Region: region}).ARN())
	}
	return g
}

func functionGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.AWSLambda, Region: region, Pages: 2, Tied: map[string]string{}}
	g.Missing = (&awstwin.Function{Name: "nothing", Region: region}).ARN()
	five := 5
	for n, f := range []awstwin.Function{
		{},
		{Reserved: &five},
		{Reserved: &five, Provisioned: map[string]int{"live": 3, "7": 1}},
	} {
		f.Name, f.Region, f.Tags = fmt.Sprint("jobs-", n), region, map[string]string{"lamplighter:allow-stop": "true"}
		g.Free = append(g.Free, tw.AddFunction(f).ARN())
	}
	g.Tied[tw.AddFunction(awstwin.Function{
		Name:   "checkout",
		Region: region,
	}).ARN()] = "only where their tag lamplighter:allow-stop is true"
	g.Tied[tw.AddFunction(awstwin.Function{
		Name: "maybe", Region: region,
		Tags: map[string]string{"lamplighter:allow-stop": "no"},
	}).ARN()] = "lamplighter:allow-stop"
	return g
}

func collectedGroup(tw *awstwin.Cloud, kind, service string) cloudtest.Group {
	g := cloudtest.Group{Kind: kind, Region: region, Pages: 2}
	for n := range 3 {
		g.Free = append(g.Free,
			tw.AddCollected(awstwin.Collected{
				Service: service, ID: fmt.Sprint("one-", n), Region: region,
				Mode: "AUTO_STOP",
			}).ARN())
	}
	g.Missing = g.Free[0] + "nothing"
	tw.AddCollected(awstwin.Collected{Service: service, ID: "far", Region: "us-east-1"})
	return g
}

func desktopGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := collectedGroup(tw, cloud.AWSWorkSpace, "workspaces")
	always := tw.AddCollected(awstwin.Collected{Service: "workspaces", ID: "always", Region: region, Mode: "ALWAYS_ON"})
	g.Tied = map[string]string{always.ARN(): "ALWAYS_ON"}
	return g
}

func asgGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-asg", Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&awstwin.Group{Name: "nothing", Region: region}).ARN()
	for n := range 3 {
		g.Free = append(g.Free,
			tw.AddGroup(awstwin.Group{Name: fmt.Sprint("web-", n), Region: region, Min: 1, Max: 4, Desired: 2}).ARN())
	}
	owned := tw.AddGroup(awstwin.Group{
		Name: "eks-blue", Region: region, Min: 1, Max: 1, Desired: 1,
		Tags: map[string]string{"eks:nodegroup-name": "blue"},
	})
	warm := tw.AddGroup(awstwin.Group{Name: "warm", Region: region, Min: 1, Max: 1, Desired: 1, WarmPoolMin: 2})
	g.Tied[owned.ARN()], g.Tied[warm.ARN()] = "EKS node group blue", "warm pool"
	return g
}

func ecsGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-ecs", Region: region, Pages: 3, Tied: map[string]string{}}
	g.Missing = (&awstwin.Service{Cluster: "shop", Name: "nothing", Region: region}).UID()
	for n := range 3 {
		s := tw.AddService(awstwin.Service{
			Cluster: "shop", Name: fmt.Sprint("api-", n), Region: region, Desired: 2,
			ShortARN: n == 2,
		})
		g.Free = append(g.Free, s.UID())
	}
	g.Free = append(g.Free,
		tw.AddService(awstwin.Service{Cluster: "batch", Name: "worker", Region: region, Desired: 3}).UID())
	tw.AddTarget(awstwin.ScalableTarget{
		Resource: "service/shop/api-0", Region: region, Min: 2, Max: 9,
		Scheduled: true,
	})
	tw.AddTarget(awstwin.ScalableTarget{Resource: "service/shop/api-1", Region: region, Min: 1, Max: 9})
	g.Tied[tw.AddService(awstwin.Service{
		Cluster: "batch", Name: "agent", Region: region, Desired: 1,
		Daemon: true,
	}).UID()] = "daemon"
	tw.AddService(awstwin.Service{Cluster: "batch", Name: "deleted", Region: region, Status: "INACTIVE"})
	return g
}

func eksGroup(tw *awstwin.Cloud) cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-eks-nodegroup", Region: region, Pages: 2}
	g.Missing = (&awstwin.Nodegroup{Cluster: "prod", Name: "nothing", Region: region}).ARN()
	for n := range 3 {
		g.Free = append(g.Free,
			tw.AddNodegroup(awstwin.Nodegroup{
				Cluster: "prod", Name: fmt.Sprint("blue-", n), Region: region, Min: 1,
				Max: 5, Desired: 2,
			}).ARN())
	}
	g.Free = append(g.Free,
		tw.AddNodegroup(awstwin.Nodegroup{
			Cluster: "stage", Name: "green", Region: region, Min: 1, Max: 1,
			Desired: 1,
		}).ARN())
	return g
}

// state reads one resource.
func state(t *testing.T, c cloud.Conn, kind, uid string) cloud.State {
	t.Helper()
	got, err := c.Read(context.Background(), kind, region, []string{uid})
	if err != nil || len(got) != 1 {
		t.Fatalf("Read(%s) = %v, %v; want one state", uid, got, err)
	}
	return got[0]
}

// act does one act and returns its error.
func act(t *testing.T, c cloud.Conn, v cloud.Verb, kind string, target cloud.Target) error {
	t.Helper()
	got := c.Act(context.Background(), v, kind, region, []cloud.Target{target})
	if len(got) != 1 {
		t.Fatalf("Act(%s) = %v; want one result", target.UID, got)
	}
	return got[0].Err
}

func wantClass(t *testing.T, what string, err error, want cloud.Class) {
	t.Helper()
	if err == nil || cloud.ClassOf(err) != want {
		t.Errorf("%s: %v of class %d; want class %d", what, err, cloud.ClassOf(err), want)
	}
}
