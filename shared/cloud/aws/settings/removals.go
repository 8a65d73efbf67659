package settings

import (
	"context"
	"slices"
	"strconv"
	"time"

	"lamplighter.dev/shared/cloud"
)

// removals returns the types that are deleted by tables.
func removals() []removal { return slices.Concat(networkRemovals(), otherRemovals()) }

// tagsOfEC2 gives a removal the tags of EC2.
func tagsOfEC2(r removal) removal {
	r.mark = "tagSet[key=" + cloud.MarkTag + "].value"
	r.tag = call{op: "ec2:CreateTags", in: params{
		"ResourceId.1": "{name}", "Tag.1.Key": cloud.MarkTag, "Tag.1.Value": "{token}",
	}}
	r.untag = call{op: "ec2:DeleteTags", in: params{"ResourceId.1": "{name}", "Tag.1.Key": cloud.MarkTag}}
	return r
}

// filtered is a call that lists what a filter finds.
func filtered(op, filter string) call {
	return call{op: op, in: params{"Filter.1.Name": filter, "Filter.1.Value.1": "{name}"}}
}

func networkRemovals() []removal {
	describe := func(op, id, at string) []read {
		return []read{{call: call{op: op, in: params{id: "{name}"}}, at: at}}
	}
	return []removal{
		tagsOfEC2(removal{
			typeOf: "aws-eni", uid: "network-interface/{name}", state: "status", in: "available",
			reads: describe("ec2:DescribeNetworkInterfaces", "NetworkInterfaceId.1", "networkInterfaceSet"),
			users: []user{{at: "attachment", field: "attachmentId", what: "attachment"}},
			locks: []lock{{"requesterManaged", "true", "a service of AWS manages it"}},
			remove: call{
				op: "ec2:DeleteNetworkInterface", in: params{"NetworkInterfaceId": "{name}"},
			},
		}),
		tagsOfEC2(removal{
			typeOf: "aws-nat", uid: "natgateway/{name}", state: "state", in: "available", gone: "deleting deleted",
			reads: describe("ec2:DescribeNatGateways", "NatGatewayId.1", "natGatewaySet"),
			users: []user{{
				by: filtered("ec2:DescribeRouteTables", "route.nat-gateway-id"), at: "routeTableSet",
				field: "routeTableId", what: "route table",
			}},
			remove: call{op: "ec2:DeleteNatGateway", in: params{"NatGatewayId": "{name}"}},
		}),
		tagsOfEC2(removal{
			typeOf: "aws-vpc-endpoint", uid: "vpc-endpoint/{name}", state: "state",
			in: "rejected Rejected failed Failed expired Expired", gone: "deleting Deleting deleted Deleted",
			reads:  describe("ec2:DescribeVpcEndpoints", "VpcEndpointId.1", "vpcEndpointSet"),
			remove: call{op: "ec2:DeleteVpcEndpoints", in: params{"VpcEndpointId.1": "{name}"}},
		}),
		tagsOfEC2(removal{
			typeOf: "aws-security-group", uid: "security-group/{name}",
			reads: describe("ec2:DescribeSecurityGroups", "GroupId.1", "securityGroupInfo"),
			users: []user{
				{
					by: filtered("ec2:DescribeNetworkInterfaces", "group-id"), at: "networkInterfaceSet",
					field: "networkInterfaceId", what: "interface",
				},
				{
					by: filtered("ec2:DescribeSecurityGroups", "ip-permission.group-id"), at: "securityGroupInfo",
					field: "groupId", what: "group",
				},
				{
					by: filtered("ec2:DescribeSecurityGroups", "egress.ip-permission.group-id"),
					at: "securityGroupInfo", field: "groupId", what: "group",
				},
			},
			locks:  []lock{{"groupName", "default", "a network always has its default group"}},
			remove: call{op: "ec2:DeleteSecurityGroup", in: params{"GroupId": "{name}"}},
		}),
		tagsOfEC2(removal{
			typeOf: "aws-dedicated-host", uid: "dedicated-host/{name}", state: "state", in: "available",
			gone:   "released released-permanent-failure",
			reads:  describe("ec2:DescribeHosts", "HostId.1", "hostSet"),
			users:  []user{{at: "instances", field: "instanceId", what: "instance"}},
			locks:  []lock{{"hostReservationId", "*", "a reservation pays for it"}},
			remove: call{op: "ec2:ReleaseHosts", in: params{"HostId.1": "{name}"}},
		}),
		{
			typeOf: "aws-elb", uid: "loadbalancer/{family}/{name}/{number}", inUse: balancerUsers,
			reads: []read{
				{call: call{
					op: "elasticloadbalancing:DescribeLoadBalancers", in: params{"LoadBalancerArns.member.1": "{arn}"},
				}, at: "LoadBalancers"},
				{call: call{
					op: "elasticloadbalancing:DescribeLoadBalancerAttributes", in: params{"LoadBalancerArn": "{arn}"},
				}},
				{call: call{
					op: "elasticloadbalancing:DescribeTags", in: params{"ResourceArns.member.1": "{arn}"},
				}, at: "TagDescriptions"},
			},
			locks: []lock{{
				"Attributes[Key=deletion_protection.enabled].Value", "true", "it is protected from deletion",
			}},
			mark: "Tags[Key=" + cloud.MarkTag + "].Value",
			tag: call{op: "elasticloadbalancing:AddTags", in: params{
				"ResourceArns.member.1": "{arn}", "Tags.member.1.Key": cloud.MarkTag, "Tags.member.1.Value": "{token}",
			}},
			untag: call{op: "elasticloadbalancing:RemoveTags", in: params{
				"ResourceArns.member.1": "{arn}", "TagKeys.member.1": cloud.MarkTag,
			}},
			remove: call{op: "elasticloadbalancing:DeleteLoadBalancer", in: params{"LoadBalancerArn": "{arn}"}},
		},
	}
}

