package awstwin

import (
	"fmt"
	"slices"
	"strings"
)

// heldRemovals set marks on held answers, and delete them.
var heldRemovals = map[string]heldOp{
	"ec2:CreateTags": {on: heldEC2, do: setsTag("")},
	"ec2:DeleteTags": {on: heldEC2, do: setsTag("-")},

	"elasticloadbalancing:AddTags":    {on: "elasticloadbalancing:DescribeTags", do: setsTag("")},
	"elasticloadbalancing:RemoveTags": {on: "elasticloadbalancing:DescribeTags", do: setsTag("-")},
	"monitoring:TagResource":          {on: "monitoring:ListTagsForResource", do: setsTag("")},
	"monitoring:UntagResource":        {on: "monitoring:ListTagsForResource", do: setsTag("-")},
	"rds:AddTagsToResource":           {on: "rds:DescribeDBSnapshots", do: setsTag("")},
	"rds:RemoveTagsFromResource":      {on: "rds:DescribeDBSnapshots", do: setsTag("-")},
	"dms:AddTagsToResource":           {on: "dms:ListTagsForResource", do: setsTag("")},
	"dms:RemoveTagsFromResource":      {on: "dms:ListTagsForResource", do: setsTag("-")},
	"secretsmanager:TagResource":      {on: "secretsmanager:DescribeSecret", do: setsTag("")},
	"secretsmanager:UntagResource":    {on: "secretsmanager:DescribeSecret", do: setsTag("-")},

	"ec2:DeleteNetworkInterface": {
		on: "ec2:DescribeNetworkInterfaces", gone: "InvalidNetworkInterfaceID.NotFound",
		is: map[string]string{"NetworkInterfaceId": "networkInterfaceSet[].networkInterfaceId"},
	},
	"ec2:DeleteNatGateway": {
		on: "ec2:DescribeNatGateways", is: map[string]string{"NatGatewayId": "natGatewaySet[].natGatewayId"},
		always: []string{"natGatewaySet[].state=deleted"},
	},
	"ec2:DeleteVpcEndpoints": {
		on: "ec2:DescribeVpcEndpoints", is: map[string]string{"VpcEndpointId.1": "vpcEndpointSet[].vpcEndpointId"},
		always: []string{"vpcEndpointSet[].state=deleted"},
	},
	"ec2:DeleteSecurityGroup": {
		on: "ec2:DescribeSecurityGroups", is: map[string]string{"GroupId": "securityGroupInfo[].groupId"},
		gone: "InvalidGroup.NotFound",
	},
	"ec2:ReleaseHosts": {
		on: "ec2:DescribeHosts", is: map[string]string{"HostId.1": "hostSet[].hostId"},
		always: []string{"hostSet[].state=released"},
	},
	"elasticloadbalancing:DeleteLoadBalancer": {
		on: "elasticloadbalancing:DescribeLoadBalancers", gone: "LoadBalancerNotFound",
		is: map[string]string{"LoadBalancerArn": "LoadBalancers[].LoadBalancerArn"},
	},
	"monitoring:DeleteAlarms": {
		on: "monitoring:DescribeAlarms", is: map[string]string{"AlarmNames.member.1": "MetricAlarms[].AlarmName"},
		drops: []string{"MetricAlarms"},
	},
	"rds:DeleteDBSnapshot": {
		on: "rds:DescribeDBSnapshots", gone: "DBSnapshotNotFound", is: map[string]string{
			"DBSnapshotIdentifier": "DBSnapshots.DBSnapshot.DBSnapshotIdentifier",
		},
	},
	"dms:DeleteReplicationInstance": {
		on: "dms:DescribeReplicationInstances", gone: "ResourceNotFoundFault",
		is: map[string]string{"ReplicationInstanceArn": "ReplicationInstances[].ReplicationInstanceArn"},
	},
	"secretsmanager:DeleteSecret": {
		on: "secretsmanager:DescribeSecret", is: map[string]string{"SecretId": "ARN"},
		ignores: []string{"RecoveryWindowInDays"}, always: []string{"DeletedDate=1767225600"},
	},
	"secretsmanager:RestoreSecret": {
		on: "secretsmanager:DescribeSecret", is: map[string]string{"SecretId": "ARN"}, drops: []string{"DeletedDate"},
	},
}

const heldEC2 = "ec2:DescribeNetworkInterfaces ec2:DescribeNatGateways ec2:DescribeVpcEndpoints " +
	"ec2:DescribeSecurityGroups ec2:DescribeHosts"

// tagLists are the places of the tags of held answers.
var tagLists = []string{
	"networkInterfaceSet[].tagSet", "natGatewaySet[].tagSet", "vpcEndpointSet[].tagSet", "securityGroupInfo[].tagSet",
	"hostSet[].tagSet", "TagDescriptions[].Tags", "DBSnapshots.DBSnapshot.TagList.Tag", "TagList", "Tags",
}

// setsTag sets a tag of a held answer, or with "-" removes it.
func setsTag(sign string) func(doc, params map[string]any) {
	return func(doc, params map[string]any) {
		i := slices.IndexFunc(tagLists, func(path string) bool { return lookUp(doc, path) != nil })
		if i < 0 {
			return
		}
		key, value := tagIn(params)
		name, text := "Key", "Value"
		if strings.HasSuffix(tagLists[i], "tagSet") {
			name, text = "key", "value"
		}
		all, _ := lookUp(doc, tagLists[i]).([]any)
		all = slices.DeleteFunc(slices.Clone(all), func(tag any) bool { return tag.(map[string]any)[name] == key })
		if sign == "" {
			all = append(all, map[string]any{name: key, text: value})
		}
		put(doc, tagLists[i], all)
	}
}

// tagIn returns the tag, or the key alone, in the parameters of a call.
func tagIn(params map[string]any) (key, value string) {
	for name, v := range params {
		switch list, _ := v.([]any); {
		case name == "TagKeys":
			key = fmt.Sprint(list[0])
		case name == "Tags":
			tag, _ := list[0].(map[string]any)
			key, value = fmt.Sprint(tag["Key"]), fmt.Sprint(tag["Value"])
		case strings.HasSuffix(name, ".Key"), strings.HasPrefix(name, "TagKeys."):
			key = fmt.Sprint(v)
		case strings.HasSuffix(name, ".Value"):
			value = fmt.Sprint(v)
		}
	}
	return key, value
}
