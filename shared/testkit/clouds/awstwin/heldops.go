package awstwin

import (
	"maps"
	"net/url"
	"regexp"
)

// heldRoutes are the operations of REST services on held answers, as AWS documents them.
var heldRoutes = []route{
	routeTo("lambda", "GET", "GetFunctionConfiguration", "/2015-03-31/functions/{FunctionName}/configuration"),
	routeTo("lambda", "PUT", "UpdateFunctionConfiguration", "/2015-03-31/functions/{FunctionName}/configuration"),
	routeTo("es", "GET", "DescribeDomain", "/2021-01-01/opensearch/domain/{DomainName}"),
	routeTo("es", "POST", "UpdateDomainConfig", "/2021-01-01/opensearch/domain/{DomainName}/config"),
	routeTo("kafka", "GET", "DescribeCluster", "/v1/clusters/{ClusterArn}"),
	routeTo("kafka", "PUT", "UpdateBrokerType", "/v1/clusters/{ClusterArn}/nodes/type"),
	routeTo("elasticfilesystem", "PUT", "UpdateFileSystem", "/2015-02-01/file-systems/{FileSystemId}"),
	routeTo("elasticfilesystem", "GET", "DescribeLifecycleConfiguration",
		"/2015-02-01/file-systems/{FileSystemId}/lifecycle-configuration"),
	routeTo("elasticfilesystem", "PUT", "PutLifecycleConfiguration",
		"/2015-02-01/file-systems/{FileSystemId}/lifecycle-configuration"),
	routeTo("elasticfilesystem", "GET", "DescribeBackupPolicy",
		"/2015-02-01/file-systems/{FileSystemId}/backup-policy"),
	routeTo("elasticfilesystem", "PUT", "PutBackupPolicy", "/2015-02-01/file-systems/{FileSystemId}/backup-policy"),
	routeTo("eks", "POST", "UpdateClusterConfig", "/clusters/{name}/update-config"),
	routeTo("apigateway", "GET", "GetStage", "/restapis/{restApiId}/stages/{stageName}"),
	routeTo("apigateway", "PATCH", "UpdateStage", "/restapis/{restApiId}/stages/{stageName}"),
}

func routeTo(service, method, op, path string) route {
	path = regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(path, `(?P<$1>[^/]+)`)
	return route{service, method, op, regexp.MustCompile("^" + path + "$")}
}

func unescaped(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}

// heldOps are the operations on held answers, as AWS documents them.
var heldOps = map[string]heldOp{}

func init() {
	for _, some := range []map[string]heldOp{heldMachines, heldDatabases, heldClusters, heldServices, heldRemovals} {
		maps.Copy(heldOps, some)
	}
}

var heldMachines = map[string]heldOp{
	"ec2:UnmonitorInstances": {
		on: "ec2:DescribeInstances", is: map[string]string{"InstanceId.1": heldInstance + "instanceId"},
		always: []string{heldInstance + "monitoring.state=disabled"},
	},
	"ec2:MonitorInstances": {
		on: "ec2:DescribeInstances", is: map[string]string{"InstanceId.1": heldInstance + "instanceId"},
		always: []string{heldInstance + "monitoring.state=enabled"},
	},
	"ec2:ModifyInstanceMetadataOptions": {
		on: "ec2:DescribeInstances", is: map[string]string{"InstanceId": heldInstance + "instanceId"},
		sets: map[string]string{"HttpTokens": heldInstance + "metadataOptions.httpTokens"},
	},
	"ec2:ModifySnapshotAttribute": {
		on: "ec2:DescribeSnapshotAttribute", is: map[string]string{"SnapshotId": "snapshotId"},
		ignores: []string{"Attribute", "UserGroup.1"}, sets: map[string]string{
			"OperationType=add":    "createVolumePermission[].group=all",
			"OperationType=remove": "createVolumePermission[].group=",
		},
	},
	"ec2:ModifyImageAttribute": {
		on: "ec2:DescribeImageAttribute", is: map[string]string{"ImageId": "imageId"},
		sets: map[string]string{
			"LaunchPermission.Add.1.Group":        "launchPermission[].group",
			"LaunchPermission.Remove.1.Group=all": "launchPermission[].group=",
		},
	},
	"lambda:PutFunctionConcurrency": {
		on: "lambda:GetFunctionConcurrency", sets: map[string]string{
			"ReservedConcurrentExecutions": "ReservedConcurrentExecutions",
		},
	},
	"lambda:DeleteFunctionConcurrency": {
		on: "lambda:GetFunctionConcurrency", drops: []string{"ReservedConcurrentExecutions"},
	},
	"lambda:UpdateFunctionConfiguration": {
		on: "lambda:GetFunctionConfiguration", is: map[string]string{"FunctionName": "FunctionName"},
		sets: map[string]string{
			"MemorySize": "MemorySize", "Timeout": "Timeout", "EphemeralStorage.Size": "EphemeralStorage.Size",
		},
	},
}

const heldInstance = "reservationSet[].instancesSet[]."