// balancerUsers returns the targets of a load balancer, and its listeners that answer without targets.
func balancerUsers(ctx context.Context, p *place) ([]string, error) {
	own := params{"LoadBalancerArn": "{arn}"}
	s := scope{parts: p.parts}
	listeners, err := p.send(ctx, call{op: "elasticloadbalancing:DescribeListeners", in: own}, s)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, l := range listOf(find(map[string]any(listeners), "Listeners")) {
		kind := textOf(find(l, "DefaultActions.Type"))
		if kind == "redirect" || kind == "fixed-response" {
			out = append(out, "listener "+textOf(find(l, "Port"))+" ("+kind+")")
		}
	}
	groups, err := p.send(ctx, call{op: "elasticloadbalancing:DescribeTargetGroups", in: own}, s)
	if err != nil {
		return nil, err
	}
	for _, group := range textsOf(find(map[string]any(groups), "TargetGroups"), "TargetGroupArn") {
		health, err := p.send(ctx, call{op: "elasticloadbalancing:DescribeTargetHealth", in: params{
			"TargetGroupArn": group,
		}}, s)
		if err != nil {
			return nil, err
		}
		for _, id := range textsOf(find(map[string]any(health), "TargetHealthDescriptions"), "Target.Id") {
			out = append(out, "target "+id)
		}
	}
	return out, nil
}

