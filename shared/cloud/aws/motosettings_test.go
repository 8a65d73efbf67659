package aws_test

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
)

// motoChange is a change of a resource that moto has.
type motoChange struct {
	kind string
	verb cloud.ChangeVerb
	uid  string
	want cloud.Values // nil for a deletion
}

// Moto is an independent implementation of these services: what the tables set there is there, and is set back.
func TestMotoSetsValuesAndSetsThemBack(t *testing.T) {
	url := moto(t)
	s := seeder{t: t, ctx: t.Context(), cfg: motoConfig(url)}
	conn, err := aws.New(motoOptions()).Connect(t.Context(), motoKeys(url))
	if err != nil {
		t.Fatal(err)
	}
	c := conn.(cloud.Changer)
	for _, m := range append(s.storesToChange(), s.machinesToChange()...) {
		change := cloud.Change{
			Verb: m.verb, Kind: m.kind, Region: region, Token: "rem_1-0", UID: m.uid, Want: m.want,
			Steps: []string{cloud.StepSelf},
		}
		t.Run(fmt.Sprint(m.kind, " ", m.verb, " ", m.want), func(t *testing.T) {
			p, err := c.PlanChange(t.Context(), change)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range change.Calls(p.After) {
				applyAndAwait(t, c, cloud.ChangeCall{Change: change, Set: step.Set})
			}
			if m.want != nil {
				applyAndAwait(t, c, cloud.ChangeCall{Change: change, Set: p.Before, Native: p.Native})
			}
		})
	}
}

// storesToChange makes tables, streams, queues, logs and registries.
func (s seeder) storesToChange() []motoChange {
	const dynamo = "DynamoDB_20120810."
	s.json("dynamodb", dynamo+"CreateTable", object{
		"TableName": "orders", "AttributeDefinitions": []object{{"AttributeName": "id", "AttributeType": "S"}},
		"KeySchema":             []object{{"AttributeName": "id", "KeyType": "HASH"}},
		"ProvisionedThroughput": object{"ReadCapacityUnits": 40, "WriteCapacityUnits": 20},
	})
	s.json("kinesis", "Kinesis_20131202.CreateStream", object{"StreamName": "clicks", "ShardCount": 4})
	s.json("kinesis", "Kinesis_20131202.IncreaseStreamRetentionPeriod", object{
		"StreamName": "clicks", "RetentionPeriodHours": 72,
	})
	s.json("sqs", "AmazonSQS.CreateQueue", object{"QueueName": "jobs"})
	s.json("logs", "Logs_20140328.CreateLogGroup", object{"logGroupName": "/app/web"})
	s.json("logs", "Logs_20140328.CreateLogGroup", object{"logGroupName": "/app/web/old"})
	s.json("ecr", "AmazonEC2ContainerRegistry_V20150921.CreateRepository", object{"repositoryName": "team/api"})
	key := s.json("kms", "TrentService.CreateKey", object{})
	secret := s.json("secretsmanager", "secretsmanager.CreateSecret", object{"Name": "db", "SecretString": "x"})
	at := func(service, resource string) string {
		return "arn:aws:" + service + ":" + region + ":" + motoAccount + ":" + resource
	}
	table, stream := at("dynamodb", "table/orders"), at("kinesis", "stream/clicks")
	return []motoChange{
		{"aws-dynamodb", cloud.Guard, table, cloud.Values{"deletion_protection": "true"}},
		{"aws-dynamodb", cloud.Guard, table, cloud.Values{"pitr": "true"}},
		{"aws-dynamodb", cloud.Guard, table, cloud.Values{"billing_mode": "PAY_PER_REQUEST"}},
		{"aws-dynamodb", cloud.Resize, table, cloud.Values{"rcu": "10", "wcu": "5"}},
		{"aws-kinesis", cloud.SetLifecycle, stream, cloud.Values{"retention_hours": "24"}},
		{"aws-kinesis", cloud.Resize, stream, cloud.Values{"shards": "2"}},
		{"aws-sqs", cloud.Setting, at("sqs", "jobs"), cloud.Values{"wait_seconds": "20"}},
		{"aws-log-group", cloud.SetLifecycle, at("logs", "log-group:/app/web"), cloud.Values{"retention_days": "30"}},
		{"aws-ecr", cloud.Guard, at("ecr", "repository/team/api"), cloud.Values{"scan_on_push": "true"}},
		{"aws-ecr", cloud.SetLifecycle, at("ecr", "repository/team/api"), cloud.Values{"lifecycle": "true"}},
		{"aws-kms-key", cloud.Guard, key.text(s, "Arn"), cloud.Values{"rotation": "true"}},
		{"aws-secret", cloud.Delete, secret.text(s, "ARN"), nil},
	}
}

