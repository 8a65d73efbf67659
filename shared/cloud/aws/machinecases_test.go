package aws_test

import "lamplighter.dev/shared/cloud"

func machineCases(set func(...string) cloud.Values) []settingCase {
	function := map[string]string{
		"lambda:GetFunctionConfiguration": `{"FunctionName":"resize","LastUpdateStatus":"Successful","MemorySize":1024,
			"Timeout":300,"EphemeralStorage":{"Size":2048}}`,
		"lambda:GetFunctionConcurrency": `{}`,
	}
	files := map[string]string{
		"elasticfilesystem:DescribeFileSystems": `{"FileSystems":[{"FileSystemId":"fs-1","LifeCycleState":"available",
			"ThroughputMode":"provisioned","ProvisionedThroughputInMibps":256}]}`,
		"elasticfilesystem:DescribeLifecycleConfiguration": `{"LifecyclePolicies":[]}`,
		"elasticfilesystem:DescribeBackupPolicy":           `{"BackupPolicy":{"Status":"DISABLED"}}`,
	}
	repository := map[string]string{
		"ecr:DescribeRepositories": `{"repositories":[{"repositoryName":"team/api",
			"imageScanningConfiguration":{"scanOnPush":false}}]}`,
		"ecr:GetLifecyclePolicy": `{"repositoryName":"team/api"}`,
	}
	group := func(more string) map[string]string {
		return map[string]string{
			"logs:DescribeLogGroups": `{"logGroups":[{"logGroupName":"/aws/lambda/a"` + more + `}]}`,
		}
	}
	job := map[string]string{"glue:GetJob": `{"Job":{"Name":"etl","Role":"r","Command":{"Name":"glueetl"},
		"WorkerType":"G.1X","NumberOfWorkers":10,"ExecutionClass":"STANDARD","CreatedOn":1}}`}
	machine := map[string]string{"ec2:DescribeInstances": `{"reservationSet":[{"instancesSet":[{"instanceId":"i-1",
		"monitoring":{"state":"enabled"}}]}]}`}
	const etl, resize, data, repo, logs = "glue:job/etl", "lambda:function:resize",
		"elasticfilesystem:file-system/fs-1", "ecr:repository/team/api", "logs:log-group:/aws/lambda/a:*"
	return []settingCase{
		{
			"aws-ebs-snapshot", cloud.Guard, "ec2:snapshot/snap-1", map[string]string{
				"ec2:DescribeSnapshotAttribute": `{"snapshotId":"snap-1","createVolumePermission":[{"group":"all"}]}`,
			}, set("public", "false"), "public:true", "public:false",
		},
		{
			"aws-ami", cloud.Guard, "ec2:image/ami-1", map[string]string{
				"ec2:DescribeImageAttribute": `{"imageId":"ami-1","launchPermission":[{"group":"all"}]}`,
			}, set("public", "false"), "public:true", "public:false",
		},
		{cloud.AWSLambda, cloud.Resize, resize, function, set("memory_mb", "512"), "memory_mb:1024", "memory_mb:512"},
		{
			cloud.AWSLambda, cloud.Resize, resize, function, set("ephemeral_mb", "512"), "ephemeral_mb:2048",
			"ephemeral_mb:512",
		},
		{
			cloud.AWSLambda, cloud.Resize, resize, function, set("reserved_concurrency", "50"),
			"reserved_concurrency:none", "reserved_concurrency:50",
		},
		{cloud.AWSLambda, cloud.Guard, resize, function, set("timeout_s", "30"), "timeout_s:300", "timeout_s:30"},
		{
			"aws-efs", cloud.ChangeStorage, data, files, set("throughput_mode", "elastic"),
			"throughput_mode:provisioned", "throughput_mode:elastic",
		},
		{"aws-efs", cloud.SetLifecycle, data, files, set("lifecycle", "true"), "lifecycle:false", "lifecycle:true"},
		{"aws-efs", cloud.Guard, data, files, set("backup", "true"), "backup:false", "backup:true"},
		{
			"aws-ecr", cloud.Guard, repo, repository, set("scan_on_push", "true"), "scan_on_push:false",
			"scan_on_push:true",
		},
		{
			"aws-ecr", cloud.SetLifecycle, repo, repository, set("lifecycle", "true"), "lifecycle:false",
			"lifecycle:true",
		},
		{
			"aws-log-group", cloud.SetLifecycle, logs, group(""), set("retention_days", "30"), "retention_days:0",
			"retention_days:30",
		},
		{
			"aws-log-group", cloud.SetLifecycle, logs, group(`,"retentionInDays":365`), set("retention_days", "30"),
			"retention_days:365", "retention_days:30",
		},
		{
			"aws-elb", cloud.Guard, "elasticloadbalancing:loadbalancer/app/web/50dc", map[string]string{
				"elasticloadbalancing:DescribeLoadBalancerAttributes": `{"Attributes":[
					{"Key":"deletion_protection.enabled","Value":"false"},{"Key":"idle_timeout","Value":"60"}]}`,
			}, set("deletion_protection", "true"), "deletion_protection:false", "deletion_protection:true",
		},
		{
			"aws-kms-key", cloud.Guard, "kms:key/0f0f", map[string]string{
				"kms:GetKeyRotationStatus": `{"KeyId":"ARN!","KeyRotationEnabled":false}`,
			}, set("rotation", "true"), "rotation:false", "rotation:true",
		},
		{
			"aws-cloudtrail", cloud.Guard, "cloudtrail:trail/all", map[string]string{
				"cloudtrail:GetTrail": `{"Trail":{"TrailARN":"ARN!","LogFileValidationEnabled":false}}`,
			}, set("log_validation", "true"), "log_validation:false", "log_validation:true",
		},
		{
			"aws-config-recorder", cloud.Resize, "config:configuration-recorder/default/0f0f", map[string]string{
				"config:DescribeConfigurationRecorders": `{"ConfigurationRecorders":[{"name":"default","roleARN":"r",
					"recordingGroup":{"allSupported":true},"recordingMode":{"recordingFrequency":"CONTINUOUS"}}]}`,
			}, set("continuous", "false"), "continuous:true", "continuous:false",
		},
		{
			cloud.AWSECS, cloud.Guard, "ecs:service/shop/web", map[string]string{
				"ecs:DescribeServices": `{"services":[{"serviceName":"web","status":"ACTIVE","deploymentConfiguration":
					{"maximumPercent":200,"deploymentCircuitBreaker":{"enable":false,"rollback":false}}}]}`,
			}, set("circuit_breaker", "true"), "circuit_breaker:false", "circuit_breaker:true",
		},
		{
			cloud.AWSWorkSpace, cloud.Resize, "workspaces:workspace/ws-1", map[string]string{
				"workspaces:DescribeWorkspaces": `{"Workspaces":[{"WorkspaceId":"ws-1","State":"AVAILABLE",
					"WorkspaceProperties":{"RunningMode":"ALWAYS_ON"}}]}`,
			}, set("running_mode", "AUTO_STOP"), "running_mode:ALWAYS_ON", "running_mode:AUTO_STOP",
		},
		{
			"aws-apigateway", cloud.Setting, "apigateway:/restapis/a1/stages/prod", map[string]string{
				"apigateway:GetStage": `{"stageName":"prod","cacheClusterEnabled":true,"cacheClusterSize":"0.5"}`,
			}, set("cache_gb", "0"), "cache_gb:0.5", "cache_gb:0",
		},
		{
			cloud.AWSEC2, cloud.Setting, "ec2:instance/i-1", machine, set("monitoring", "disabled"),
			"monitoring:enabled", "monitoring:disabled",
		},
		{
			"aws-eks", cloud.Guard, "eks:cluster/prod", map[string]string{
				"eks:DescribeCluster": `{"cluster":{"name":"prod","status":"ACTIVE","logging":{"clusterLogging":[
					{"types":["api"],"enabled":true},{"types":["audit","authenticator","controllerManager","scheduler"],
					"enabled":false}]}}}`,
			}, set("log_types", cloud.Added+"audit"), "log_types:api", "log_types:api,audit",
		},
		{"aws-glue-job", cloud.Resize, etl, job, set("workers", "4"), "workers:10", "workers:4"},
		{
			"aws-glue-job", cloud.Resize, etl, job, set("execution_class", "FLEX"), "execution_class:STANDARD",
			"execution_class:FLEX",
		},
	}
}
