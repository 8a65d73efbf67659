package awstwin

import (
	"fmt"
	"strconv"
	"strings"
)

var heldClusters = map[string]heldOp{
	"elasticache:ModifyReplicationGroup": {
		on: "elasticache:DescribeReplicationGroups", ignores: []string{"ApplyImmediately"},
		is: map[string]string{"ReplicationGroupId": heldGroup + "ReplicationGroupId"}, sets: map[string]string{
			"CacheNodeType": heldGroup + "CacheNodeType", "AutomaticFailoverEnabled=true": heldGroup +
				"AutomaticFailover=enabled", "AutomaticFailoverEnabled=false": heldGroup + "AutomaticFailover=disabled",
		},
	},
	"elasticache:DecreaseReplicaCount": heldReplicas,
	"elasticache:IncreaseReplicaCount": heldReplicas,
	"es:UpdateDomainConfig": {
		on: "es:DescribeDomain", is: map[string]string{"DomainName": "DomainStatus.DomainName"},
		sets: map[string]string{
			"ClusterConfig.InstanceType":           "DomainStatus.ClusterConfig.InstanceType",
			"ClusterConfig.InstanceCount":          "DomainStatus.ClusterConfig.InstanceCount",
			"ClusterConfig.DedicatedMasterEnabled": "DomainStatus.ClusterConfig.DedicatedMasterEnabled",
			"ClusterConfig.DedicatedMasterCount":   "DomainStatus.ClusterConfig.DedicatedMasterCount",
			"ClusterConfig.DedicatedMasterType":    "DomainStatus.ClusterConfig.DedicatedMasterType",
			"EBSOptions.EBSEnabled":                "DomainStatus.EBSOptions.EBSEnabled",
			"EBSOptions.VolumeType":                "DomainStatus.EBSOptions.VolumeType",
			"EBSOptions.VolumeSize":                "DomainStatus.EBSOptions.VolumeSize",
		},
	},
	"kafka:DescribeCluster": {is: map[string]string{"ClusterArn": "clusterInfo.clusterArn"}},
	"kafka:UpdateBrokerType": {
		on: "kafka:DescribeCluster", is: map[string]string{
			"ClusterArn": "clusterInfo.clusterArn", "currentVersion": "clusterInfo.currentVersion",
		},
		sets: map[string]string{"targetInstanceType": "clusterInfo.brokerNodeGroupInfo.instanceType"},
	},
}

// heldReplicas makes as many members of the only node group as there are replicas, and the primary.
var heldReplicas = heldOp{
	on: "elasticache:DescribeReplicationGroups",
	is: map[string]string{"ReplicationGroupId": heldGroup + "ReplicationGroupId"},
	do: func(doc, params map[string]any) {
		n, _ := strconv.Atoi(fmt.Sprint(params["NewReplicaCount"]))
		members := make([]any, n+1)
		for i := range members {
			members[i] = map[string]any{"CacheClusterId": "sessions-00" + strconv.Itoa(i+1)}
		}
		put(doc, heldGroup+"NodeGroups.NodeGroup.NodeGroupMembers.NodeGroupMember", members)
	},
}

const heldGroup = "ReplicationGroups.ReplicationGroup."

