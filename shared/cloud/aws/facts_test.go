package aws_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// tellAll adds one resource of each type, with all facts, to the twin.
func tellAll(tw *awstwin.Cloud) {
	fill(tw)
	id := awstwin.InstanceID(1)
	tw.Describe(id, `<platformDetails>Linux/UNIX</platformDetails><architecture>x86_64</architecture>`+
		`<imageId>ami-1</imageId><ipAddress>192.0.2.1</ipAddress>
		<monitoring><state>enabled</state></monitoring><metadataOptions><httpTokens>required</httpTokens>`+
		`</metadataOptions>
		<reason>User initiated (2026-01-02 03:04:05 GMT)</reason>`)
	tw.Tell("ec2:DescribeInstanceTypes", `<instanceTypeSet><item><instanceType>t3.large</instanceType>`+
		`<burstablePerformanceSupported>true</burstablePerformanceSupported>
		<vCpuInfo><defaultVCpus>2</defaultVCpus></vCpuInfo><memoryInfo><sizeInMiB>8192</sizeInMiB></memoryInfo>
		<gpuInfo><gpus><item><count>1</count></item></gpus></gpuInfo></item></instanceTypeSet>`)
	tw.Tell("ec2:DescribeInstanceStatus", `<instanceStatusSet><item><instanceId>`+id+`</instanceId><eventsSet>
		<item><code>instance-retirement</code><description>degraded</description></item>
		<item><code>system-reboot</code><description>[Completed] reboot</description></item></eventsSet></item>`+
		`</instanceStatusSet>`)
	tw.Tell("ec2:DescribeImages",
		`<imagesSet><item><imageId>ami-1</imageId><creationDate>2025-01-02T03:04:05.000Z</creationDate>`+
			`</item></imagesSet>`)
	tw.AddSnapshot(awstwin.Snapshot{ID: "snap-3", Region: region, Volume: "vol-1", SizeGB: 8, Public: true})
	tw.Tell("ec2:DescribeFastSnapshotRestores",
		`<fastSnapshotRestoreSet><item><snapshotId>snap-3</snapshotId>`+
			`<state>enabled</state></item></fastSnapshotRestoreSet>`)
	tw.Describe("nat-1", `<vpcId>vpc-1</vpcId>`)
	tw.Describe("rtb-1",
		`<vpcId>vpc-1</vpcId><associationSet><item><subnetId>subnet-1</subnetId></item><item>`+
			`<subnetId>subnet-2</subnetId></item></associationSet>`)
	tw.Tell("ec2:DescribeSubnets", `<subnetSet>`+
		`<item><subnetId>subnet-1</subnetId><availabilityZone>eu-west-1a</availabilityZone></item>
		<item><subnetId>subnet-2</subnetId><availabilityZone>eu-west-1b</availabilityZone></item></subnetSet>`)
	tw.Tell("ec2:DescribeVpcEndpoints",
		`<vpcEndpointSet><item><vpcId>vpc-1</vpcId><serviceName>com.amazonaws.eu-west-1.s3</serviceName></item>`+
			`</vpcEndpointSet>`)
	tw.Tell("elasticloadbalancing:DescribeListeners", `<Listeners><member><Port>80</Port>`+
		`<DefaultActions><member><Type>forward</Type></member></DefaultActions></member>
		<member><Port>443</Port><SslPolicy>ELBSecurityPolicy-2016-08</SslPolicy></member></Listeners>`)
	tw.Tell("elasticloadbalancing:DescribeLoadBalancerAttributes", `<Attributes>`+
		`<member><Key>deletion_protection.enabled</Key><Value>true</Value></member>
		<member><Key>access_logs.s3.enabled</Key><Value>true</Value></member></Attributes>
		<LoadBalancerAttributes><AccessLog><Enabled>true</Enabled></AccessLog></LoadBalancerAttributes>`)
	tw.AddBalancer(awstwin.Balancer{Name: "older", Region: region, Type: "classic", Targets: 1, Healthy: 1})
	tellDatabases(tw)
	tellBucketsAndFunctions(tw)
	tellCachesAndDomains(tw)
	tellClusters(tw)
	tellDetails(tw)
}

