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
        "ec2:DescribeRegions",
        "ec2:DescribeInstances",
        "ec2:DescribeSpotInstanceRequests",
        "rds:DescribeDBInstances",
        "rds:DescribeDBClusters",
        "rds:ListTagsForResource",
        "autoscaling:DescribeAutoScalingGroups",
        "ecs:ListClusters",
        "ecs:ListServices",
        "ecs:DescribeServices",
        "ecs:ListTagsForResource",
        "application-autoscaling:DescribeScalableTargets",
        "eks:ListClusters",
        "eks:DescribeCluster",
        "eks:ListNodegroups",
        "eks:DescribeNodegroup",
        "eks:ListUpdates",
        "eks:DescribeUpdate",
        "redshift:DescribeClusters",
        "sagemaker:ListNotebookInstances",
        "sagemaker:ListTags"
      ],
      "Resource": "*"
    },
    {
      "Sid": "LamplighterStartStop",
      "Effect": "Allow",
      "Action": [
        "ec2:StartInstances",
        "ec2:StopInstances",
        "ec2:DescribeInstanceStatus",
        "rds:StartDBInstance",
        "rds:StopDBInstance",
        "rds:StartDBCluster",
        "rds:StopDBCluster",
        "autoscaling:UpdateAutoScalingGroup",
        "autoscaling:SuspendProcesses",
        "autoscaling:ResumeProcesses",
        "ecs:UpdateService",
        "application-autoscaling:RegisterScalableTarget",
        "eks:UpdateNodegroupConfig",
        "redshift:PauseCluster",
        "redshift:ResumeCluster",
        "sagemaker:DescribeNotebookInstance",
        "sagemaker:StartNotebookInstance",
        "sagemaker:StopNotebookInstance"
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
        "autoscaling:UpdateAutoScalingGroup",
        "ecs:UpdateService",
        "application-autoscaling:RegisterScalableTarget",
        "eks:UpdateNodegroupConfig"
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
