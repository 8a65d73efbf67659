// Package network holds addresses, NAT gateways and load balancers.
package network

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Addresses are Elastic IP addresses, NatGateways NAT gateways. The parent of an address is its instance, if it has
// one.
var (
	Addresses = resource.Source{
		Name: "addresses", Needs: []string{"ec2:DescribeAddresses", "ec2:DescribeInstances"}, List: listAddresses,
	}
	NatGateways = resource.Source{
		Name: "natgateways", List: listNATGateways, Needs: []string{
			"ec2:DescribeNatGateways", "ec2:DescribeRouteTables", "ec2:DescribeSubnets", "ec2:DescribeVpcEndpoints",
		},
	}
)

func listAddresses(ctx context.Context, at resource.Place, _ string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.Cfg)
	out, err := api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	var p cloud.ResourcePage
	for _, a := range out.Addresses {
		p.Resources = append(p.Resources, addressResource(at, a))
	}
	resource.AddInstanceStates(ctx, at, p.Resources, false)
	return p, nil
}

func addressResource(at resource.Place, a ec2.Address) cloud.Resource {
	r := cloud.Resource{
		UID: at.ARN("elastic-ip/" + sdk.ToString(a.AllocationId)), Type: "aws-eip", Tags: resource.Ec2Tags(a.Tags),
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
	r.Name = resource.NameOf(r.Tags, sdk.ToString(a.PublicIp))
	return r
}

var natStatuses = map[ec2.NatGatewayState]cloud.Status{
	ec2.NatGatewayStatePending: cloud.Pending, ec2.NatGatewayStateAvailable: cloud.Running,
	ec2.NatGatewayStateFailed:   cloud.Stopped,
	ec2.NatGatewayStateDeleting: cloud.Terminated, ec2.NatGatewayStateDeleted: cloud.Terminated,
}

// listNATGateways leaves out deleted gateways, which AWS shows for an hour.
func listNATGateways(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.Cfg)
	out, err := api.DescribeNatGateways(ctx,
		&ec2.DescribeNatGatewaysInput{MaxResults: sdk.Int32(1000), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	var there []ec2.NatGateway
	for _, n := range out.NatGateways {
		id := sdk.ToString(n.NatGatewayId)
		r := cloud.Resource{
			UID: at.ARN("natgateway/" + id), Type: "aws-nat", Tags: resource.Ec2Tags(n.Tags),
			Status:    resource.NativeStatus(natStatuses, n.State),
			CreatedAt: n.CreateTime.Value().UTC(), Facts: cloud.Facts{"state": string(n.State)},
		}
		if r.Name = resource.NameOf(r.Tags, id); r.Status == cloud.Terminated {
			continue
		}
		p.Resources, there = append(p.Resources, r), append(there, n)
	}
	addNetworkFacts(ctx, api, there, p.Resources)
	return p, nil
}