var heldServices = map[string]heldOp{
	"elasticfilesystem:UpdateFileSystem": {
		on: "elasticfilesystem:DescribeFileSystems",
		is: map[string]string{"FileSystemId": "FileSystems[].FileSystemId"},
		sets: map[string]string{
			"ThroughputMode":               "FileSystems[].ThroughputMode",
			"ProvisionedThroughputInMibps": "FileSystems[].ProvisionedThroughputInMibps",
		},
	},
	"elasticfilesystem:PutLifecycleConfiguration": {
		on: "elasticfilesystem:DescribeLifecycleConfiguration", ignores: []string{"FileSystemId"},
		sets: map[string]string{"LifecyclePolicies": "LifecyclePolicies"},
	},
	"elasticfilesystem:PutBackupPolicy": {
		on: "elasticfilesystem:DescribeBackupPolicy", ignores: []string{"FileSystemId"},
		sets: map[string]string{"BackupPolicy.Status": "BackupPolicy.Status"},
	},
	"ecr:PutImageScanningConfiguration": {
		on: "ecr:DescribeRepositories", is: map[string]string{"repositoryName": "repositories[].repositoryName"},
		sets: map[string]string{
			"imageScanningConfiguration.scanOnPush": "repositories[].imageScanningConfiguration.scanOnPush",
		},
	},
	"ecr:PutLifecyclePolicy": {
		on: "ecr:GetLifecyclePolicy", ignores: []string{"repositoryName"},
		sets: map[string]string{"lifecyclePolicyText": "lifecyclePolicyText"}, drops: []string{"gone"},
	},
	"ecr:DeleteLifecyclePolicy": {
		on: "ecr:GetLifecyclePolicy", ignores: []string{"repositoryName"}, drops: []string{"lifecyclePolicyText"},
	},
	"logs:PutRetentionPolicy": {
		on: "logs:DescribeLogGroups", is: map[string]string{"logGroupName": "logGroups[].logGroupName"},
		sets: map[string]string{"retentionInDays": "logGroups[].retentionInDays"},
	},
	"logs:DeleteRetentionPolicy": {
		on: "logs:DescribeLogGroups", is: map[string]string{"logGroupName": "logGroups[].logGroupName"},
		drops: []string{"logGroups[].retentionInDays"},
	},
	"elasticloadbalancing:ModifyLoadBalancerAttributes": {
		on: "elasticloadbalancing:DescribeLoadBalancerAttributes", ignores: []string{"LoadBalancerArn"},
		is:   map[string]string{"Attributes.member.1.Key": "Attributes[].Key"},
		sets: map[string]string{"Attributes.member.1.Value": "Attributes[].Value"},
	},
	"kms:EnableKeyRotation": {
		on: "kms:GetKeyRotationStatus", is: map[string]string{"KeyId": "KeyId"},
		always: []string{"KeyRotationEnabled=true"},
	},
	"kms:DisableKeyRotation": {
		on: "kms:GetKeyRotationStatus", is: map[string]string{"KeyId": "KeyId"},
		always: []string{"KeyRotationEnabled=false"},
	},
	"cloudtrail:UpdateTrail": {
		on: "cloudtrail:GetTrail", is: map[string]string{"Name": "Trail.TrailARN"},
		sets: map[string]string{"EnableLogFileValidation": "Trail.LogFileValidationEnabled"},
	},
	"config:PutConfigurationRecorder": {
		on: "config:DescribeConfigurationRecorders",
		is: map[string]string{
			"ConfigurationRecorder.name":    "ConfigurationRecorders[].name",
			"ConfigurationRecorder.roleARN": "ConfigurationRecorders[].roleARN",
		}, sets: map[string]string{
			"ConfigurationRecorder.recordingGroup.allSupported": "ConfigurationRecorders[].recordingGroup.allSupported",
			"ConfigurationRecorder.recordingMode.recordingFrequency": "ConfigurationRecorders[].recordingMode." +
				"recordingFrequency",
		},
	},
	"ecs:UpdateService": {
		on: "ecs:DescribeServices", ignores: []string{"cluster"}, is: map[string]string{
			"service": "services[].serviceName",
		}, sets: map[string]string{
			"deploymentConfiguration.deploymentCircuitBreaker.enable": "services[].deploymentConfiguration." +
				"deploymentCircuitBreaker.enable",
			"deploymentConfiguration.deploymentCircuitBreaker.rollback": "services[].deploymentConfiguration." +
				"deploymentCircuitBreaker.rollback",
			"deploymentConfiguration.maximumPercent": "services[].deploymentConfiguration.maximumPercent",
		},
	},
	"workspaces:ModifyWorkspaceProperties": {
		on: "workspaces:DescribeWorkspaces", is: map[string]string{"WorkspaceId": "Workspaces[].WorkspaceId"},
		sets: map[string]string{
			"WorkspaceProperties.RunningMode": "Workspaces[].WorkspaceProperties.RunningMode",
			"WorkspaceProperties.RunningModeAutoStopTimeoutInMinutes": "Workspaces[].WorkspaceProperties." +
				"RunningModeAutoStopTimeoutInMinutes",
		},
	},
	"eks:UpdateClusterConfig": {
		on: "eks:DescribeCluster", is: map[string]string{"name": "cluster.name"},
		sets: map[string]string{"logging.clusterLogging": "cluster.logging.clusterLogging"},
	},
	"apigateway:UpdateStage": {
		on: "apigateway:GetStage", do: func(doc, params map[string]any) {
			patches, _ := params["patchOperations"].([]any)
			for _, patch := range patches {
				p, _ := patch.(map[string]any)
				to := p["value"]
				if p["path"] == "/cacheClusterEnabled" {
					to = p["value"] == "true"
				}
				put(doc, strings.TrimPrefix(fmt.Sprint(p["path"]), "/"), to)
			}
		},
	},
	"glue:UpdateJob": {
		on: "glue:GetJob", is: map[string]string{"JobName": "Job.Name"}, sets: map[string]string{
			"JobUpdate.Role": "Job.Role", "JobUpdate.NumberOfWorkers": "Job.NumberOfWorkers",
			"JobUpdate.ExecutionClass": "Job.ExecutionClass", "JobUpdate.WorkerType": "Job.WorkerType",
			"JobUpdate.Command.Name": "Job.Command.Name",
		},
	},
}
