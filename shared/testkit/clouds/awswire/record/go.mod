module lamplighter.dev/shared/testkit/clouds/awswire/record

go 1.26.0

replace lamplighter.dev => ../../../../..

require lamplighter.dev v0.0.0

require github.com/aws/aws-sdk-go-v2 v1.48.0 // indirect

require github.com/aws/aws-sdk-go-v2/credentials v1.20.14 // indirect

require github.com/aws/aws-sdk-go-v2/service/applicationautoscaling v1.41.18

require github.com/aws/aws-sdk-go-v2/service/apprunner v1.40.2

require github.com/aws/aws-sdk-go-v2/service/autoscaling v1.79.3

require github.com/aws/aws-sdk-go-v2/service/bcmdataexports v1.16.2

require github.com/aws/aws-sdk-go-v2/service/cloudwatch v1.52.4

require github.com/aws/aws-sdk-go-v2/service/costandusagereportservice v1.35.0

require github.com/aws/aws-sdk-go-v2/service/costexplorer v1.63.10

require github.com/aws/aws-sdk-go-v2/service/ec2 v1.344.0

require github.com/aws/aws-sdk-go-v2/service/ecr v1.67.3

require github.com/aws/aws-sdk-go-v2/service/ecs v1.104.0

require github.com/aws/aws-sdk-go-v2/service/eks v1.105.3

require github.com/aws/aws-sdk-go-v2/service/elasticache v1.64.3

require github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing v1.41.7

require github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2 v1.63.7

require github.com/aws/aws-sdk-go-v2/service/lambda v1.114.1

require github.com/aws/aws-sdk-go-v2/service/lightsail v1.70.0

require github.com/aws/aws-sdk-go-v2/service/opensearch v1.70.0

require github.com/aws/aws-sdk-go-v2/service/organizations v1.62.5

require github.com/aws/aws-sdk-go-v2/service/rds v1.132.0

require github.com/aws/aws-sdk-go-v2/service/redshift v1.62.10

require github.com/aws/aws-sdk-go-v2/service/resourceexplorer2 v1.24.2

require github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi v1.41.9

require github.com/aws/aws-sdk-go-v2/service/s3control v1.71.0

require github.com/aws/aws-sdk-go-v2/service/sagemaker v1.286.1

require github.com/aws/aws-sdk-go-v2/service/sqs v1.52.9

require github.com/aws/aws-sdk-go-v2/service/synthetics v1.43.0

require (
	github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs v1.92.2
	github.com/aws/aws-sdk-go-v2/service/costoptimizationhub v1.23.1
	github.com/aws/aws-sdk-go-v2/service/databasemigrationservice v1.75.9
	github.com/aws/aws-sdk-go-v2/service/dax v1.29.20
	github.com/aws/aws-sdk-go-v2/service/directconnect v1.55.8
	github.com/aws/aws-sdk-go-v2/service/efs v1.41.18
	github.com/aws/aws-sdk-go-v2/service/fsx v1.74.11
	github.com/aws/aws-sdk-go-v2/service/secretsmanager v1.51.0
	github.com/aws/aws-sdk-go-v2/service/transfer v1.72.2
	github.com/aws/aws-sdk-go-v2/service/workspaces v1.68.3
)

require github.com/aws/smithy-go v1.28.9 // indirect

require github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream v1.7.27 // indirect

require github.com/aws/aws-sdk-go-v2/service/internal/s3shared v1.20.9 // indirect

require github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.12 // indirect

require github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.12 // indirect

require github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.24 // indirect

require github.com/aws/aws-sdk-go-v2/service/internal/presigned-url v1.14.9 // indirect