func tellDatabases(tw *awstwin.Cloud) {
	tw.AddDatabase(awstwin.Database{
		ID: "orders", Region: region, Engine: "postgres", Class: "db.m5.large",
		SourceOf: []string{"orders-copy"},
	})
	tw.Describe("orders", `<EngineVersion>13.4</EngineVersion><StorageType>gp3</StorageType>`+
		`<MaxAllocatedStorage>100</MaxAllocatedStorage><Iops>3000</Iops>
		<BackupRetentionPeriod>7</BackupRetentionPeriod><PubliclyAccessible>true</PubliclyAccessible>`+
		`<StorageEncrypted>true</StorageEncrypted>
		<LicenseModel>postgresql-license</LicenseModel><CertificateDetails>`+
		`<ValidTill>2027-01-01T00:00:00Z</ValidTill></CertificateDetails>`)
	tw.AddDatabase(awstwin.Database{ID: "shop", Region: region, Engine: "aurora-postgresql", IsCluster: true})
	tw.Describe("shop", `<EngineVersion>13.9</EngineVersion><DBClusterMembers><DBClusterMember>`+
		`<IsClusterWriter>true</IsClusterWriter></DBClusterMember>
		<DBClusterMember><IsClusterWriter>false</IsClusterWriter></DBClusterMember></DBClusterMembers>
		<ServerlessV2ScalingConfiguration><MinCapacity>0.5</MinCapacity></ServerlessV2ScalingConfiguration>`)
	tw.AddDatabase(awstwin.Database{
		ID: "shop-1", Region: region, Engine: "aurora-postgresql", Class: "db.serverless",
		Cluster: "shop",
	})
	tw.AddDatabase(awstwin.Database{ID: "papers", Region: region, Engine: "docdb", IsCluster: true})
	tw.AddDatabase(awstwin.Database{ID: "graph", Region: region, Engine: "neptune", IsCluster: true})
	tw.Tell("rds:DescribeDBMajorEngineVersions", `<DBMajorEngineVersions><DBMajorEngineVersion>`+
		`<Engine>postgres</Engine><MajorEngineVersion>13</MajorEngineVersion>
		<SupportedEngineLifecycles><SupportedEngineLifecycle>`+
		`<LifecycleSupportName>open-source-rds-standard-support</LifecycleSupportName>
		<LifecycleSupportEndDate>2026-02-28T00:00:00Z</LifecycleSupportEndDate></SupportedEngineLifecycle>`+
		`</SupportedEngineLifecycles></DBMajorEngineVersion>
		<DBMajorEngineVersion><Engine>aurora-postgresql</Engine><MajorEngineVersion>13</MajorEngineVersion>`+
		`</DBMajorEngineVersion></DBMajorEngineVersions>`)
	tw.AddWarehouse(awstwin.Warehouse{ID: "dwh", Region: region})
	tw.Describe("dwh",
		`<NodeType>ra3.4xlarge</NodeType><NumberOfNodes>4</NumberOfNodes><Encrypted>true</Encrypted>`+
			`<ManualSnapshotRetentionPeriod>-1</ManualSnapshotRetentionPeriod>`)
	tw.Tell("redshift:DescribeStorage", `<TotalBackupSizeInMegaBytes>2048</TotalBackupSizeInMegaBytes>`)
}

func tellBucketsAndFunctions(tw *awstwin.Cloud) {
	tw.Tell("s3:GetBucketPolicyStatus", `<IsPublic>true</IsPublic>`)
	tw.Tell("s3:GetBucketPolicy",
		`{"Statement":[{"Effect":"Deny","Principal":"*","Action":"s3:*",`+
			`"Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}`)
	tw.Tell("s3:GetPublicAccessBlock", `<BlockPublicAcls>true</BlockPublicAcls>`+
		`<BlockPublicPolicy>true</BlockPublicPolicy><IgnorePublicAcls>true</IgnorePublicAcls>
		<RestrictPublicBuckets>true</RestrictPublicBuckets>`)
	tw.Tell("s3:GetBucketLogging",
		`<LoggingEnabled><TargetBucket>x</TargetBucket><TargetPrefix>y</TargetPrefix></LoggingEnabled>`)
	tw.Tell("s3:ListMultipartUploads", `<Upload><Key>big</Key><UploadId>1</UploadId>`+
		`<Initiated>2020-01-02T03:04:05.000Z</Initiated></Upload>
		<Upload><Key>new</Key><UploadId>2</UploadId><Initiated>2999-01-02T03:04:05.000Z</Initiated></Upload>`)
	tw.Tell("s3:ListParts", `<Part><PartNumber>1</PartNumber><Size>5000000000</Size></Part>`)
	tw.AddFunction(awstwin.Function{
		Name: "kept-warm", Region: region,
		Provisioned: map[string]int{"live": 3, "next": 2},
	})
	tw.Tell("lambda:ListFunctionEventInvokeConfigs",
		`{"FunctionEventInvokeConfigs":[{"DestinationConfig":`+
			`{"OnFailure":{"Destination":"arn:aws:sqs:eu-west-1:1:dead"}}}]}`)
}

