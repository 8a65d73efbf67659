package cloud

import "time"

// The kinds of AWS that this service acts on, by their types.
const (
	AWSEC2               = "aws-ec2"
	AWSRDS               = "aws-rds"
	AWSAurora            = "aws-aurora"
	AWSASG               = "aws-asg"
	AWSECS               = "aws-ecs"
	AWSEKSNodegroup      = "aws-eks-nodegroup"
	AWSRedshift          = "aws-redshift"
	AWSDocDB             = "aws-docdb"
	AWSNeptune           = "aws-neptune"
	AWSSageMakerNotebook = "aws-sagemaker-notebook"
	AWSLambda            = "aws-lambda"
	AWSWorkSpace         = "aws-workspaces"
	AWSAppRunner         = "aws-apprunner"
	AWSLightsail         = "aws-lightsail"
	AWSCanary            = "aws-cloudwatch-canary"
)

// awsKinds are the kinds of AWS.
var awsKinds = []Kind{
	{
		Type: AWSEC2, Provider: "aws", Name: "EC2 instance", Actionable: true,
		ActBatch: 500, ReadBatch: 1000, Deadline: 10 * time.Minute, Idempotent: true, Verifies: true,
	},
	{
		Type: AWSRDS, Provider: "aws", Name: "RDS instance", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSAurora, Provider: "aws", Name: "Aurora cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSASG, Provider: "aws", Name: "Auto Scaling group", Actionable: true, Scalable: true, Remembers: true,
		Absolute: true,
		ActBatch: 1, ReadBatch: 50, Deadline: 15 * time.Minute,
	},
	{
		Type: AWSECS, Provider: "aws", Name: "ECS service", Actionable: true, Scalable: true, Remembers: true,
		Absolute: true,
		ActBatch: 1, ReadBatch: 10, Deadline: 15 * time.Minute,
	},
	{
		Type: AWSEKSNodegroup, Provider: "aws", Name: "EKS node group", Actionable: true, Scalable: true,
		Remembers: true,
		ActBatch:  1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AWSRedshift, Provider: "aws", Name: "Redshift cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 60 * time.Minute,
	},
	{
		Type: AWSDocDB, Provider: "aws", Name: "DocumentDB cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSNeptune, Provider: "aws", Name: "Neptune cluster", Actionable: true,
		ActBatch: 1, ReadBatch: 100, Deadline: 45 * time.Minute,
	},
	{
		Type: AWSSageMakerNotebook, Provider: "aws", Name: "SageMaker notebook instance", Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AWSLambda, Provider: "aws", Name: "Lambda function", Collected: true, Actionable: true, Remembers: true,
		Absolute: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 15 * time.Minute,
	},
	{
		Type: AWSWorkSpace, Provider: "aws", Name: "WorkSpace", Collected: true, Actionable: true,
		ActBatch: 25, ReadBatch: 25, Deadline: 20 * time.Minute,
	},
	{
		Type: AWSAppRunner, Provider: "aws", Name: "App Runner service", Collected: true, Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 20 * time.Minute,
	},
	{
		Type: AWSLightsail, Provider: "aws", Name: "Lightsail instance", Collected: true, Actionable: true,
		ActBatch: 25, ReadBatch: 100, Deadline: 10 * time.Minute,
	},
	{
		Type: AWSCanary, Provider: "aws", Name: "CloudWatch Synthetics canary", Collected: true, Actionable: true,
		ActBatch: 1, ReadBatch: 1, Deadline: 10 * time.Minute,
	},
}

// AWSOthers is AWS's collective kind, for all resources without a kind of their own.
const AWSOthers = "aws-*"

var awsOthers = Kind{Type: AWSOthers, Provider: "aws", Name: "Everything else", Global: true, Discoverable: true}
