package main

import (
	sapplicationautoscaling "github.com/aws/aws-sdk-go-v2/service/applicationautoscaling"
	sapprunner "github.com/aws/aws-sdk-go-v2/service/apprunner"
	sautoscaling "github.com/aws/aws-sdk-go-v2/service/autoscaling"
	sbcmdataexports "github.com/aws/aws-sdk-go-v2/service/bcmdataexports"
	scloudwatch "github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	scloudwatchlogs "github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	scostandusagereportservice "github.com/aws/aws-sdk-go-v2/service/costandusagereportservice"
	scostexplorer "github.com/aws/aws-sdk-go-v2/service/costexplorer"
	scostoptimizationhub "github.com/aws/aws-sdk-go-v2/service/costoptimizationhub"
	sdatabasemigrationservice "github.com/aws/aws-sdk-go-v2/service/databasemigrationservice"
	sdax "github.com/aws/aws-sdk-go-v2/service/dax"
	sdirectconnect "github.com/aws/aws-sdk-go-v2/service/directconnect"
	sec2 "github.com/aws/aws-sdk-go-v2/service/ec2"
	secr "github.com/aws/aws-sdk-go-v2/service/ecr"
	secs "github.com/aws/aws-sdk-go-v2/service/ecs"
	sefs "github.com/aws/aws-sdk-go-v2/service/efs"
	seks "github.com/aws/aws-sdk-go-v2/service/eks"
	selasticache "github.com/aws/aws-sdk-go-v2/service/elasticache"
	selasticloadbalancing "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	selasticloadbalancingv2 "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	sfsx "github.com/aws/aws-sdk-go-v2/service/fsx"
	slambda "github.com/aws/aws-sdk-go-v2/service/lambda"
	slightsail "github.com/aws/aws-sdk-go-v2/service/lightsail"
	sopensearch "github.com/aws/aws-sdk-go-v2/service/opensearch"
	sorganizations "github.com/aws/aws-sdk-go-v2/service/organizations"
	srds "github.com/aws/aws-sdk-go-v2/service/rds"
	sredshift "github.com/aws/aws-sdk-go-v2/service/redshift"
	sresourceexplorer2 "github.com/aws/aws-sdk-go-v2/service/resourceexplorer2"
	sresourcegroupstaggingapi "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	ss3control "github.com/aws/aws-sdk-go-v2/service/s3control"
	ssagemaker "github.com/aws/aws-sdk-go-v2/service/sagemaker"
	ssecretsmanager "github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	ssqs "github.com/aws/aws-sdk-go-v2/service/sqs"
	ssynthetics "github.com/aws/aws-sdk-go-v2/service/synthetics"
	stransfer "github.com/aws/aws-sdk-go-v2/service/transfer"
	sworkspaces "github.com/aws/aws-sdk-go-v2/service/workspaces"

	napplicationautoscaling "lamplighter.dev/shared/cloud/aws/wire/applicationautoscaling"
	napprunner "lamplighter.dev/shared/cloud/aws/wire/apprunner"
	nautoscaling "lamplighter.dev/shared/cloud/aws/wire/autoscaling"
	nbcmdataexports "lamplighter.dev/shared/cloud/aws/wire/bcmdataexports"
	ncloudwatch "lamplighter.dev/shared/cloud/aws/wire/cloudwatch"
	ncloudwatchlogs "lamplighter.dev/shared/cloud/aws/wire/cloudwatchlogs"
	ncostandusagereportservice "lamplighter.dev/shared/cloud/aws/wire/costandusagereportservice"
	ncostexplorer "lamplighter.dev/shared/cloud/aws/wire/costexplorer"
	ncostoptimizationhub "lamplighter.dev/shared/cloud/aws/wire/costoptimizationhub"
	ndatabasemigrationservice "lamplighter.dev/shared/cloud/aws/wire/databasemigrationservice"
	ndax "lamplighter.dev/shared/cloud/aws/wire/dax"
	ndirectconnect "lamplighter.dev/shared/cloud/aws/wire/directconnect"
	nec2 "lamplighter.dev/shared/cloud/aws/wire/ec2"
	necr "lamplighter.dev/shared/cloud/aws/wire/ecr"
	necs "lamplighter.dev/shared/cloud/aws/wire/ecs"
	nefs "lamplighter.dev/shared/cloud/aws/wire/efs"
	neks "lamplighter.dev/shared/cloud/aws/wire/eks"
	nelasticache "lamplighter.dev/shared/cloud/aws/wire/elasticache"
	nelasticloadbalancing "lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancing"
	nelasticloadbalancingv2 "lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancingv2"
	nfsx "lamplighter.dev/shared/cloud/aws/wire/fsx"
	nlambda "lamplighter.dev/shared/cloud/aws/wire/lambda"
	nlightsail "lamplighter.dev/shared/cloud/aws/wire/lightsail"
	nopensearch "lamplighter.dev/shared/cloud/aws/wire/opensearch"
	norganizations "lamplighter.dev/shared/cloud/aws/wire/organizations"
	nrds "lamplighter.dev/shared/cloud/aws/wire/rds"
	nredshift "lamplighter.dev/shared/cloud/aws/wire/redshift"
	nresourceexplorer2 "lamplighter.dev/shared/cloud/aws/wire/resourceexplorer2"
	nresourcegroupstaggingapi "lamplighter.dev/shared/cloud/aws/wire/resourcegroupstaggingapi"
	ns3control "lamplighter.dev/shared/cloud/aws/wire/s3control"
	nsagemaker "lamplighter.dev/shared/cloud/aws/wire/sagemaker"
	nsecretsmanager "lamplighter.dev/shared/cloud/aws/wire/secretsmanager"
	nsqs "lamplighter.dev/shared/cloud/aws/wire/sqs"
	nsynthetics "lamplighter.dev/shared/cloud/aws/wire/synthetics"
	ntransfer "lamplighter.dev/shared/cloud/aws/wire/transfer"
	nworkspaces "lamplighter.dev/shared/cloud/aws/wire/workspaces"
)

