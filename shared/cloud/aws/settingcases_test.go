package aws_test

import "lamplighter.dev/shared/cloud"

func settingCases() []settingCase {
	table := map[string]string{
		"dynamodb:DescribeTable": `{"Table":{"TableName":"orders","TableStatus":"ACTIVE","DeletionProtectionEnabled":
			false,"BillingModeSummary":{"BillingMode":"PROVISIONED"},"TableClassSummary":{"TableClass":"STANDARD"},
			"ProvisionedThroughput":{"ReadCapacityUnits":40,"WriteCapacityUnits":20}}}`,
		"dynamodb:DescribeContinuousBackups": `{"ContinuousBackupsDescription":{"ContinuousBackupsStatus":"ENABLED",
			"PointInTimeRecoveryDescription":{"PointInTimeRecoveryStatus":"DISABLED"}}}`,
	}
	stream := map[string]string{"kinesis:DescribeStreamSummary": `{"StreamDescriptionSummary":{"StreamName":"clicks",
		"StreamStatus":"ACTIVE","RetentionPeriodHours":168,"OpenShardCount":8}}`}
	set := func(names ...string) cloud.Values {
		out := cloud.Values{}
		for i := 0; i < len(names); i += 2 {
			out[names[i]] = names[i+1]
		}
		return out
	}
	const orders, clicks = "dynamodb:table/orders", "kinesis:stream/clicks"
	cases := []settingCase{
		{
			"aws-dynamodb", cloud.Guard, orders, table, set("deletion_protection", "true"),
			"deletion_protection:false", "deletion_protection:true",
		},
		{"aws-dynamodb", cloud.Guard, orders, table, set("pitr", "true"), "pitr:false", "pitr:true"},
		{
			"aws-dynamodb", cloud.Guard, orders, table, set("billing_mode", "PAY_PER_REQUEST"),
			"billing_mode:PROVISIONED", "billing_mode:PAY_PER_REQUEST",
		},
		{
			"aws-dynamodb", cloud.Resize, orders, table, set("rcu", "12", "wcu", "6"), "rcu:40 wcu:20",
			"rcu:12 wcu:6",
		},
		{
			"aws-dynamodb", cloud.Resize, orders, table, set("table_class", "STANDARD_INFREQUENT_ACCESS"),
			"table_class:STANDARD", "table_class:STANDARD_INFREQUENT_ACCESS",
		},
		{
			"aws-kinesis", cloud.SetLifecycle, clicks, stream, set("retention_hours", "24"), "retention_hours:168",
			"retention_hours:24",
		},
		{"aws-kinesis", cloud.Resize, clicks, stream, set("shards", "4"), "shards:8", "shards:4"},
		{
			"aws-sqs", cloud.Setting, "sqs:jobs", map[string]string{
				"sqs:GetQueueUrl":        `{"QueueUrl":"https://sqs.eu-west-1.amazonaws.com/111122223333/jobs"}`,
				"sqs:GetQueueAttributes": `{"Attributes":{"ReceiveMessageWaitTimeSeconds":"0"}}`,
			}, set("wait_seconds", "20"), "wait_seconds:0", "wait_seconds:20",
		},
	}
	return append(cases, append(moreCases(set), machineCases(set)...)...)
}