func tellCachesAndDomains(tw *awstwin.Cloud) {
	tw.Tell("elasticache:DescribeCacheClusters", `<CacheClusters><CacheCluster>`+
		`<CacheClusterId>sessions-001</CacheClusterId><ARN>`+own("elasticache", "cluster:sessions-001")+`</ARN>
		<Engine>redis</Engine><EngineVersion>5.0.6</EngineVersion><CacheNodeType>cache.r6g.large</CacheNodeType>`+
		`<CacheClusterStatus>available</CacheClusterStatus><NumCacheNodes>1</NumCacheNodes>
		<ReplicationGroupId>sessions</ReplicationGroupId></CacheCluster></CacheClusters>`)
	tw.Tell("elasticache:DescribeReplicationGroups", `<ReplicationGroups>`+
		`<ReplicationGroup><ReplicationGroupId>sessions</ReplicationGroupId>
		<AutomaticFailover>enabled</AutomaticFailover><TransitEncryptionEnabled>true</TransitEncryptionEnabled>
		<NodeGroups><NodeGroup><NodeGroupMembers><NodeGroupMember></NodeGroupMember>`+
		`<NodeGroupMember></NodeGroupMember></NodeGroupMembers></NodeGroup></NodeGroups>
		</ReplicationGroup></ReplicationGroups>`)
	tw.Tell("es:ListDomainNames", `{"DomainNames":[{"DomainName":"logs"}]}`)
	tw.Tell("es:DescribeDomains", `{"DomainStatusList":[{"DomainName":"logs",`+
		`"ARN":"`+own("es", "domain/logs")+`","Created":true,
		"EngineVersion":"OpenSearch_2.9",
		"ClusterConfig":{"InstanceType":"r6g.large.search","InstanceCount":3,"DedicatedMasterCount":3,`+
		`"ZoneAwarenessEnabled":true,"WarmCount":2},
		"EBSOptions":{"EBSEnabled":true,"VolumeType":"gp3","VolumeSize":100},"VPCOptions":{"VPCId":"vpc-1"},
		"AccessPolicies":"{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":{\"AWS\":\"*\"},`+
		`\"Action\":\"es:*\"}]}"}]}`)
}

func tellClusters(tw *awstwin.Cloud) {
	tw.AddGroup(awstwin.Group{Name: "web", Region: region, Min: 1, Max: 4, Desired: 2})
	tw.Describe("web", `<HealthCheckType>ELB</HealthCheckType><LaunchConfigurationName>old</LaunchConfigurationName>`)
	tw.Tell("autoscaling:DescribePolicies",
		`<ScalingPolicies><member><AutoScalingGroupName>web</AutoScalingGroupName></member></ScalingPolicies>`)
	tw.AddService(awstwin.Service{Cluster: "shop", Name: "api", Region: region, Desired: 2})
	tw.Describe("api",
		`{"launchType":"FARGATE","taskDefinition":"api:7",`+
			`"deploymentConfiguration":{"deploymentCircuitBreaker":{"enable":true}}}`)
	tw.Tell("ecs:DescribeTaskDefinition",
		`{"taskDefinition":{"cpu":"512","memory":"1024","runtimePlatform":{"cpuArchitecture":"ARM64"},`+
			`"ephemeralStorage":{"sizeInGiB":40}}}`)
	tw.AddNodegroup(awstwin.Nodegroup{Cluster: "prod", Name: "spot", Region: region, Min: 1, Max: 3, Desired: 2})
	tw.Describe("spot",
		`{"capacityType":"SPOT","instanceTypes":["m6i.large"],"version":"1.29",`+
			`"health":{"issues":[{"code":"AsgInstanceLaunchFailures"}]}}`)
	tw.Describe("prod", `{"version":"1.31"}`)
	tw.AddNotebook(awstwin.Notebook{Name: "lab", Region: region})
	tw.Describe("lab",
		`{"DirectInternetAccess":"Enabled","VolumeSizeInGB":50,"LastModifiedTime":1767323045,`+
			`"NotebookInstanceLifecycleConfigName":"stop-idle"}`)
}