// listServices returns the clients of the SDK and of this repository, with the operations to record.
func listServices() []service {
	return []service{
		{
			"applicationautoscaling", sapplicationautoscaling.NewFromConfig, napplicationautoscaling.NewFromConfig,
			[]string{
				"DeleteScalingPolicy", "DeregisterScalableTarget", "DescribeScalableTargets", "DescribeScalingPolicies",
				"PutScalingPolicy", "RegisterScalableTarget",
			},
		},
		{
			"apprunner", sapprunner.NewFromConfig, napprunner.NewFromConfig,
			[]string{"DescribeService", "ListServices", "PauseService", "ResumeService"},
		},
		{
			"autoscaling", sautoscaling.NewFromConfig, nautoscaling.NewFromConfig,
			[]string{
				"DeletePolicy", "DescribeAutoScalingGroups", "DescribePolicies", "PutScalingPolicy", "ResumeProcesses",
				"SuspendProcesses", "UpdateAutoScalingGroup",
			},
		},
		{
			"bcmdataexports", sbcmdataexports.NewFromConfig, nbcmdataexports.NewFromConfig,
			[]string{"GetExport", "ListExports"},
		},
		{
			"cloudwatch", scloudwatch.NewFromConfig, ncloudwatch.NewFromConfig,
			[]string{"DescribeAlarms", "GetMetricData"},
		},
		{
			"costandusagereportservice", scostandusagereportservice.NewFromConfig,
			ncostandusagereportservice.NewFromConfig,
			[]string{"DescribeReportDefinitions"},
		},
		{
			"costoptimizationhub", scostoptimizationhub.NewFromConfig, ncostoptimizationhub.NewFromConfig,
			[]string{"ListRecommendations"},
		},
		{"costexplorer", scostexplorer.NewFromConfig, ncostexplorer.NewFromConfig, []string{"GetCostAndUsage"}},
		{
			"efs", sefs.NewFromConfig, nefs.NewFromConfig,
			[]string{"DescribeFileSystems"},
		},
		{
			"fsx", sfsx.NewFromConfig, nfsx.NewFromConfig,
			[]string{"DescribeFileSystems"},
		},
		{
			"cloudwatchlogs", scloudwatchlogs.NewFromConfig, ncloudwatchlogs.NewFromConfig,
			[]string{"DescribeLogGroups"},
		},
		{
			"secretsmanager", ssecretsmanager.NewFromConfig, nsecretsmanager.NewFromConfig,
			[]string{"ListSecrets"},
		},
		{
			"databasemigrationservice", sdatabasemigrationservice.NewFromConfig,
			ndatabasemigrationservice.NewFromConfig,
			[]string{"DescribeReplicationInstances", "DescribeReplicationTasks"},
		},
		{
			"directconnect", sdirectconnect.NewFromConfig, ndirectconnect.NewFromConfig,
			[]string{"DescribeConnections", "DescribeVirtualInterfaces"},
		},
		{
			"transfer", stransfer.NewFromConfig, ntransfer.NewFromConfig,
			[]string{"ListServers"},
		},
		{
			"dax", sdax.NewFromConfig, ndax.NewFromConfig,
			[]string{"DescribeClusters"},
		},
		{
			"ec2", sec2.NewFromConfig, nec2.NewFromConfig,
			[]string{
				"AllocateAddress", "CreateSnapshot", "CreateTags", "CreateVolume",
				"DeleteSnapshot", "DeleteTags", "DeleteVolume", "DescribeAddresses", "DescribeCapacityReservations",
				"DescribeFastSnapshotRestores", "DescribeFlowLogs", "DescribeHosts", "DescribeImages",
				"DescribeInstanceStatus", "DescribeInstanceTypes", "DescribeInstances", "DescribeNatGateways",
				"DescribeNetworkInterfaces", "DescribeRegions", "DescribeRouteTables", "DescribeSecurityGroups",
				"DescribeSnapshots", "DescribeSpotInstanceRequests", "DescribeSubnets", "DescribeVolumes",
				"DescribeVolumesModifications", "DescribeVpcEndpoints", "DescribeVpcs", "DescribeVpnConnections",
				"ModifyInstanceAttribute", "ModifyVolume", "ReleaseAddress", "StartInstances", "StopInstances",
			},
		},
		{
			"ecr", secr.NewFromConfig, necr.NewFromConfig,
			[]string{
				"DescribeImages", "DescribeRepositories", "GetLifecyclePolicy", "GetRegistryScanningConfiguration",
			},
		},
		{
			"ecs", secs.NewFromConfig, necs.NewFromConfig,
			[]string{
				"DescribeClusters", "DescribeServices", "DescribeTaskDefinition", "ListClusters", "ListServices",
				"UpdateService",
			},
		},
		{
			"eks", seks.NewFromConfig, neks.NewFromConfig,
			[]string{
				"DescribeCluster", "DescribeNodegroup", "DescribeUpdate", "ListClusters", "ListNodegroups",
				"ListUpdates", "UpdateNodegroupConfig",
			},
		},
		{
			"elasticache", selasticache.NewFromConfig, nelasticache.NewFromConfig,
			[]string{"DescribeCacheClusters", "DescribeReplicationGroups"},
		},
		{
			"elasticloadbalancing", selasticloadbalancing.NewFromConfig, nelasticloadbalancing.NewFromConfig,
			[]string{"DescribeInstanceHealth", "DescribeLoadBalancerAttributes", "DescribeLoadBalancers"},
		},
		{
			"elasticloadbalancingv2", selasticloadbalancingv2.NewFromConfig, nelasticloadbalancingv2.NewFromConfig,
			[]string{
				"DescribeListeners", "DescribeLoadBalancerAttributes", "DescribeLoadBalancers", "DescribeTargetGroups",
				"DescribeTargetHealth",
			},
		},
		{
			"lambda", slambda.NewFromConfig, nlambda.NewFromConfig,
			[]string{
				"DeleteFunctionConcurrency", "DeleteProvisionedConcurrencyConfig", "GetFunctionConcurrency",
				"ListFunctionEventInvokeConfigs", "ListFunctions", "ListProvisionedConcurrencyConfigs", "ListTags",
				"PutFunctionConcurrency", "PutProvisionedConcurrencyConfig", "TagResource", "UntagResource",
			},
		},
		{
			"lightsail", slightsail.NewFromConfig, nlightsail.NewFromConfig,
			[]string{"GetInstances", "StartInstance", "StopInstance"},
		},
		{
			"opensearch", sopensearch.NewFromConfig, nopensearch.NewFromConfig,
			[]string{"DescribeDomains", "ListDomainNames"},
		},
		{
			"organizations", sorganizations.NewFromConfig, norganizations.NewFromConfig,
			[]string{
				"DescribeOrganization", "ListAccountsForParent", "ListOrganizationalUnitsForParent", "ListRoots",
				"ListTagsForResource",
			},
		},
		{
			"rds", srds.NewFromConfig, nrds.NewFromConfig,
			[]string{
				"DescribeBlueGreenDeployments", "DescribeDBClusters", "DescribeDBInstances",
				"DescribeDBMajorEngineVersions", "DescribeDBSnapshots", "ModifyDBInstance", "StartDBCluster",
				"StartDBInstance", "StopDBCluster", "StopDBInstance",
			},
		},
		{
			"redshift", sredshift.NewFromConfig, nredshift.NewFromConfig,
			[]string{"DescribeClusters", "DescribeStorage", "PauseCluster", "ResumeCluster"},
		},
		{
			"resourceexplorer2", sresourceexplorer2.NewFromConfig, nresourceexplorer2.NewFromConfig,
			[]string{"ListResources"},
		},
		{
			"resourcegroupstaggingapi", sresourcegroupstaggingapi.NewFromConfig,
			nresourcegroupstaggingapi.NewFromConfig,
			[]string{"GetResources"},
		},
		{"s3control", ss3control.NewFromConfig, ns3control.NewFromConfig, []string{"GetPublicAccessBlock"}},
		{
			"sagemaker", ssagemaker.NewFromConfig, nsagemaker.NewFromConfig,
			[]string{
				"DescribeNotebookInstance", "ListNotebookInstances", "ListTags", "StartNotebookInstance",
				"StopNotebookInstance",
			},
		},
		{"sqs", ssqs.NewFromConfig, nsqs.NewFromConfig, []string{"GetQueueAttributes", "ListQueues"}},
		{
			"synthetics", ssynthetics.NewFromConfig, nsynthetics.NewFromConfig,
			[]string{"DescribeCanaries", "GetCanary", "StartCanary", "StopCanary"},
		},
		{
			"workspaces", sworkspaces.NewFromConfig, nworkspaces.NewFromConfig,
			[]string{
				"DescribeWorkspaces", "DescribeWorkspacesConnectionStatus", "StartWorkspaces", "StopWorkspaces",
			},
		},
	}
}