// machinesToChange makes images, snapshots, clusters, file systems, alarms and parts of networks.
func (s seeder) machinesToChange() []motoChange {
	ids := s.form("ec2:RunInstances", ec2Version, "ImageId", image, "MinCount", "1", "MaxCount", "1",
		"InstanceType", "t3.large")
	volume := s.form("ec2:CreateVolume", ec2Version, "AvailabilityZone", region+"a", "Size", "40").text(s, "volumeId")
	snapshot := s.form("ec2:CreateSnapshot", ec2Version, "VolumeId", volume).text(s, "snapshotId")
	s.form("ec2:ModifySnapshotAttribute", ec2Version, "SnapshotId", snapshot, "Attribute", "createVolumePermission",
		"OperationType", "add", "UserGroup.1", "all")
	own := s.form("ec2:CreateImage", ec2Version, "InstanceId", ids.text(s, "instanceId"), "Name", "own").
		text(s, "imageId")
	s.form("ec2:ModifyImageAttribute", ec2Version, "ImageId", own, "LaunchPermission.Add.1.Group", "all")
	subnet := s.form("ec2:DescribeSubnets", ec2Version).text(s, "subnetId")
	vpc := s.form("ec2:DescribeVpcs", ec2Version).text(s, "vpcId")
	eni := s.form("ec2:CreateNetworkInterface", ec2Version, "SubnetId", subnet).text(s, "networkInterfaceId")
	group := s.form("ec2:CreateSecurityGroup", ec2Version, "GroupName", "old", "GroupDescription", "old",
		"VpcId", vpc).text(s, "groupId")
	cluster := s.form("rds:CreateDBCluster", rdsVersion, "DBClusterIdentifier", "checkout", "Engine", "aurora-mysql",
		"MasterUsername", "root", "MasterUserPassword", "password-1").text(s, "DBClusterArn")
	s.form("rds:CreateDBInstance", rdsVersion, "DBInstanceIdentifier", "shop", "DBInstanceClass", "db.t3.micro",
		"Engine", "postgres", "AllocatedStorage", "20", "MasterUsername", "root", "MasterUserPassword", "password-1")
	copied := s.form("rds:CreateDBSnapshot", rdsVersion, "DBInstanceIdentifier", "shop",
		"DBSnapshotIdentifier", "shop-1").text(s, "DBSnapshotArn")
	s.form("monitoring:PutMetricAlarm", "2010-08-01", "AlarmName", "cpu of web", "MetricName", "CPUUtilization",
		"Namespace", "AWS/EC2", "Period", "60", "EvaluationPeriods", "1", "Threshold", "90",
		"ComparisonOperator", "GreaterThanThreshold", "Statistic", "Average")
	s.form("monitoring:SetAlarmState", "2010-08-01", "AlarmName", "cpu of web", "StateValue", "INSUFFICIENT_DATA",
		"StateReason", "none")
	files := s.rest("elasticfilesystem POST /2015-02-01/file-systems", object{"CreationToken": "a"}).
		text(s, "FileSystemId")
	at := func(service, resource string) string {
		return "arn:aws:" + service + ":" + region + ":" + motoAccount + ":" + resource
	}
	return []motoChange{
		{"aws-ebs-snapshot", cloud.Guard, at("ec2", "snapshot/"+snapshot), cloud.Values{"public": "false"}},
		{"aws-ami", cloud.Guard, at("ec2", "image/"+own), cloud.Values{"public": "false"}},
		{"aws-eni", cloud.Delete, at("ec2", "network-interface/"+eni), nil},
		{"aws-security-group", cloud.Delete, at("ec2", "security-group/"+group), nil},
		{cloud.AWSAurora, cloud.Guard, cluster, cloud.Values{"deletion_protection": "true"}},
		{cloud.AWSAurora, cloud.ChangeStorage, cluster, cloud.Values{"storage_type": "aurora-iopt1"}},
		{"aws-rds-snapshot", cloud.Delete, copied, nil},
		{"aws-cloudwatch-alarm", cloud.Delete, at("cloudwatch", "alarm:cpu of web"), nil},
		{
			"aws-efs", cloud.SetLifecycle, at("elasticfilesystem", "file-system/"+files),
			cloud.Values{"lifecycle": "true"},
		},
	}
}
