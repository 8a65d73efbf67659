package aws

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"lamplighter.dev/shared/cloud"
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

func addressResource(at place, a types.Address) cloud.Resource {
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

var natStatuses = map[types.NatGatewayState]cloud.Status{
	types.NatGatewayStatePending: cloud.Pending, types.NatGatewayStateAvailable: cloud.Running,
	types.NatGatewayStateFailed:   cloud.Stopped,
	types.NatGatewayStateDeleting: cloud.Terminated, types.NatGatewayStateDeleted: cloud.Terminated,
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
	var there []types.NatGateway
	for _, n := range out.NatGateways {
		id := sdk.ToString(n.NatGatewayId)
		r := cloud.Resource{
			UID: at.arn("natgateway/" + id), Type: "aws-nat", Tags: ec2Tags(n.Tags),
			Status:    nativeStatus(natStatuses, n.State),
			CreatedAt: sdk.ToTime(n.CreateTime).UTC(), Facts: cloud.Facts{"state": string(n.State)},
		}
		if r.Name = nameOf(r.Tags, id); r.Status == cloud.Terminated {
			continue
		}
		p.Resources, there = append(p.Resources, r), append(there, n)
	}
	addNetworkFacts(ctx, api, there, p.Resources)
	return p, nil
}
