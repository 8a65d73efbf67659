package simulated

import (
	"time"

	"lamplighter.dev/shared/cloud"
)

// The capabilities of the account's permissions, as in cloud.Permission.Capability.
const (
	discover  = "discover"
	startStop = "start_stop"
	scale     = "scale"
)

// kind is a kind of resource with the words that its provider uses for it.
type kind struct {
	cloud.Kind
	share    int    // of 100 resources
	service  string // in identifiers
	path     string // between account and name in identifiers
	describe string
	start    string
	stop     string
	resize   string
	words    words
	strict   bool // repeating a start or stop is an error, as RDS has it
}

// words are the provider's words for the states.
type words struct{ on, off, starting, stopping string }

// operation is a call of the provider and the capability that needs it.
type operation struct{ op, capability string }

const (
	actBatch  = 100
	readBatch = 1000
	pageSize  = 1000
	usual     = 2 * time.Second // between this and 5 seconds a transition takes, unless the account says otherwise
)

// kinds are those of AWS, which an account has unless it says otherwise, and behind them those that its collective
// kind lists. A node holds its place here, so the list is append-only.
var kinds = append([]kind{
	{
		Kind:  describe(cloud.AWSEC2),
		share: 60, service: "ec2", describe: "ec2:DescribeInstances", start: "ec2:StartInstances",
		stop:  "ec2:StopInstances",
		words: words{"running", "stopped", "pending", "stopping"},
	},
	{
		Kind:  describe(cloud.AWSRDS),
		share: 12, service: "rds", path: "db:", describe: "rds:DescribeDBInstances", start: "rds:StartDBInstance",
		stop: "rds:StopDBInstance", words: words{"available", "stopped", "starting", "stopping"}, strict: true,
	},
	{
		Kind:  describe(cloud.AWSAurora),
		share: 4, service: "rds", path: "cluster:", describe: "rds:DescribeDBClusters", start: "rds:StartDBCluster",
		stop: "rds:StopDBCluster", words: words{"available", "stopped", "starting", "stopping"}, strict: true,
	},
	{
		Kind:  describe(cloud.AWSASG),
		share: 8, service: "autoscaling", path: "autoScalingGroup:autoScalingGroupName/",
		describe: "autoscaling:DescribeAutoScalingGroups", start: "autoscaling:UpdateAutoScalingGroup",
		stop: "autoscaling:UpdateAutoScalingGroup", resize: "autoscaling:UpdateAutoScalingGroup", words: scaled,
	},
	{
		Kind:  describe(cloud.AWSECS),
		share: 12, service: "ecs", path: "service/main/", describe: "ecs:DescribeServices", start: "ecs:UpdateService",
		stop: "ecs:UpdateService", resize: "ecs:UpdateService", words: scaled,
	},
	{
		Kind:  describe(cloud.AWSEKSNodegroup),
		share: 4, service: "eks", path: "nodegroup/main/", describe: "eks:DescribeNodegroup",
		start: "eks:UpdateNodegroupConfig", stop: "eks:UpdateNodegroupConfig", resize: "eks:UpdateNodegroupConfig",
		words: words{"ACTIVE", "ACTIVE", "UPDATING", "UPDATING"},
	},
}, collected()...)

// scaled are the words for things that have a number of instances instead of a state.
var scaled = words{"in service", "scaled to 0", "scaling out", "scaling in"}

// describe takes the description of an AWS kind for this provider, which acts and reads in larger calls.
func describe(name string) cloud.Kind {
	k, ok := cloud.KindOf(name)
	if !ok {
		panic("simulated: the catalogue has no kind " + name)
	}
	k.Provider, k.ActBatch, k.ReadBatch, k.Usual = Name, actBatch, readBatch, usual
	return k
}

// kindOf finds a kind and its place in kinds by its type.
func kindOf(name string) (int, bool) {
	for i, k := range kinds {
		if k.Type == name {
			return i, true
		}
	}
	return 0, false
}

func (k kind) permissionFor(v cloud.Verb) string {
	if v == cloud.Start {
		return k.start
	}
	return k.stop
}

func (k kind) operationsOf() []operation {
	if k.Collected {
		return nil
	}
	out := []operation{{k.describe, discover}, {k.start, startStop}}
	if k.stop != k.start {
		out = append(out, operation{k.stop, startStop})
	}
	if k.resize != "" {
		out = append(out, operation{k.resize, scale})
	}
	return out
}

// regionNames are the regions that an account can have. An identifier holds a region's place in this list, so the list
// is append-only.
var regionNames = []string{
	"us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1", "ap-southeast-1", "ap-northeast-1",
	"eu-north-1",
	"us-west-1", "ca-central-1", "sa-east-1", "eu-west-2", "eu-west-3", "ap-south-1", "ap-southeast-2",
	"ap-northeast-2",
	"ap-northeast-3",
}