var heldDatabases = map[string]heldOp{
	"dynamodb:DescribeTable": {is: map[string]string{"TableName": "Table.TableName"}},
	"dynamodb:UpdateTable": {
		on: "dynamodb:DescribeTable", is: map[string]string{"TableName": "Table.TableName"},
		sets: map[string]string{
			"BillingMode": "Table.BillingModeSummary.BillingMode", "TableClass": "Table.TableClassSummary.TableClass",
			"DeletionProtectionEnabled":                "Table.DeletionProtectionEnabled",
			"ProvisionedThroughput.ReadCapacityUnits":  "Table.ProvisionedThroughput.ReadCapacityUnits",
			"ProvisionedThroughput.WriteCapacityUnits": "Table.ProvisionedThroughput.WriteCapacityUnits",
		},
	},
	"dynamodb:UpdateContinuousBackups": {
		on: "dynamodb:DescribeContinuousBackups", ignores: []string{"TableName"}, sets: map[string]string{
			"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled=true": "ContinuousBackupsDescription." +
				"PointInTimeRecoveryDescription.PointInTimeRecoveryStatus=ENABLED",
			"PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled=false": "ContinuousBackupsDescription." +
				"PointInTimeRecoveryDescription.PointInTimeRecoveryStatus=DISABLED",
		},
	},
	"kinesis:DescribeStreamSummary":         {is: map[string]string{"StreamName": heldStream + "StreamName"}},
	"kinesis:DecreaseStreamRetentionPeriod": heldRetention,
	"kinesis:IncreaseStreamRetentionPeriod": heldRetention,
	"kinesis:UpdateShardCount": {
		on: "kinesis:DescribeStreamSummary", is: map[string]string{"StreamName": heldStream + "StreamName"},
		sets: map[string]string{"TargetShardCount": heldStream + "OpenShardCount"}, ignores: []string{"ScalingType"},
	},
	"sqs:SetQueueAttributes": {
		on: "sqs:GetQueueAttributes", ignores: []string{"QueueUrl"}, sets: map[string]string{
			"Attributes.ReceiveMessageWaitTimeSeconds": "Attributes.ReceiveMessageWaitTimeSeconds",
		},
	},
	"rds:ModifyDBCluster": {
		on: "rds:DescribeDBClusters", is: map[string]string{"DBClusterIdentifier": heldCluster + "DBClusterIdentifier"},
		ignores: []string{"ApplyImmediately"}, sets: map[string]string{
			"DeletionProtection": heldCluster + "DeletionProtection", "StorageType": heldCluster + "StorageType",
			heldServerless + "MinCapacity": heldCluster + heldServerless + "MinCapacity",
			heldServerless + "MaxCapacity": heldCluster + heldServerless + "MaxCapacity",
		},
	},
	"rds:ModifyDBSnapshotAttribute": {
		on: "rds:DescribeDBSnapshotAttributes", ignores: []string{"AttributeName"}, is: map[string]string{
			"DBSnapshotIdentifier": "DBSnapshotAttributesResult.DBSnapshotIdentifier",
		}, sets: map[string]string{
			"ValuesToAdd.AttributeValue.1":        heldShares,
			"ValuesToRemove.AttributeValue.1=all": heldShares + "=",
		},
	},
	"redshift:ModifyCluster": {
		on: "redshift:DescribeClusters",
		is: map[string]string{"ClusterIdentifier": heldWarehouse + "ClusterIdentifier"},
		sets: map[string]string{
			"ManualSnapshotRetentionPeriod": heldWarehouse + "ManualSnapshotRetentionPeriod",
			"Encrypted":                     heldWarehouse + "Encrypted",
		},
	},
	"redshift:ResizeCluster": {
		on:   "redshift:DescribeClusters",
		is:   map[string]string{"ClusterIdentifier": heldWarehouse + "ClusterIdentifier"},
		sets: map[string]string{"NumberOfNodes": heldWarehouse + "NumberOfNodes"}, ignores: []string{"Classic"},
	},
	"redshift-serverless:UpdateWorkgroup": {
		on: "redshift-serverless:ListWorkgroups", is: map[string]string{"workgroupName": "workgroups[].workgroupName"},
		sets: map[string]string{"baseCapacity": "workgroups[].baseCapacity"},
	},
	"dms:ModifyReplicationInstance": {
		on: "dms:DescribeReplicationInstances", ignores: []string{"ApplyImmediately"},
		is: map[string]string{"ReplicationInstanceArn": "ReplicationInstances[].ReplicationInstanceArn"},
		sets: map[string]string{
			"MultiAZ":                  "ReplicationInstances[].MultiAZ",
			"ReplicationInstanceClass": "ReplicationInstances[].ReplicationInstanceClass",
		},
	},
}

const (
	heldStream  = "StreamDescriptionSummary."
	heldCluster = "DBClusters.DBCluster."

	heldServerless = "ServerlessV2ScalingConfiguration."
	heldWarehouse  = "Clusters.Cluster."
	heldShares     = "DBSnapshotAttributesResult.DBSnapshotAttributes.DBSnapshotAttribute.AttributeValues." +
		"AttributeValue"
)

var heldRetention = heldOp{
	on: "kinesis:DescribeStreamSummary", is: map[string]string{"StreamName": heldStream + "StreamName"},
	sets: map[string]string{"RetentionPeriodHours": heldStream + "RetentionPeriodHours"},
}
