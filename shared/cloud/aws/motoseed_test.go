package aws_test

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/applicationautoscaling"
	scalingtypes "github.com/aws/aws-sdk-go-v2/service/applicationautoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	ecstypes "github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/sagemaker"
	sagemakertypes "github.com/aws/aws-sdk-go-v2/service/sagemaker/types"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

// image is one of those that moto has from the start.
const image = "ami-12c6146b"

// seeder fills an emulator with what the contract needs.
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

func boolAttribute(v bool) *ec2types.AttributeBooleanValue {
	return &ec2types.AttributeBooleanValue{Value: &v}
}

// instances makes five free ones, and finds those that an Auto Scaling group made.
func (s seeder) instances() cloudtest.Group {
	c := ec2.NewFromConfig(s.cfg)
	g := cloudtest.Group{Kind: "aws-ec2", Region: region, Missing: awstwin.InstanceID(1), Tied: map[string]string{}}
	out, err := c.RunInstances(s.ctx,
		&ec2.RunInstancesInput{ImageId: sdk.String(image), MinCount: sdk.Int32(5), MaxCount: sdk.Int32(5),
			InstanceType: ec2types.InstanceTypeT3Large})
	s.succeeded("run instances", err)
	for _, i := range out.Instances {
		g.Free = append(g.Free, *i.InstanceId)
	}
	all, err := c.DescribeInstances(s.ctx,
		&ec2.DescribeInstancesInput{Filters: []ec2types.Filter{{Name: sdk.String("tag-key"),
			Values: []string{"aws:autoscaling:groupName"}}}})
	s.succeeded("describe members", err)
	for _, r := range all.Reservations {
		for _, i := range r.Instances {
			g.Tied[*i.InstanceId] = "member of Auto Scaling group"
		}
	}
	return g
}

func (s seeder) databases() cloudtest.Group {
	c := rds.NewFromConfig(s.cfg)
	g := cloudtest.Group{Kind: "aws-rds", Region: region, Tied: map[string]string{}}
	for _, id := range []string{"orders", "users", "source"} {
		out, err := c.CreateDBInstance(s.ctx, &rds.CreateDBInstanceInput{
			DBInstanceIdentifier: &id, DBInstanceClass: sdk.String("db.t3.micro"), Engine: sdk.String("postgres"),
			AllocatedStorage: sdk.Int32(20),
			MasterUsername:   sdk.String("root"), MasterUserPassword: sdk.String("password-1"),
		})
		s.succeeded("create database", err)
		g.Free = append(g.Free, *out.DBInstance.DBInstanceArn)
	}
	replica, err := c.CreateDBInstanceReadReplica(s.ctx, &rds.CreateDBInstanceReadReplicaInput{
		DBInstanceIdentifier: sdk.String("copy"), SourceDBInstanceIdentifier: sdk.String("source"),
		DBInstanceClass: sdk.String("db.t3.micro"),
	})
	s.succeeded("create replica", err)
	g.Tied[*replica.DBInstance.DBInstanceArn] = "read replica of"
	g.Tied[g.Free[2]] = "source of read replicas"
	g.Missing = g.Free[0] + "-not"
	g.Free = g.Free[:2]
	return g
}

// clusters makes one of each engine that RDS's API runs, but for DocumentDB, of which moto makes none; a listing of one must not
// offer the others'.
func (s seeder) clusters() []cloudtest.Group {
	c := rds.NewFromConfig(s.cfg)
	var groups []cloudtest.Group
	for _, k := range []struct{ id, kind, engine string }{
		{"checkout", cloud.AWSAurora, "aurora-mysql"}, {"graph", cloud.AWSNeptune, "neptune"},
	} {
		out, err := c.CreateDBCluster(s.ctx, &rds.CreateDBClusterInput{
			DBClusterIdentifier: &k.id, Engine: &k.engine, MasterUsername: sdk.String("root"),
			MasterUserPassword: sdk.String("password-1"),
		})
		s.succeeded("create cluster of "+k.engine, err)
		uid := *out.DBCluster.DBClusterArn
		groups = append(groups,
			cloudtest.Group{Kind: k.kind, Region: region, Free: []string{uid}, Missing: uid + "-not"})
	}
	return groups
}

func (s seeder) notebooks() cloudtest.Group {
	c := sagemaker.NewFromConfig(s.cfg)
	g := cloudtest.Group{Kind: cloud.AWSSageMakerNotebook, Region: region}
	for _, name := range []string{"study", "draft"} {
		out, err := c.CreateNotebookInstance(s.ctx, &sagemaker.CreateNotebookInstanceInput{
			NotebookInstanceName: &name, InstanceType: sagemakertypes.InstanceTypeMlT3Medium,
			RoleArn: sdk.String("arn:aws:iam::" + motoAccount + ":role/study"),
		})
		s.succeeded("create notebook", err)
		g.Free = append(g.Free, *out.NotebookInstanceArn)
	}
	g.Missing = g.Free[0] + "-not"
	return g
}

