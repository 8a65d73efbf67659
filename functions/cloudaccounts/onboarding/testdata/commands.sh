aws iam create-role --role-name lamplighter --assume-role-policy-document '{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "LamplighterOnly",
      "Effect": "Allow",
      "Principal": {
        "AWS": "arn:aws:iam::111122223333:role/lamplighter-connector"
      },
      "Action": [
        "sts:AssumeRole"
      ],
      "Condition": {
        "StringEquals": {
          "sts:ExternalId": "lamplighter-org_01-7f3a"
        }
      }
    }
  ]
}'
aws iam put-role-policy --role-name lamplighter --policy-name lamplighter --policy-document '{
  "Version": "2012-10-17",
  "Statement": [
    {
      "Sid": "LamplighterDiscover",
      "Effect": "Allow",
      "Action": [
        "application-autoscaling:DescribeScalableTargets",
        "application-autoscaling:DescribeScalingPolicies",
        "apprunner:DescribeService",
        "apprunner:ListServices",
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribePolicies",
        "cloudwatch:DescribeAlarms",
        "cloudwatch:GetMetricData",
        "cost-optimization-hub:ListRecommendations",
        "dax:DescribeClusters",
        "directconnect:DescribeConnections",
        "directconnect:DescribeVirtualInterfaces",
        "dms:DescribeReplicationInstances",
        "dms:DescribeReplicationTasks",
        "ec2:DescribeAddresses",
        "ec2:DescribeCapacityReservations",
        "ec2:DescribeFastSnapshotRestores",
        "ec2:DescribeFlowLogs",
        "ec2:DescribeHosts",
        "ec2:DescribeImages",
        "ec2:DescribeInstanceStatus",
        "ec2:DescribeInstanceTypes",
        "ec2:DescribeInstances",
        "ec2:DescribeNatGateways",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeRegions",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSnapshots",
        "ec2:DescribeSpotInstanceRequests",
        "ec2:DescribeSubnets",
        "ec2:DescribeVolumes",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "ec2:DescribeVpnConnections",
        "ecr:DescribeImages",
        "ecr:DescribeRepositories",
        "ecr:GetLifecyclePolicy",
        "ecr:GetRegistryScanningConfiguration",
        "ecs:DescribeClusters",
        "ecs:DescribeServices",
        "ecs:DescribeTaskDefinition",
        "ecs:ListClusters",
        "ecs:ListServices",
        "ecs:ListTagsForResource",
        "eks:DescribeCluster",
        "eks:DescribeNodegroup",
        "eks:ListClusters",
        "eks:ListNodegroups",
        "elasticache:DescribeCacheClusters",
        "elasticache:DescribeReplicationGroups",
        "elasticfilesystem:DescribeFileSystems",
        "elasticloadbalancing:DescribeInstanceHealth",
        "elasticloadbalancing:DescribeListeners",
        "elasticloadbalancing:DescribeLoadBalancerAttributes",
        "elasticloadbalancing:DescribeLoadBalancers",
        "elasticloadbalancing:DescribeTargetGroups",
        "elasticloadbalancing:DescribeTargetHealth",
        "es:DescribeDomains",
        "es:ListDomainNames",
        "fsx:DescribeFileSystems",
        "lambda:GetFunctionConcurrency",
        "lambda:ListFunctionEventInvokeConfigs",
        "lambda:ListFunctions",
        "lambda:ListProvisionedConcurrencyConfigs",
        "lambda:ListTags",
        "lightsail:GetInstances",
        "logs:DescribeLogGroups",
        "rds:DescribeBlueGreenDeployments",
        "rds:DescribeDBClusters",
        "rds:DescribeDBInstances",
        "rds:DescribeDBMajorEngineVersions",
        "rds:DescribeDBSnapshots",
        "rds:ListTagsForResource",
        "redshift:DescribeClusters",
        "redshift:DescribeStorage",
        "resource-explorer-2:GetView",
        "resource-explorer-2:ListResources",
        "s3:GetAccountPublicAccessBlock",
        "s3:GetBucketLogging",
        "s3:GetBucketPolicy",
        "s3:GetBucketPolicyStatus",
        "s3:GetBucketPublicAccessBlock",
        "s3:GetBucketVersioning",
        "s3:GetLifecycleConfiguration",
        "s3:ListAllMyBuckets",
        "s3:ListBucketMultipartUploads",
        "s3:ListMultipartUploadParts",
        "sagemaker:DescribeNotebookInstance",
        "sagemaker:ListNotebookInstances",
        "sagemaker:ListTags",
        "secretsmanager:ListSecrets",
        "sqs:GetQueueAttributes",
        "sqs:ListQueues",
        "synthetics:DescribeCanaries",
        "synthetics:GetCanary",
        "tag:GetResources",
        "transfer:ListServers",
        "workspaces:DescribeWorkspaces",
        "workspaces:DescribeWorkspacesConnectionStatus"
      ],
      "Resource": "*"
    },
    {
      "Sid": "LamplighterStartStop",
      "Effect": "Allow",
      "Action": [
        "application-autoscaling:RegisterScalableTarget",
        "apprunner:PauseService",
        "apprunner:ResumeService",
        "autoscaling:ResumeProcesses",
        "autoscaling:SuspendProcesses",
        "autoscaling:UpdateAutoScalingGroup",
        "ec2:StartInstances",
        "ec2:StopInstances",
        "ecs:UpdateService",
        "eks:DescribeUpdate",
        "eks:ListUpdates",
        "eks:UpdateNodegroupConfig",
        "lambda:DeleteFunctionConcurrency",
        "lambda:DeleteProvisionedConcurrencyConfig",
        "lambda:PutFunctionConcurrency",
        "lambda:PutProvisionedConcurrencyConfig",
        "lambda:TagResource",
        "lambda:UntagResource",
        "lightsail:StartInstance",
        "lightsail:StopInstance",
        "rds:StartDBCluster",
        "rds:StartDBInstance",
        "rds:StopDBCluster",
        "rds:StopDBInstance",
        "redshift:PauseCluster",
        "redshift:ResumeCluster",
        "sagemaker:StartNotebookInstance",
        "sagemaker:StopNotebookInstance",
        "synthetics:StartCanary",
        "synthetics:StopCanary",
        "workspaces:StartWorkspaces",
        "workspaces:StopWorkspaces"
      ],
      "Resource": "*"
    },
    {
      "Sid": "LamplighterStartEncryptedInstances",
      "Effect": "Allow",
      "Action": [
        "kms:CreateGrant"
      ],
      "Resource": "*",
      "Condition": {
        "Bool": {
          "kms:GrantIsForAWSResource": "true"
        }
      }
    },
    {
      "Sid": "LamplighterScale",
      "Effect": "Allow",
      "Action": [
        "application-autoscaling:DeleteScalingPolicy",
        "application-autoscaling:DeregisterScalableTarget",
        "application-autoscaling:PutScalingPolicy",
        "autoscaling:DeletePolicy",
        "autoscaling:PutScalingPolicy"
      ],
      "Resource": "*"
    },
    {
      "Sid": "LamplighterScalingRole",
      "Effect": "Allow",
      "Action": [
        "iam:CreateServiceLinkedRole"
      ],
      "Resource": "*",
      "Condition": {
        "StringEquals": {
          "iam:AWSServiceName": "ecs.application-autoscaling.amazonaws.com"
        }
      }
    }
  ]
}'
aws iam get-role --role-name lamplighter --query Role.Arn --output text
