package aws_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// image is one of moto's built-in images.
const image = "ami-12c6146b"

// Versions and targets of the APIs.
const (
	ec2Version, rdsVersion, groupsVersion = "2016-11-15", "2014-10-31", "2011-01-01"
	ecsTarget                             = "AmazonEC2ContainerServiceV20141113."
)

// seeder fills an emulator with the resources that the contract needs.
type seeder struct {
	t   *testing.T
	ctx context.Context
	cfg sdk.Config
}

func (s seeder) succeeded(what string, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(fmt.Errorf("%s in moto: %w", what, err))
	}
}

// instances makes five free instances, and finds those that an Auto Scaling group made.
func (s seeder) instances() cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-ec2", Region: region, Missing: awstwin.InstanceID(1), Tied: map[string]string{}}
	g.Free = s.form("ec2:RunInstances", ec2Version, "ImageId", image, "MinCount", "5", "MaxCount", "5",
		"InstanceType", "t3.large").all("instanceId")
	members := s.form("ec2:DescribeInstances", ec2Version, "Filter.1.Name", "tag-key",
		"Filter.1.Value.1", "aws:autoscaling:groupName")
	for _, id := range members.all("instanceId") {
		g.Tied[id] = "member of Auto Scaling group"
	}
	return g
}

func (s seeder) databases() cloudtest.Group {
	g := cloudtest.Group{Kind: "aws-rds", Region: region, Tied: map[string]string{}}
	for _, id := range []string{"orders", "users", "source"} {
		out := s.form("rds:CreateDBInstance", rdsVersion, "DBInstanceIdentifier", id, "DBInstanceClass", "db.t3.micro",
			"Engine", "postgres", "AllocatedStorage", "20", "MasterUsername", "root",
			"MasterUserPassword", "password-1")
		g.Free = append(g.Free, out.text(s, "DBInstanceArn"))
	}
	replica := s.form("rds:CreateDBInstanceReadReplica", rdsVersion, "DBInstanceIdentifier", "copy",
		"SourceDBInstanceIdentifier", "source", "DBInstanceClass", "db.t3.micro")
	g.Tied[replica.text(s, "DBInstanceArn")] = "read replica of"
	g.Tied[g.Free[2]] = "source of read replicas"
	g.Missing = g.Free[0] + "-not"
	g.Free = g.Free[:2]
	return g
}

// clusters makes one cluster of each engine that RDS's API runs, except DocumentDB, which moto does not support. A
// listing of one engine must not offer the clusters of the others.
func (s seeder) clusters() []cloudtest.Group {
	var groups []cloudtest.Group
	for _, k := range []struct{ id, kind, engine string }{
		{"checkout", cloud.AWSAurora, "aurora-mysql"}, {"graph", cloud.AWSNeptune, "neptune"},
	} {
		uid := s.form("rds:CreateDBCluster", rdsVersion, "DBClusterIdentifier", k.id, "Engine", k.engine,
			"MasterUsername", "root", "MasterUserPassword", "password-1").text(s, "DBClusterArn")
		groups = append(groups,
			cloudtest.Group{Kind: k.kind, Region: region, Free: []string{uid}, Missing: uid + "-not"})
	}
	return groups
}

func (s seeder) notebooks() cloudtest.Group {
	g := cloudtest.Group{Kind: cloud.AWSSageMakerNotebook, Region: region}
	for _, name := range []string{"study", "draft"} {
		out := s.json("sagemaker", "SageMaker.CreateNotebookInstance", object{
			"NotebookInstanceName": name,
			"InstanceType":         "ml.t3.medium", "RoleArn": "arn:aws:iam::" + motoAccount + ":role/study",
		})
		g.Free = append(g.Free, out.text(s, "NotebookInstanceArn"))
	}
	g.Missing = g.Free[0] + "-not"
	return g
}

func (s seeder) groups() cloudtest.Group {
	s.form("autoscaling:CreateLaunchConfiguration", groupsVersion, "LaunchConfigurationName", "lc", "ImageId", image,
		"InstanceType", "t3.large")
	for _, name := range []string{"web", "worker"} {
		s.form("autoscaling:CreateAutoScalingGroup", groupsVersion, "AutoScalingGroupName", name,
			"LaunchConfigurationName", "lc", "AvailabilityZones.member.1", region+"a", "MinSize", "1", "MaxSize", "4",
			"DesiredCapacity", "2")
	}
	s.form("autoscaling:SuspendProcesses", groupsVersion, "AutoScalingGroupName", "web",
		"ScalingProcesses.member.1", "AlarmNotification", "ScalingProcesses.member.2", "AZRebalance")
	g := cloudtest.Group{Kind: "aws-asg", Region: region}
	g.Free = s.form("autoscaling:DescribeAutoScalingGroups", groupsVersion).all("AutoScalingGroupARN")
	g.Missing = g.Free[0] + "-not"
	return g
}

// services makes services in a cluster with tags: moto's tag API fails for a cluster without tags.
func (s seeder) services() cloudtest.Group {
	s.json("ecs", ecsTarget+"CreateCluster",
		object{"clusterName": "shop", "tags": []object{{"key": "a", "value": "b"}}})
	s.json("ecs", ecsTarget+"RegisterTaskDefinition", object{
		"family":               "t",
		"containerDefinitions": []object{{"name": "c", "image": "i", "memory": 64}},
	})
	g := cloudtest.Group{Kind: "aws-ecs", Region: region}
	for _, name := range []string{"api", "web"} {
		out := s.json("ecs", ecsTarget+"CreateService",
			object{"cluster": "shop", "serviceName": name, "taskDefinition": "t", "desiredCount": 2})
		g.Free = append(g.Free, out.text(s, "serviceArn"))
	}
	s.json("application-autoscaling", "AnyScaleFrontendService.RegisterScalableTarget", object{
		"ServiceNamespace": "ecs", "ResourceId": "service/shop/api", "MinCapacity": 1, "MaxCapacity": 5,
		"ScalableDimension": "ecs:service:DesiredCount",
	})
	g.Missing = g.Free[0] + "-not"
	return g
}

func (s seeder) nodegroups() cloudtest.Group {
	role := "arn:aws:iam::" + motoAccount + ":role/eks"
	s.rest("eks POST /clusters", object{
		"name": "prod", "roleArn": role,
		"resourcesVpcConfig": object{"subnetIds": []string{"subnet-1"}},
	})
	g := cloudtest.Group{Kind: "aws-eks-nodegroup", Region: region}
	for _, name := range []string{"blue", "green"} {
		out := s.rest("eks POST /clusters/prod/node-groups", object{
			"nodegroupName": name, "nodeRole": role,
			"subnets":       []string{"subnet-1"},
			"scalingConfig": object{"minSize": 1, "maxSize": 3, "desiredSize": 2},
		})
		g.Free = append(g.Free, out.text(s, "nodegroupArn"))
	}
	g.Missing = "arn:aws:eks:" + region + ":" + motoAccount + ":nodegroup/prod/nothing/0f0f"
	return g
}
