package cloud

import (
	"slices"
	"strings"
)

// awsSet describes a change of values, which the same call, or its counterpart, sets back. values and needs are names
// with spaces between them.
func awsSet(kind string, verb ChangeVerb, values, calls, needs string) KindChange {
	first, _, _ := strings.Cut(calls, " ")
	return KindChange{
		Type: kind, Verb: verb, Sets: strings.Fields(values), Call: first,
		Undo:  strings.ReplaceAll(calls, " ", " or ") + " sets the values before",
		Needs: sorted(strings.Fields(calls + " " + needs)),
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// awsDelete describes a deletion that nothing gives back.
func awsDelete(kind, call, limit, needs string) KindChange {
	return KindChange{
		Type: kind, Verb: Delete, Call: call, Undo: noUndo, Limits: []string{limit},
		Needs: sorted(strings.Fields(call + " " + needs)),
	}
}

// awsSettings returns the changes that tables describe (shared/cloud/aws/settings).
func awsSettings() []KindChange {
	const (
		describeTable = "dynamodb:DescribeTable"
		cacheReads    = "elasticache:DescribeCacheClusters elasticache:DescribeReplicationGroups"
		describeFiles = "elasticfilesystem:DescribeFileSystems"
		domain        = "es:DescribeDomain"
		cluster       = "rds:DescribeDBClusters"
		warehouse     = "redshift:DescribeClusters"
	)
	imds := awsSet(AWSEC2, Guard, "imds_tokens", "ec2:ModifyInstanceMetadataOptions",
		"cloudwatch:GetMetricData ec2:DescribeInstances")
	imds.Holds = []string{"unused_access"}
	logs := awsSet("aws-eks", Guard, "log_types", "eks:UpdateClusterConfig", "eks:DescribeCluster")
	logs.Adds = []string{"log_types"}
	return []KindChange{
		imds, logs,
		awsSet(AWSEC2, Setting, "monitoring", "ec2:UnmonitorInstances ec2:MonitorInstances", "ec2:DescribeInstances"),
		awsSet("aws-ebs-snapshot", Guard, "public", "ec2:ModifySnapshotAttribute", "ec2:DescribeSnapshotAttribute"),
		awsSet("aws-ami", Guard, "public", "ec2:ModifyImageAttribute", "ec2:DescribeImageAttribute"),
		awsSet(AWSASG, Guard, "suspended", "autoscaling:ResumeProcesses autoscaling:SuspendProcesses",
			"autoscaling:DescribeAutoScalingGroups"),
		awsSet(AWSLambda, Resize, "memory_mb ephemeral_mb reserved_concurrency", "lambda:UpdateFunctionConfiguration "+
			"lambda:PutFunctionConcurrency lambda:DeleteFunctionConcurrency",
			"lambda:GetFunctionConcurrency lambda:GetFunctionConfiguration"),
		awsSet(AWSLambda, Guard, "timeout_s", "lambda:UpdateFunctionConfiguration", "lambda:GetFunctionConfiguration"),
		awsSet("aws-dynamodb", Resize, "rcu wcu table_class", "dynamodb:UpdateTable", describeTable),
		awsSet("aws-dynamodb", Guard, "pitr deletion_protection billing_mode",
			"dynamodb:UpdateTable dynamodb:UpdateContinuousBackups",
			"dynamodb:DescribeContinuousBackups "+describeTable),
		awsSet("aws-kinesis", Resize, "shards", "kinesis:UpdateShardCount", "kinesis:DescribeStreamSummary"),
		awsSet("aws-kinesis", SetLifecycle, "retention_hours",
			"kinesis:DecreaseStreamRetentionPeriod kinesis:IncreaseStreamRetentionPeriod",
			"kinesis:DescribeStreamSummary"),
		awsSet("aws-sqs", Setting, "wait_seconds", "sqs:SetQueueAttributes", "sqs:GetQueueAttributes sqs:GetQueueUrl"),
		awsSet(AWSAurora, Guard, "deletion_protection", "rds:ModifyDBCluster", cluster),
		awsSet(AWSAurora, ChangeStorage, "storage_type", "rds:ModifyDBCluster", cluster),
		awsSet(AWSAurora, Resize, "serverless_min_acu", "rds:ModifyDBCluster", cluster),
		awsSet(AWSRDS, Resize, "multi_az class", "rds:ModifyDBInstance",
			"rds:DescribeDBInstances rds:DescribeOrderableDBInstanceOptions"),
		awsSet("aws-rds-snapshot", Guard, "public", "rds:ModifyDBSnapshotAttribute",
			"rds:DescribeDBSnapshotAttributes"),
		awsSet(AWSRedshift, SetLifecycle, "manual_snapshot_days", "redshift:ModifyCluster", warehouse),
		awsSet(AWSRedshift, Guard, "encrypted", "redshift:ModifyCluster", warehouse),
		awsSet(AWSRedshift, Resize, "node_count", "redshift:ResizeCluster", warehouse),
		awsSet("aws-redshift-serverless", Resize, "base_rpu", "redshift-serverless:UpdateWorkgroup",
			"redshift-serverless:ListWorkgroups"),
		awsSet("aws-dms", Resize, "multi_az class", "dms:ModifyReplicationInstance",
			"dms:DescribeReplicationInstances"),
		awsSet("aws-elasticache", Resize, "class replicas", "elasticache:ModifyReplicationGroup "+
			"elasticache:DecreaseReplicaCount elasticache:IncreaseReplicaCount",
			"elasticache:ListAllowedNodeTypeModifications "+cacheReads),
		awsSet("aws-elasticache", Guard, "auto_failover", "elasticache:ModifyReplicationGroup", cacheReads),
		awsSet("aws-opensearch", Resize, "class dedicated_masters", "es:UpdateDomainConfig", domain),
		awsSet("aws-opensearch", ChangeStorage, "volume_type volume_gb", "es:UpdateDomainConfig", domain),
		awsSet("aws-msk", Resize, "broker_type", "kafka:UpdateBrokerType", "kafka:DescribeCluster"),
		awsSet("aws-efs", SetLifecycle, "lifecycle", "elasticfilesystem:PutLifecycleConfiguration",
			"elasticfilesystem:DescribeLifecycleConfiguration "+describeFiles),
		awsSet("aws-efs", Guard, "backup", "elasticfilesystem:PutBackupPolicy",
			"elasticfilesystem:DescribeBackupPolicy "+describeFiles),
		awsSet("aws-efs", ChangeStorage, "throughput_mode", "elasticfilesystem:UpdateFileSystem", describeFiles),
		awsSet("aws-ecr", Guard, "scan_on_push", "ecr:PutImageScanningConfiguration", "ecr:DescribeRepositories"),
		awsSet("aws-ecr", SetLifecycle, "lifecycle", "ecr:PutLifecyclePolicy ecr:DeleteLifecyclePolicy",
			"ecr:DescribeRepositories ecr:GetLifecyclePolicy"),
		awsSet("aws-log-group", SetLifecycle, "retention_days", "logs:PutRetentionPolicy logs:DeleteRetentionPolicy",
			"logs:DescribeLogGroups"),
		awsSet("aws-elb", Guard, "deletion_protection", "elasticloadbalancing:ModifyLoadBalancerAttributes",
			"elasticloadbalancing:DescribeLoadBalancerAttributes"),
		awsSet("aws-kms-key", Guard, "rotation", "kms:EnableKeyRotation kms:DisableKeyRotation",
			"kms:GetKeyRotationStatus"),
		awsSet("aws-cloudtrail", Guard, "log_validation", "cloudtrail:UpdateTrail", "cloudtrail:GetTrail"),
		awsSet("aws-config-recorder", Resize, "continuous", "config:PutConfigurationRecorder",
			"config:DescribeConfigurationRecorders iam:PassRole"),
		awsSet(AWSECS, Guard, "circuit_breaker", "ecs:UpdateService", "ecs:DescribeServices"),
		awsSet(AWSWorkSpace, Resize, "running_mode", "workspaces:ModifyWorkspaceProperties",
			"workspaces:DescribeWorkspaces"),
		awsSet("aws-apigateway", Setting, "cache_gb", "apigateway:PATCH", "apigateway:GET"),
		awsSet("aws-glue-job", Resize, "workers execution_class", "glue:UpdateJob", "glue:GetJob iam:PassRole"),
	}
}