func (s seeder) groups() cloudtest.Group {
	c := autoscaling.NewFromConfig(s.cfg)
	_, err := c.CreateLaunchConfiguration(s.ctx, &autoscaling.CreateLaunchConfigurationInput{
		LaunchConfigurationName: sdk.String("lc"), ImageId: sdk.String(image), InstanceType: sdk.String("t3.large"),
	})
	s.succeeded("create launch configuration", err)
	for _, name := range []string{"web", "worker"} {
		_, err := c.CreateAutoScalingGroup(s.ctx, &autoscaling.CreateAutoScalingGroupInput{
			AutoScalingGroupName: &name, LaunchConfigurationName: sdk.String("lc"),
			AvailabilityZones: []string{region + "a"},
			MinSize:           sdk.Int32(1), MaxSize: sdk.Int32(4), DesiredCapacity: sdk.Int32(2),
		})
		s.succeeded("create group", err)
	}
	_, err = c.SuspendProcesses(s.ctx,
		&autoscaling.SuspendProcessesInput{AutoScalingGroupName: sdk.String("web"),
			ScalingProcesses: []string{"AlarmNotification", "AZRebalance"}})
	s.succeeded("suspend", err)
	g := cloudtest.Group{Kind: "aws-asg", Region: region}
	out, err := c.DescribeAutoScalingGroups(s.ctx, &autoscaling.DescribeAutoScalingGroupsInput{})
	s.succeeded("describe groups", err)
	for _, a := range out.AutoScalingGroups {
		g.Free = append(g.Free, *a.AutoScalingGroupARN)
	}
	g.Missing = g.Free[0] + "-not"
	return g
}

// services have a cluster with tags: without, moto's tag API breaks.
func (s seeder) services() cloudtest.Group {
	c := ecs.NewFromConfig(s.cfg)
	_, err := c.CreateCluster(s.ctx,
		&ecs.CreateClusterInput{ClusterName: sdk.String("shop"),
			Tags: []ecstypes.Tag{{Key: sdk.String("a"), Value: sdk.String("b")}}})
	s.succeeded("create cluster", err)
	_, err = c.RegisterTaskDefinition(s.ctx, &ecs.RegisterTaskDefinitionInput{
		Family: sdk.String("t"),
		ContainerDefinitions: []ecstypes.ContainerDefinition{{Name: sdk.String("c"), Image: sdk.String("i"),
			Memory: sdk.Int32(64)}},
	})
	s.succeeded("register task", err)
	g := cloudtest.Group{Kind: "aws-ecs", Region: region}
	for _, name := range []string{"api", "web"} {
		out, err := c.CreateService(s.ctx,
			&ecs.CreateServiceInput{Cluster: sdk.String("shop"), ServiceName: &name, TaskDefinition: sdk.String("t"),
				DesiredCount: sdk.Int32(2)})
		s.succeeded("create service", err)
		g.Free = append(g.Free, *out.Service.ServiceArn)
	}
	_, err = applicationautoscaling.NewFromConfig(s.cfg).RegisterScalableTarget(s.ctx,
		&applicationautoscaling.RegisterScalableTargetInput{
			ServiceNamespace: scalingtypes.ServiceNamespaceEcs, ResourceId: sdk.String("service/shop/api"),
			MinCapacity: sdk.Int32(1), MaxCapacity: sdk.Int32(5),
			ScalableDimension: scalingtypes.ScalableDimensionECSServiceDesiredCount,
		})
	s.succeeded("register target", err)
	g.Missing = g.Free[0] + "-not"
	return g
}

func (s seeder) nodegroups() cloudtest.Group {
	c := eks.NewFromConfig(s.cfg)
	role := sdk.String("arn:aws:iam::" + motoAccount + ":role/eks")
	_, err := c.CreateCluster(s.ctx,
		&eks.CreateClusterInput{Name: sdk.String("prod"), RoleArn: role,
			ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-1"}}})
	s.succeeded("create EKS cluster", err)
	g := cloudtest.Group{Kind: "aws-eks-nodegroup", Region: region}
	for _, name := range []string{"blue", "green"} {
		out, err := c.CreateNodegroup(s.ctx, &eks.CreateNodegroupInput{
			ClusterName: sdk.String("prod"), NodegroupName: &name, NodeRole: role, Subnets: []string{"subnet-1"},
			ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: sdk.Int32(1), MaxSize: sdk.Int32(3),
				DesiredSize: sdk.Int32(2)},
		})
		s.succeeded("create node group", err)
		g.Free = append(g.Free, *out.Nodegroup.NodegroupArn)
	}
	g.Missing = "arn:aws:eks:" + region + ":" + motoAccount + ":nodegroup/prod/nothing/0f0f"
	return g
}