func TestFacts_AreAllToldThatTheRulesRead(t *testing.T) {
	tw, c := connect(t)
	tellAll(tw)
	found := cloudtest.ListAll(t, c, region, cloudtest.KindsOf("aws")...)
	cloudtest.CheckFacts(t, "aws", found)
	called := map[string]bool{}
	for _, call := range tw.Calls("") {
		called[permission(call.Op)] = true
	}
	told := map[string]string{}
	for _, r := range found {
		for name, v := range r.Facts {
			told[r.Type+"."+name] += fmt.Sprintln(v)
		}
		if r.Facts[cloud.Unread] != nil {
			t.Errorf("%s: %v", r.UID, r.Facts[cloud.Unread])
		}
	}
	for name, want := range map[string]string{
		"aws-ec2.retirement_events": "[instance-retirement]\n", "aws-ec2.memory_gib": "8\n",
		"aws-ec2.stopped_at":   "2026-01-02 03:04:05 +0000 UTC\n",
		"aws-ec2.image_exists": "true\n", "aws-aurora.serverless": "true\n", "aws-aurora.reader_count": "1\n",
		"aws-aurora.standard_support_end": fmt.Sprintln(cloud.Never),
		"aws-nat.vpc_zone_count":          "2\n", "aws-nat.s3_endpoint": "true\n",
		"aws-nat.dynamodb_endpoint": "false\n",
		"aws-s3.public_blocked":     "true\n",
		"aws-s3.tls_only":           "true\n", "aws-s3.multipart_gb": "5\n", "aws-s3.policy_public": "true\n",
		"aws-lambda.provisioned_concurrency": "0\n5\n",
		"aws-elasticache.replicas":           "1\n", "aws-opensearch.policy_open": "true\n",
		"aws-eks-nodegroup.version_lag":   "2\n",
		"aws-redshift.manual_snapshot_gb": "2\n", "aws-ecs.cpu_units": "512\n",
		"aws-ecs.task_vcpu": "0.5\n", "aws-ecs.task_gib": "1\n", "aws-ecs.launch_type": "FARGATE\n",
		"aws-ecs.task_storage_gib":         "40\n",
		"aws-asg.policy_count":             "1\n",
		"aws-sagemaker-notebook.volume_gb": "50\n", "aws-redshift.manual_snapshot_days": "-1\n",
	} {
		if told[name] != want {
			t.Errorf("%s is told as %q; want %q", name, told[name], want)
		}
	}
	for op := range impliedActions {
		if !slices.Contains([]string{
			"rds:ListTagsForResource", "ecs:ListTagsForResource", "cloudwatch:GetMetricData",
			"ecr:DescribeImages", "resource-explorer-2:GetView",
		}, op) && !called[op] {
			t.Errorf("%s is needed, and was not called for any fact", op)
		}
	}
}

