package settings

import "lamplighter.dev/shared/cloud/aws/wire"

// services are the services whose resources are changed, by their names in permissions.
var services = map[string]*wire.Service{
	"apigateway": {
		ID: "API Gateway", Agent: "apigateway", Host: "apigateway", Signing: "apigateway", Protocol: wire.RESTJSON{},
	},
	"autoscaling": query("Auto Scaling", "autoscaling", "2011-01-01"),
	"cloudtrail":  target("CloudTrail", "cloudtrail", "1.1", "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101"),
	"cloudwatch":  query("CloudWatch", "monitoring", "2010-08-01"),
	"config":      target("Config Service", "config", "1.1", "StarlingDoveService"),
	"dms":         target("Database Migration Service", "dms", "1.1", "AmazonDMSv20160101"),
	"dynamodb":    target("DynamoDB", "dynamodb", "1.0", "DynamoDB_20120810"),
	"ec2": {
		ID: "EC2", Agent: "ec2", Host: "ec2", Signing: "ec2", Protocol: wire.EC2{Version: "2016-11-15"},
	},
	"ecr": {
		ID: "ECR", Agent: "ecr", Host: "api.ecr", Signing: "ecr",
		Protocol: wire.JSON{Version: "1.1", Target: "AmazonEC2ContainerRegistry_V20150921"},
	},
	"ecs":                  target("ECS", "ecs", "1.1", "AmazonEC2ContainerServiceV20141113"),
	"eks":                  rest("EKS", "eks"),
	"elasticache":          query("ElastiCache", "elasticache", "2015-02-02"),
	"elasticfilesystem":    rest("EFS", "elasticfilesystem"),
	"elasticloadbalancing": query("Elastic Load Balancing v2", "elasticloadbalancing", "2015-12-01"),
	"es":                   rest("OpenSearch", "es"),
	"glue":                 target("Glue", "glue", "1.1", "AWSGlue"),
	"kafka":                rest("Kafka", "kafka"),
	"kinesis":              target("Kinesis", "kinesis", "1.1", "Kinesis_20131202"),
	"kms":                  target("KMS", "kms", "1.1", "TrentService"),
	"lambda":               rest("Lambda", "lambda"),
	"logs":                 target("CloudWatch Logs", "logs", "1.1", "Logs_20140328"),
	"rds":                  query("RDS", "rds", "2014-10-31"),
	"redshift":             query("Redshift", "redshift", "2012-12-01"),
	"redshift-serverless":  target("Redshift Serverless", "redshift-serverless", "1.1", "RedshiftServerless"),
	"secretsmanager":       target("Secrets Manager", "secretsmanager", "1.1", "secretsmanager"),
	"sqs": {
		ID: "SQS", Agent: "sqs", Host: "sqs", Signing: "sqs",
		Protocol: wire.JSON{Version: "1.0", Target: "AmazonSQS", QueryCompatible: true},
	},
	"workspaces": target("WorkSpaces", "workspaces", "1.1", "WorkspacesService"),
}

func target(id, host, version, prefix string) *wire.Service {
	return &wire.Service{
		ID: id, Agent: host, Host: host, Signing: host, Protocol: wire.JSON{Version: version, Target: prefix},
	}
}

func query(id, host, version string) *wire.Service {
	return &wire.Service{ID: id, Agent: host, Host: host, Signing: host, Protocol: wire.Query{Version: version}}
}

func rest(id, host string) *wire.Service {
	return &wire.Service{ID: id, Agent: host, Host: host, Signing: host, Protocol: wire.RESTJSON{}}
}
