package aws_test

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// removalCase is a resource that a table deletes, with an answer that shows that it is used, and its word for that.
type removalCase struct {
	settingCase
	op, used, says string
}

func removalCases() []removalCase {
	unused := func(kind, resource string, held map[string]string) settingCase {
		return settingCase{kind: kind, verb: cloud.Delete, resource: resource, held: held}
	}
	return []removalCase{
		{
			unused("aws-eni", "ec2:network-interface/eni-1", map[string]string{
				"ec2:DescribeNetworkInterfaces": `{"networkInterfaceSet":[{"networkInterfaceId":"eni-1",
					"status":"available","requesterManaged":"false","tagSet":[{"key":"team","value":"a"}]}]}`,
			}), "ec2:DescribeNetworkInterfaces", `{"networkInterfaceSet":[{"networkInterfaceId":"eni-1",
				"status":"in-use","attachment":{"attachmentId":"eni-attach-1"}}]}`, "attachment eni-attach-1",
		},
		{
			unused("aws-nat", "ec2:natgateway/nat-1", map[string]string{
				"ec2:DescribeNatGateways": `{"natGatewaySet":[{"natGatewayId":"nat-1","state":"available",
					"tagSet":[]}]}`,
				"ec2:DescribeRouteTables": `{"routeTableSet":[]}`,
			}), "ec2:DescribeRouteTables", `{"routeTableSet":[{"routeTableId":"rtb-1"}]}`, "route table rtb-1",
		},
		{
			unused("aws-vpc-endpoint", "ec2:vpc-endpoint/vpce-1", map[string]string{
				"ec2:DescribeVpcEndpoints": `{"vpcEndpointSet":[{"vpcEndpointId":"vpce-1","state":"rejected",
					"tagSet":[]}]}`,
			}), "ec2:DescribeVpcEndpoints", `{"vpcEndpointSet":[{"vpcEndpointId":"vpce-1","state":"available"}]}`,
			"it is available",
		},
		{
			unused("aws-security-group", "ec2:security-group/sg-1", map[string]string{
				"ec2:DescribeSecurityGroups": `{"securityGroupInfo":[{"groupId":"sg-1","groupName":"old",
					"tagSet":[]}]}`,
				"ec2:DescribeNetworkInterfaces": `{"networkInterfaceSet":[]}`,
			}), "ec2:DescribeNetworkInterfaces", `{"networkInterfaceSet":[{"networkInterfaceId":"eni-9"}]}`,
			"interface eni-9",
		},
		{
			unused("aws-dedicated-host", "ec2:dedicated-host/h-1", map[string]string{
				"ec2:DescribeHosts": `{"hostSet":[{"hostId":"h-1","state":"available","instances":[],"tagSet":[]}]}`,
			}), "ec2:DescribeHosts", `{"hostSet":[{"hostId":"h-1","state":"available",
				"instances":[{"instanceId":"i-1"}]}]}`, "instance i-1",
		},
		{
			unused("aws-elb", "elasticloadbalancing:loadbalancer/app/web/50dc", map[string]string{
				"elasticloadbalancing:DescribeLoadBalancers": `{"LoadBalancers":[{"LoadBalancerArn":"ARN!"}]}`,
				"elasticloadbalancing:DescribeLoadBalancerAttributes": `{"Attributes":[
					{"Key":"deletion_protection.enabled","Value":"false"}]}`,
				"elasticloadbalancing:DescribeTags":         `{"TagDescriptions":[{"ResourceArn":"ARN!","Tags":[]}]}`,
				"elasticloadbalancing:DescribeListeners":    `{"Listeners":[]}`,
				"elasticloadbalancing:DescribeTargetGroups": `{"TargetGroups":[{"TargetGroupArn":"tg"}]}`,
				"elasticloadbalancing:DescribeTargetHealth": `{"TargetHealthDescriptions":[]}`,
			}), "elasticloadbalancing:DescribeTargetHealth", `{"TargetHealthDescriptions":[{"Target":{"Id":"i-7"}}]}`,
			"target i-7",
		},
		{
			unused("aws-cloudwatch-alarm", "cloudwatch:alarm:cpu of web", map[string]string{
				"monitoring:DescribeAlarms": `{"MetricAlarms":[{"AlarmName":"cpu of web",
					"StateValue":"INSUFFICIENT_DATA"}]}`,
				"monitoring:ListTagsForResource": `{"Tags":[]}`,
			}), "monitoring:DescribeAlarms", `{"MetricAlarms":[{"AlarmName":"cpu of web","StateValue":"OK"}]}`,
			"it is OK",
		},
		{
			unused("aws-rds-snapshot", "rds:snapshot:shop-1", map[string]string{
				"rds:DescribeDBSnapshots": `{"DBSnapshots":{"DBSnapshot":{"DBSnapshotIdentifier":"shop-1",
					"SnapshotType":"manual","Status":"available","TagList":{"Tag":[]}}}}`,
			}), "rds:DescribeDBSnapshots", `{"DBSnapshots":{"DBSnapshot":{"DBSnapshotIdentifier":"shop-1",
				"SnapshotType":"automated","Status":"available"}}}`, "RDS deletes it by itself",
		},
		{
			unused("aws-dms", "dms:rep:ABC", map[string]string{
				"dms:DescribeReplicationInstances": `{"ReplicationInstances":[{"ReplicationInstanceArn":"ARN!",
					"ReplicationInstanceStatus":"available"}]}`,
				"dms:DescribeReplicationTasks": `{"ReplicationTasks":[]}`, "dms:ListTagsForResource": `{"TagList":[]}`,
			}), "dms:DescribeReplicationTasks", `{"ReplicationTasks":[{"ReplicationTaskIdentifier":"copy"}]}`,
			"task copy",
		},
		{
			unused("aws-secret", "secretsmanager:secret:db-AbCdEf", map[string]string{
				"secretsmanager:DescribeSecret": `{"ARN":"ARN!","Name":"db","LastAccessedDate":1600000000,"Tags":[]}`,
			}), "secretsmanager:DescribeSecret", `{"ARN":"ARN!","Name":"db","LastAccessedDate":4600000000}`,
			"somebody who read it",
		},
	}
}