// A rule that reads a fact must be able to tell "no" from "not known": a denied fact is never false. It is missing,
// with the reason.
func TestFacts_ThatAreDeniedAreMissingWithTheReason(t *testing.T) {
	for op, want := range map[string]string{
		"s3:GetBucketLogging": "aws-s3.logging: s3:GetBucketLogging: AccessDenied",
		"s3:GetBucketPolicyStatus": "aws-s3.policy_public: s3:GetBucketPolicyStatus: " +
			"AccessDenied",
		"s3:GetPublicAccessBlock": "aws-s3.public_blocked: " +
			"s3:GetBucketPublicAccessBlock: AccessDenied",
		"s3:ListMultipartUploads": "aws-s3.multipart_gb: s3:ListBucketMultipartUploads: " +
			"AccessDenied",
		"s3:GetBucketVersioning": "aws-s3.versioning: s3:GetBucketVersioning: AccessDenied",
		"elasticloadbalancing:DescribeListeners": "aws-elb.tls_policies: " +
			"elasticloadbalancing:DescribeListeners: AccessDenied",
		"elasticloadbalancing:DescribeLoadBalancerAttributes": "aws-elb.access_logs: " +
			"elasticloadbalancing:DescribeLoadBalancerAttributes: AccessDenied",
		"lambda:ListProvisionedConcurrencyConfigs": "aws-lambda.provisioned_concurrency: " +
			"lambda:ListProvisionedConcurrencyConfigs: AccessDenied",
		"ec2:DescribeVpcEndpoints": "aws-nat.s3_endpoint: ec2:DescribeVpcEndpoints: " +
			"AccessDenied",
		"ec2:DescribeRouteTables": "aws-nat.route_count: ec2:DescribeRouteTables: " +
			"AccessDenied",
		"ec2:DescribeFastSnapshotRestores": "aws-ebs-snapshot.fsr_zone_count: " +
			"ec2:DescribeFastSnapshotRestores: AccessDenied",
		"ec2:DescribeInstanceTypes": "aws-ec2.vcpu: ec2:DescribeInstanceTypes: AccessDenied",
		"rds:DescribeDBMajorEngineVersions": "aws-rds.standard_support_end: " +
			"rds:DescribeDBMajorEngineVersions: AccessDenied",
		"autoscaling:DescribePolicies": "aws-asg.policy_count: autoscaling:DescribePolicies: " +
			"AccessDenied",
		"ecs:DescribeTaskDefinition": "aws-ecs.architecture: ecs:DescribeTaskDefinition: " +
			"AccessDenied",
		"eks:DescribeCluster": "aws-eks-nodegroup.version_lag: eks:DescribeCluster: " +
			"AccessDenied",
		"elasticache:DescribeReplicationGroups": "aws-elasticache.replicas: " +
			"elasticache:DescribeReplicationGroups: AccessDenied",
		"redshift:DescribeStorage": "aws-redshift.manual_snapshot_gb: " +
			"redshift:DescribeStorage: AccessDenied",
		"sagemaker:DescribeNotebookInstance": "aws-sagemaker-notebook.volume_gb: " +
			"sagemaker:DescribeNotebookInstance: AccessDenied",
	} {
		tw, c := connect(t)
		tellAll(tw)
		tw.AddFault(awstwin.Fault{Op: op, Code: "AccessDenied", Message: "not authorized", Status: 403, Times: -1})
		reasons, kept := map[string]bool{}, ""
		for _, r := range cloudtest.ListAll(t, c, region, cloudtest.KindsOf("aws")...) {
			why, _ := r.Facts[cloud.Unread].([]string)
			for _, w := range why {
				reasons[r.Type+"."+w] = true
			}
			kind, rest, _ := strings.Cut(want, ".")
			name, _, _ := strings.Cut(rest, ":")
			if v, told := r.Facts[name]; told && r.Type == kind && slices.Contains(why, rest) {
				kept = fmt.Sprint(r.UID, ": ", v)
			}
		}
		if !reasons[want] || kept != "" {
			t.Errorf("%s denied: reasons %v, told all the same: %s; want %q", op, reasons, kept, want)
		}
	}
}

// TestFacts_TellWhereTasksRun has services with launch types and with capacity providers.
func TestFacts_TellWhereTasksRun(t *testing.T) {
	for name, c := range map[string]struct{ service, want string }{
		"a launch type": {`{"launchType":"EC2"}`, "EC2"},
		"one provider": {
			`{"launchType":"","capacityProviderStrategy":[{"capacityProvider":"FARGATE_SPOT","weight":1,"base":0}]}`,
			"FARGATE_SPOT",
		},
		"the first runs nothing": {
			`{"launchType":"","capacityProviderStrategy":[{"capacityProvider":"FARGATE","weight":0,"base":0},` +
				`{"capacityProvider":"FARGATE_SPOT","weight":1,"base":0}]}`, "FARGATE_SPOT",
		},
		"a base on demand, the rest on spot": {
			`{"launchType":"","capacityProviderStrategy":[{"capacityProvider":"FARGATE_SPOT","weight":1,"base":0},` +
				`{"capacityProvider":"FARGATE","weight":0,"base":1}]}`, "FARGATE,FARGATE_SPOT",
		},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c2 := connect(t)
			tw.AddService(awstwin.Service{Cluster: "shop", Name: "api", Region: region, Desired: 2})
			tw.Describe("api", c.service)
			for _, r := range cloudtest.ListAll(t, c2, region, cloud.AWSECS) {
				if got := r.Facts["launch_type"]; got != c.want {
					t.Errorf("its tasks run on %q; want %q", got, c.want)
				}
			}
		})
	}
}