func otherRemovals() []removal {
	arn := params{"ResourceArn": "{arn}"}
	return []removal{
		{
			typeOf: "aws-cloudwatch-alarm", uid: "alarm:{name*}", state: "StateValue", in: "INSUFFICIENT_DATA",
			reads: []read{
				{
					call: call{op: "cloudwatch:DescribeAlarms", in: params{"AlarmNames.member.1": "{name}"}},
					at:   "MetricAlarms",
				},
				{call: call{op: "cloudwatch:ListTagsForResource", in: params{"ResourceARN": "{arn}"}}},
			},
			mark: "Tags[Key=" + cloud.MarkTag + "].Value",
			tag: call{op: "cloudwatch:TagResource", in: params{
				"ResourceARN": "{arn}", "Tags.member.1.Key": cloud.MarkTag, "Tags.member.1.Value": "{token}",
			}},
			untag: call{op: "cloudwatch:UntagResource", in: params{
				"ResourceARN": "{arn}", "TagKeys.member.1": cloud.MarkTag,
			}},
			remove: call{op: "cloudwatch:DeleteAlarms", in: params{"AlarmNames.member.1": "{name}"}},
		},
		{
			typeOf: "aws-rds-snapshot", uid: "snapshot:{name*}", state: "Status", in: "available",
			reads: []read{{
				call: call{op: "rds:DescribeDBSnapshots", in: params{"DBSnapshotIdentifier": "{name}"}},
				at:   "DBSnapshots.DBSnapshot",
			}},
			locks: []lock{
				{"SnapshotType", "automated", "RDS deletes it by itself"},
				{"SnapshotType", "awsbackup", "AWS Backup manages it"},
			},
			mark: "TagList.Tag[Key=" + cloud.MarkTag + "].Value",
			tag: call{op: "rds:AddTagsToResource", in: params{
				"ResourceName": "{arn}", "Tags.Tag.1.Key": cloud.MarkTag, "Tags.Tag.1.Value": "{token}",
			}},
			untag: call{op: "rds:RemoveTagsFromResource", in: params{
				"ResourceName": "{arn}", "TagKeys.member.1": cloud.MarkTag,
			}},
			remove: call{op: "rds:DeleteDBSnapshot", in: params{"DBSnapshotIdentifier": "{name}"}},
		},
		{
			typeOf: "aws-dms", uid: "rep:{name}", state: "ReplicationInstanceStatus", in: "available",
			gone: "deleting",
			reads: []read{
				{call: call{op: "dms:DescribeReplicationInstances", in: params{
					"Filters": []any{map[string]any{"Name": "replication-instance-arn", "Values": []any{"{arn}"}}},
				}}, at: "ReplicationInstances"},
				{call: call{op: "dms:ListTagsForResource", in: arn}},
			},
			users: []user{{
				by: call{op: "dms:DescribeReplicationTasks", in: params{
					"Filters": []any{map[string]any{"Name": "replication-instance-arn", "Values": []any{"{arn}"}}},
				}},
				at: "ReplicationTasks", field: "ReplicationTaskIdentifier", what: "task",
			}},
			mark: "TagList[Key=" + cloud.MarkTag + "].Value",
			tag: call{op: "dms:AddTagsToResource", in: params{
				"ResourceArn": "{arn}", "Tags": []any{map[string]any{"Key": cloud.MarkTag, "Value": "{token}"}},
			}},
			untag: call{op: "dms:RemoveTagsFromResource", in: params{
				"ResourceArn": "{arn}", "TagKeys": []any{cloud.MarkTag},
			}},
			remove: call{op: "dms:DeleteReplicationInstance", in: params{"ReplicationInstanceArn": "{arn}"}},
		},
		{
			typeOf: "aws-secret", uid: "secret:{name*}", inUse: secretReaders, goneAt: "DeletedDate",
			reads: []read{{call: call{op: "secretsmanager:DescribeSecret", in: params{"SecretId": "{arn}"}}}},
			users: []user{{at: "ReplicationStatus", field: "Region", what: "replica in"}},
			locks: []lock{{"OwningService", "*", "a service of AWS manages it"}},
			mark:  "Tags[Key=" + cloud.MarkTag + "].Value",
			tag: call{op: "secretsmanager:TagResource", in: params{
				"SecretId": "{arn}", "Tags": []any{map[string]any{"Key": cloud.MarkTag, "Value": "{token}"}},
			}},
			untag: call{op: "secretsmanager:UntagResource", in: params{
				"SecretId": "{arn}", "TagKeys": []any{cloud.MarkTag},
			}},
			remove: call{op: "secretsmanager:DeleteSecret", in: params{
				"SecretId": "{arn}", "RecoveryWindowInDays": secretDays,
			}},
			restore: &call{op: "secretsmanager:RestoreSecret", in: params{"SecretId": "{arn}"}},
		},
	}
}

// secretReaders returns the day of the last access if it was not long ago.
func secretReaders(ctx context.Context, p *place) ([]string, error) {
	doc, err := p.readAll(ctx, []read{{call: call{
		op: "secretsmanager:DescribeSecret", in: params{"SecretId": "{arn}"},
	}}})
	if err != nil {
		return nil, err
	}
	seconds, err := strconv.ParseFloat(textOf(find(doc, "LastAccessedDate")), 64)
	if last := time.Unix(int64(seconds), 0).UTC(); err == nil && p.at.Now.Sub(last) < secretDays*24*time.Hour {
		return []string{"somebody who read it on " + last.Format(time.DateOnly)}, nil
	}
	return nil, nil
}

// secretDays is for how many days a deleted secret can be restored, and for how many nobody may have read it before.
const secretDays = 30