func TestRemovals_AreMarkedAndDeletedWhileNothingUsesThem(t *testing.T) {
	for _, c := range removalCases() {
		t.Run(c.kind, func(t *testing.T) {
			tw, changer := c.open(t)
			change := c.change()
			change.Steps = []string{cloud.StepSelf}
			marked := cloud.ChangeCall{Change: change, Set: cloud.Values{cloud.MarkValue: change.Token}}
			held := tw.Held()
			for _, mark := range []string{change.Token, ""} {
				marked.Set = cloud.Values{cloud.MarkValue: mark}
				if err := changer.ApplyChange(t.Context(), marked); err != nil {
					t.Fatal(err)
				}
				reached(t, changer, marked)
			}
			for op, answer := range tw.Held() {
				if answer != held[op] {
					t.Errorf("without its mark, %s answers %s, before %s", op, answer, held[op])
				}
			}
			tw.ForgetCalls()
			p := applied(t, tw, changer, change)
			given := changer.ApplyChange(t.Context(), cloud.ChangeCall{Change: change, Set: p.Before})
			if restores := c.kind == "aws-secret"; restores != (given == nil) {
				t.Errorf("the undo returns %v", given)
			}
			of, _ := cloud.ChangeOf(c.kind, cloud.Delete)
			for _, call := range tw.Calls("") {
				name := permission(call.Op)
				if name != "sts:GetCallerIdentity" && !slices.Contains(of.Needs, name) {
					t.Errorf("%s is called and not declared", name)
				}
			}
		})
	}
}

func TestRemovals_WhatIsUsedIsNotDeleted(t *testing.T) {
	for _, c := range removalCases() {
		t.Run(c.kind, func(t *testing.T) {
			tw, changer := c.open(t)
			tw.Hold(c.op, strings.ReplaceAll(c.used, "ARN!", c.change().UID))
			change := c.change()
			change.Steps = []string{cloud.StepSelf}
			held := tw.Held()
			refused(t, changer, change, c.says)
			err := changer.ApplyChange(t.Context(),
				cloud.ChangeCall{Change: change, Set: cloud.Values{cloud.ExistsValue: "false"}})
			if cloud.ClassOf(err) != cloud.Unsupported || !strings.Contains(err.Error(), c.says) {
				t.Error(err)
			}
			for op, answer := range tw.Held() {
				if answer != held[op] {
					t.Errorf("%s answers %s, before %s", op, answer, held[op])
				}
			}
		})
	}
}

// A listener that redirects works without targets.
func TestRemovals_ABalancerThatRedirectsIsUsed(t *testing.T) {
	c := removalCases()[5]
	tw, changer := c.open(t)
	tw.Hold("elasticloadbalancing:DescribeListeners",
		`{"Listeners":[{"Port":"80","DefaultActions":[{"Type":"redirect"}]}]}`)
	refused(t, changer, c.change(), "listener 80 (redirect)")
}
