package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// addresses are Elastic IP addresses, natGateways NAT gateways. The parent of an address is its instance, if it has one.
var (
	addresses = source{
		name: "addresses", needs: []string{"ec2:DescribeAddresses", "ec2:DescribeInstances"}, list: listAddresses,
	}
	natGateways = source{
		name: "natgateways", list: listNATGateways, needs: []string{
			"ec2:DescribeNatGateways", "ec2:DescribeRouteTables", "ec2:DescribeSubnets", "ec2:DescribeVpcEndpoints",
		},
	}
)

func listAddresses(ctx context.Context, at place, _ string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.cfg)
	out, err := api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var p cloud.ResourcePage
	for _, a := range out.Addresses {
		p.Resources = append(p.Resources, addressResource(at, a))
	}
	addInstanceStates(ctx, at, p.Resources, false)
	return p, nil
}

func addressResource(at place, a ec2.Address) cloud.Resource {
	r := cloud.Resource{
		UID: at.arn("elastic-ip/" + sdk.ToString(a.AllocationId)), Type: "aws-eip", Tags: ec2Tags(a.Tags),
		Status:    cloud.Running,
		ParentUID: sdk.ToString(a.InstanceId),
		Facts: cloud.Facts{
			"association_id": sdk.ToString(a.AssociationId), "interface_attached": a.AssociationId != nil &&
				a.NetworkInterfaceId != nil,
			"unassociated_since": cloud.Never,
		},
	}
	if a.AssociationId == nil {
		r.Facts["unassociated_since"] = cloud.Since{}
	}
	r.Name = nameOf(r.Tags, sdk.ToString(a.PublicIp))
	return r
}

var natStatuses = map[ec2.NatGatewayState]cloud.Status{
	ec2.NatGatewayStatePending: cloud.Pending, ec2.NatGatewayStateAvailable: cloud.Running,
	ec2.NatGatewayStateFailed:   cloud.Stopped,
	ec2.NatGatewayStateDeleting: cloud.Terminated, ec2.NatGatewayStateDeleted: cloud.Terminated,
}

// listNATGateways leaves out those that are deleted, which AWS shows for an hour.
func listNATGateways(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.cfg)
	out, err := api.DescribeNatGateways(ctx,
		&ec2.DescribeNatGatewaysInput{MaxResults: sdk.Int32(1000), NextToken: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	var there []ec2.NatGateway
	for _, n := range out.NatGateways {
		id := sdk.ToString(n.NatGatewayId)
		r := cloud.Resource{
			UID: at.arn("natgateway/" + id), Type: "aws-nat", Tags: ec2Tags(n.Tags),
			Status:    nativeStatus(natStatuses, n.State),
			CreatedAt: n.CreateTime.Value().UTC(), Facts: cloud.Facts{"state": string(n.State)},
		}
		if r.Name = nameOf(r.Tags, id); r.Status == cloud.Terminated {
			continue
		}
		p.Resources, there = append(p.Resources, r), append(there, n)
	}
	addNetworkFacts(ctx, api, there, p.Resources)
	return p, nil
}
