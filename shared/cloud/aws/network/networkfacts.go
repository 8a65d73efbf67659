package network

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// addNetworkFacts adds the facts of the networks of NAT gateways: the routes to them, the zones of these routes, and
// the traffic that could avoid them.
func addNetworkFacts(ctx context.Context, api *ec2.Client, all []ec2.NatGateway, found []cloud.Resource) {
	if len(all) == 0 {
		return
	}
	available := groups{}
	for _, n := range all {
		if n.State == ec2.NatGatewayStateAvailable {
			available.add(sdk.ToString(n.VpcId), sdk.ToString(n.NatGatewayId))
		}
	}
	for i, n := range all {
		in := available[sdk.ToString(n.VpcId)]
		found[i].Facts["vpc_nat_count"] = float64(in.count)
		found[i].Facts["first_of_group"] = in.first == sdk.ToString(n.NatGatewayId)
	}
	addRoutes(ctx, api, all, found)
	addEndpoints(ctx, api, all, found)
}

// groups are resources by the network that they are in.
type groups map[string]group

// group counts resources, and knows the one with the lowest id: rules about a group name that one.
type group struct {
	count int
	first string
}

func (g groups) add(network, id string) {
	one := g[network]
	if one.count++; one.first == "" || id < one.first {
		one.first = id
	}
	g[network] = one
}

// addRoutes adds the number of routes to each gateway, and the zones of its network with a subnet that routes to any
// gateway.
func addRoutes(ctx context.Context, api *ec2.Client, all []ec2.NatGateway, found []cloud.Resource) {
	tables, err := routeTables(ctx, api)
	if err != nil {
		resource.NoteAllMissing(found, err, "ec2:DescribeRouteTables", "route_count", "vpc_zone_count")
		return
	}
	routes, byVPC := map[string]int{}, map[string][]string{} // subnets
	for _, t := range tables {
		led := false
		for _, r := range t.Routes {
			if r.NatGatewayId != nil {
				routes[*r.NatGatewayId]++
				led = true
			}
		}
		for _, a := range t.Associations {
			if led && a.SubnetId != nil {
				byVPC[sdk.ToString(t.VpcId)] = append(byVPC[sdk.ToString(t.VpcId)], *a.SubnetId)
			}
		}
	}
	zones, err := zonesOf(ctx, api)
	for i, n := range all {
		f := found[i].Facts
		if f["route_count"] = float64(routes[sdk.ToString(n.NatGatewayId)]); err != nil {
			resource.NoteMissing(f, err, "ec2:DescribeSubnets", "vpc_zone_count")
			continue
		}
		distinct := map[string]bool{}
		for _, subnet := range byVPC[sdk.ToString(n.VpcId)] {
			distinct[zones[subnet]] = true
		}
		f["vpc_zone_count"] = float64(len(distinct))
	}
}

func routeTables(ctx context.Context, api *ec2.Client) ([]ec2.RouteTable, error) {
	var all []ec2.RouteTable
	pages := wire.NewPages(api.DescribeRouteTables, &ec2.DescribeRouteTablesInput{MaxResults: sdk.Int32(100)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, out.RouteTables...)
	}
	return all, nil
}

// zonesOf returns the zones of all subnets of the region.
func zonesOf(ctx context.Context, api *ec2.Client) (map[string]string, error) {
	zones := map[string]string{}
	pages := wire.NewPages(api.DescribeSubnets, &ec2.DescribeSubnetsInput{MaxResults: sdk.Int32(1000)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range out.Subnets {
			zones[sdk.ToString(s.SubnetId)] = sdk.ToString(s.AvailabilityZone)
		}
	}
	return zones, nil
}

// addEndpoints adds whether a gateway endpoint, which is free, carries the traffic to S3 and to DynamoDB.
func addEndpoints(ctx context.Context, api *ec2.Client, all []ec2.NatGateway, found []cloud.Resource) {
	type endpoint struct{ vpc, service string }
	there := map[endpoint]bool{}
	pages := wire.NewPages(api.DescribeVpcEndpoints, &ec2.DescribeVpcEndpointsInput{
		MaxResults: sdk.Int32(1000),
		Filters:    []ec2.Filter{{Name: sdk.String("vpc-endpoint-type"), Values: []string{"Gateway"}}},
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			resource.NoteAllMissing(found, err, "ec2:DescribeVpcEndpoints", "dynamodb_endpoint", "s3_endpoint")
			return
		}
		for _, e := range out.VpcEndpoints {
			service := sdk.ToString(e.ServiceName) // com.amazonaws.eu-west-1.s3
			there[endpoint{sdk.ToString(e.VpcId), service[strings.LastIndex(service, ".")+1:]}] = true
		}
	}
	for i, n := range all {
		vpc := sdk.ToString(n.VpcId)
		found[i].Facts["s3_endpoint"], found[i].Facts["dynamodb_endpoint"] = there[endpoint{vpc, "s3"}],
			there[endpoint{vpc, "dynamodb"}]
	}
}