func moreCases(set func(...string) cloud.Values) []settingCase {
	cluster := map[string]string{"rds:DescribeDBClusters": `{"DBClusters":{"DBCluster":{"DBClusterIdentifier":"shop",
		"Status":"available","DeletionProtection":"false","StorageType":"aurora","ServerlessV2ScalingConfiguration":
		{"MinCapacity":"2","MaxCapacity":"16"}}}}`}
	warehouse := map[string]string{"redshift:DescribeClusters": `{"Clusters":{"Cluster":{"ClusterIdentifier":"dwh",
		"ClusterStatus":"available","ClusterNamespaceArn":"ARN!","ManualSnapshotRetentionPeriod":"-1",
		"Encrypted":"false","NumberOfNodes":"8"}}}`}
	instance := map[string]string{"dms:DescribeReplicationInstances": `{"ReplicationInstances":[{
		"ReplicationInstanceArn":"ARN!","ReplicationInstanceStatus":"available","MultiAZ":true,
		"ReplicationInstanceClass":"dms.r5.xlarge"}]}`}
	cache := map[string]string{
		"elasticache:DescribeCacheClusters": `{"CacheClusters":{"CacheCluster":{"CacheClusterId":"sessions-001",
			"ReplicationGroupId":"sessions","CacheNodeType":"cache.r6g.large","CacheClusterStatus":"available"}}}`,
		"elasticache:DescribeReplicationGroups": `{"ReplicationGroups":{"ReplicationGroup":{"ReplicationGroupId":
			"sessions","Status":"available","CacheNodeType":"cache.r6g.large","AutomaticFailover":"disabled",
			"NodeGroups":{"NodeGroup":{"NodeGroupMembers":{"NodeGroupMember":[{"CacheClusterId":"sessions-001"},
			{"CacheClusterId":"sessions-002"},{"CacheClusterId":"sessions-003"}]}}}}}}`,
		"elasticache:ListAllowedNodeTypeModifications": `{"ScaleUpModifications":["cache.r6g.xlarge"],
			"ScaleDownModifications":["cache.m6g.large"]}`,
	}
	domain := map[string]string{"es:DescribeDomain": `{"DomainStatus":{"DomainName":"logs","Processing":false,
		"ClusterConfig":{"InstanceType":"m5.large.search","InstanceCount":3,"DedicatedMasterEnabled":true,
		"DedicatedMasterCount":3,"DedicatedMasterType":"m5.large.search"},
		"EBSOptions":{"EBSEnabled":true,"VolumeType":"gp2","VolumeSize":500}}}`}
	const shop, logs = "rds:cluster:shop", "es:domain/logs"
	return []settingCase{
		{
			cloud.AWSAurora, cloud.Guard, shop, cluster, set("deletion_protection", "true"),
			"deletion_protection:false", "deletion_protection:true",
		},
		{
			cloud.AWSAurora, cloud.ChangeStorage, shop, cluster, set("storage_type", "aurora-iopt1"),
			"storage_type:aurora", "storage_type:aurora-iopt1",
		},
		{
			cloud.AWSAurora, cloud.Resize, shop, cluster, set("serverless_min_acu", "0"), "serverless_min_acu:2",
			"serverless_min_acu:0",
		},
		{
			"aws-rds-snapshot", cloud.Guard, "rds:snapshot:rds:shop-1", map[string]string{
				"rds:DescribeDBSnapshotAttributes": `{"DBSnapshotAttributesResult":{"DBSnapshotIdentifier":"rds:shop-1",
					"DBSnapshotAttributes":{"DBSnapshotAttribute":{"AttributeName":"restore",
					"AttributeValues":{"AttributeValue":"all"}}}}}`,
			}, set("public", "false"), "public:true", "public:false",
		},
		{
			cloud.AWSRedshift, cloud.SetLifecycle, "redshift:namespace:0f0f", warehouse,
			set("manual_snapshot_days", "90"), "manual_snapshot_days:-1", "manual_snapshot_days:90",
		},
		{
			cloud.AWSRedshift, cloud.Guard, "redshift:namespace:0f0f", warehouse, set("encrypted", "true"),
			"encrypted:false", "encrypted:true",
		},
		{
			cloud.AWSRedshift, cloud.Resize, "redshift:namespace:0f0f", warehouse, set("node_count", "4"),
			"node_count:8", "node_count:4",
		},
		{
			"aws-redshift-serverless", cloud.Resize, "redshift-serverless:workgroup/0f0f", map[string]string{
				"redshift-serverless:ListWorkgroups": `{"workgroups":[{"workgroupArn":"ARN!","workgroupName":"bi",
					"status":"AVAILABLE","baseCapacity":128}]}`,
			}, set("base_rpu", "32"), "base_rpu:128", "base_rpu:32",
		},
		{"aws-dms", cloud.Resize, "dms:rep:ABC", instance, set("multi_az", "false"), "multi_az:true", "multi_az:false"},
		{
			"aws-dms", cloud.Resize, "dms:rep:ABC", instance, set("class", "dms.r5.large"), "class:dms.r5.xlarge",
			"class:dms.r5.large",
		},
		{
			"aws-elasticache", cloud.Resize, "elasticache:cluster:sessions-001", cache,
			set("class", "cache.m6g.large"), "class:cache.r6g.large", "class:cache.m6g.large",
		},
		{
			"aws-elasticache", cloud.Resize, "elasticache:cluster:sessions-001", cache, set("replicas", "0"),
			"replicas:2", "replicas:0",
		},
		{
			"aws-elasticache", cloud.Guard, "elasticache:cluster:sessions-001", cache, set("auto_failover", "true"),
			"auto_failover:false", "auto_failover:true",
		},
		{
			"aws-opensearch", cloud.Resize, logs, domain, set("class", "m6g.large.search"), "class:m5.large.search",
			"class:m6g.large.search",
		},
		{
			"aws-opensearch", cloud.Resize, logs, domain, set("dedicated_masters", "0"), "dedicated_masters:3",
			"dedicated_masters:0",
		},
		{
			"aws-opensearch", cloud.ChangeStorage, logs, domain, set("volume_type", "gp3"), "volume_type:gp2",
			"volume_type:gp3",
		},
		{
			"aws-opensearch", cloud.ChangeStorage, logs, domain, set("volume_gb", "200"), "volume_gb:500",
			"volume_gb:200",
		},
		{
			"aws-msk", cloud.Resize, "kafka:cluster/events/0f0f-1", map[string]string{
				"kafka:DescribeCluster": `{"clusterInfo":{"clusterArn":"ARN!","currentVersion":"K3","state":"ACTIVE",
					"brokerNodeGroupInfo":{"instanceType":"kafka.m5.large"}}}`,
			}, set("broker_type", "kafka.t3.small"), "broker_type:kafka.m5.large", "broker_type:kafka.t3.small",
		},
	}
}
