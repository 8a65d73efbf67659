package details

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

var endpoints = resource.Detail{
	Types: []string{"aws-vpc-endpoint"}, Needs: []string{"ec2:DescribeVpcEndpoints"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byID(found)
		err := resource.EachPage(ctx, ec2.NewFromConfig(at.Cfg).DescribeVpcEndpoints,
			&ec2.DescribeVpcEndpointsInput{MaxResults: sdk.Int32(perPage)}, func(out *ec2.DescribeVpcEndpointsOutput) {
				for _, e := range out.VpcEndpoints {
					if r := all[sdk.ToString(e.VpcEndpointId)]; r != nil {
						// the reference writes the states in capitals, and the service does not
						r.Facts["state"] = strings.ToLower(string(e.State))
						r.Facts["endpoint_type"] = string(e.VpcEndpointType)
						r.Facts["subnet_count"] = float64(len(e.SubnetIds))
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "ec2:DescribeVpcEndpoints", "endpoint_type", "state", "subnet_count")
		}
	},
}

var tunnels = resource.Detail{
	Types: []string{"aws-vpn"}, Needs: []string{"ec2:DescribeVpnConnections"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		out, err := ec2.NewFromConfig(at.Cfg).DescribeVpnConnections(ctx, &ec2.DescribeVpnConnectionsInput{})
		if err != nil {
			noteUnread(found, err, "ec2:DescribeVpnConnections", "state", "tunnels_total", "tunnels_up")
			return
		}
		all := byID(found)
		for _, v := range out.VpnConnections {
			r := all[sdk.ToString(v.VpnConnectionId)]
			if r == nil {
				continue
			}
			up := 0.0
			for _, t := range v.VgwTelemetry {
				if t.Status == "UP" {
					up++
				}
			}
			r.Facts["state"], r.Facts["tunnels_total"], r.Facts["tunnels_up"] = string(v.State),
				float64(len(v.VgwTelemetry)), up
		}
	},
}

var images = resource.Detail{
	Types: []string{"aws-ami"}, Needs: []string{"ec2:DescribeImages"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byID(found)
		err := resource.EachPage(ctx, ec2.NewFromConfig(at.Cfg).DescribeImages,
			&ec2.DescribeImagesInput{Owners: []string{"self"}, MaxResults: sdk.Int32(perPage)},
			func(out *ec2.DescribeImagesOutput) {
				for _, i := range out.Images {
					if r := all[sdk.ToString(i.ImageId)]; r != nil && i.Public != nil {
						r.Facts["public"] = *i.Public
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "ec2:DescribeImages", "public")
		}
	},
}

var reservations = resource.Detail{
	Types: []string{"aws-capacity-reservation"}, Needs: []string{"ec2:DescribeCapacityReservations"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byID(found)
		err := resource.EachPage(ctx, ec2.NewFromConfig(at.Cfg).DescribeCapacityReservations,
			&ec2.DescribeCapacityReservationsInput{MaxResults: sdk.Int32(perPage)},
			func(out *ec2.DescribeCapacityReservationsOutput) {
				for _, c := range out.CapacityReservations {
					if r := all[sdk.ToString(c.CapacityReservationId)]; r != nil {
						r.Facts["state"] = string(c.State)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "ec2:DescribeCapacityReservations", "state")
		}
	},
}

// hostsPerPage is the largest page of dedicated hosts.
const hostsPerPage = 500

var hosts = resource.Detail{
	Types: []string{"aws-dedicated-host"}, Needs: []string{"ec2:DescribeHosts"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byID(found)
		err := resource.EachPage(ctx, ec2.NewFromConfig(at.Cfg).DescribeHosts,
			&ec2.DescribeHostsInput{MaxResults: sdk.Int32(hostsPerPage)}, func(out *ec2.DescribeHostsOutput) {
				for _, h := range out.Hosts {
					if r := all[sdk.ToString(h.HostId)]; r != nil {
						r.Facts["state"], r.Facts["instance_count"] = string(h.State), float64(len(h.Instances))
						r.Facts["reservation"] = sdk.ToString(h.HostReservationId)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "ec2:DescribeHosts", "instance_count", "reservation", "state")
		}
	},
}
