// Package details adds the facts of resources that only AWS's index finds, because their services have no listing of
// their own here. It asks a service only about types that the index has found.
package details

import (
	"context"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// All are the details of all types.
var All = []resource.Detail{
	networks, endpoints, tunnels, images, reservations, hosts, fileSystems, windowsFileSystems, logGroups, secrets,
	snapshots, replicationInstances, lines, fileServers, caches, desktops, virtualServers, taskClusters, alarms,
}

// perPage is the largest page of most lists of EC2.
const perPage = 1000

const (
	groupType     = "aws-security-group"
	interfaceType = "aws-eni"
	networkType   = "aws-vpc"
)

// networks are security groups, network interfaces and VPCs, whose facts are about each other.
var networks = resource.Detail{
	Types: []string{groupType, interfaceType, networkType},
	Needs: []string{
		"ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroups", "ec2:DescribeVpcs", "ec2:DescribeFlowLogs",
	},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api := ec2.NewFromConfig(at.Cfg)
		addInterfaces(ctx, api, found)
		if groups := resource.ByType(found, groupType); len(groups) > 0 {
			addGroups(ctx, api, groups)
		}
		if vpcs := resource.ByType(found, networkType); len(vpcs) > 0 {
			addNetworks(ctx, api, vpcs)
		}
	},
}

// addInterfaces adds the facts of network interfaces, and how many of them groups and networks have.
func addInterfaces(ctx context.Context, api *ec2.Client, found []*cloud.Resource) {
	interfaces := byID(resource.ByType(found, interfaceType))
	counts := map[string]float64{}
	err := resource.EachPage(ctx, api.DescribeNetworkInterfaces,
		&ec2.DescribeNetworkInterfacesInput{MaxResults: sdk.Int32(perPage)},
		func(out *ec2.DescribeNetworkInterfacesOutput) {
			for _, n := range out.NetworkInterfaces {
				if r := interfaces[sdk.ToString(n.NetworkInterfaceId)]; r != nil {
					r.Facts["state"], r.Facts["requester_managed"] = string(n.Status), sdk.ToBool(n.RequesterManaged)
				}
				counts[sdk.ToString(n.VpcId)]++
				for _, g := range n.Groups {
					counts[sdk.ToString(g.GroupId)]++
				}
			}
		})
	for _, r := range found {
		switch {
		case err != nil && r.Type == interfaceType:
			delete(r.Facts, "state")
			delete(r.Facts, "requester_managed")
			resource.NoteMissing(r.Facts, err, "ec2:DescribeNetworkInterfaces", "requester_managed", "state")
		case err != nil:
			resource.NoteMissing(r.Facts, err, "ec2:DescribeNetworkInterfaces", "interface_count")
		case r.Type != interfaceType:
			r.Facts["interface_count"] = counts[resource.LastPart(r.UID)]
		}
	}
}

// addGroups adds the facts of security groups. A group is referenced if a rule of another group names it.
func addGroups(ctx context.Context, api *ec2.Client, found []*cloud.Resource) {
	byGroup, referenced := byID(found), map[string]bool{}
	err := resource.EachPage(ctx, api.DescribeSecurityGroups,
		&ec2.DescribeSecurityGroupsInput{MaxResults: sdk.Int32(perPage)},
		func(out *ec2.DescribeSecurityGroupsOutput) {
			for _, g := range out.SecurityGroups {
				id := sdk.ToString(g.GroupId)
				for _, p := range slices.Concat(g.IpPermissions, g.IpPermissionsEgress) {
					for _, pair := range p.UserIdGroupPairs {
						if other := sdk.ToString(pair.GroupId); other != id {
							referenced[other] = true
						}
					}
				}
				if r := byGroup[id]; r != nil {
					r.Facts["is_default"], r.Facts["open_ports"] = sdk.ToString(g.GroupName) == "default", openPorts(g)
				}
			}
		})
	for id, r := range byGroup {
		if err != nil {
			delete(r.Facts, "is_default")
			delete(r.Facts, "open_ports")
			resource.NoteMissing(r.Facts, err, "ec2:DescribeSecurityGroups", "is_default", "open_ports", "referenced")
			continue
		}
		r.Facts["referenced"] = referenced[id]
	}
}

// watchedPorts are the ports that rules ask about. A range of ports is told as those of them that it contains.
var watchedPorts = []int32{22, 1433, 1521, 3306, 3389, 5432, 6379, 9200, 11211, 27017}

// openPorts returns the ports of a group that every address reaches, as texts in order; "all" is every protocol.
func openPorts(g ec2.SecurityGroup) []string {
	var ports []string
	for _, p := range g.IpPermissions {
		if isOpenToWorld(p) {
			ports = append(ports, portsOf(p)...)
		}
	}
	return slices.Compact(resource.SortTexts(ports))
}

func isOpenToWorld(p ec2.IpPermission) bool {
	return slices.ContainsFunc(p.IpRanges, func(r ec2.IpRange) bool { return sdk.ToString(r.CidrIp) == "0.0.0.0/0" }) ||
		slices.ContainsFunc(p.Ipv6Ranges, func(r ec2.Ipv6Range) bool { return sdk.ToString(r.CidrIpv6) == "::/0" })
}

// portsOf returns the ports of a permission. Protocols without ports, such as ICMP, have none.
func portsOf(p ec2.IpPermission) (ports []string) {
	from, to := sdk.ToInt32(p.FromPort), sdk.ToInt32(p.ToPort)
	switch protocol := sdk.ToString(p.IpProtocol); {
	case protocol == "-1":
		return []string{"all"}
	case !slices.Contains([]string{"tcp", "udp", "6", "17"}, protocol) || p.FromPort == nil || p.ToPort == nil:
		return nil
	case from == to:
		return []string{strconv.Itoa(int(from))}
	}
	for _, port := range watchedPorts {
		if from <= port && port <= to {
			ports = append(ports, strconv.Itoa(int(port)))
		}
	}
	return ports
}

// addNetworks adds whether a VPC is the region's default, and whether a flow log records it.
func addNetworks(ctx context.Context, api *ec2.Client, found []*cloud.Resource) {
	vpcs := byID(found)
	err := resource.EachPage(ctx, api.DescribeVpcs, &ec2.DescribeVpcsInput{MaxResults: sdk.Int32(perPage)},
		func(out *ec2.DescribeVpcsOutput) {
			for _, v := range out.Vpcs {
				if r := vpcs[sdk.ToString(v.VpcId)]; r != nil {
					r.Facts["is_default"] = sdk.ToBool(v.IsDefault)
				}
			}
		})
	if err != nil {
		noteUnread(found, err, "ec2:DescribeVpcs", "is_default")
	}
	logged := map[string]bool{}
	err = resource.EachPage(ctx, api.DescribeFlowLogs, &ec2.DescribeFlowLogsInput{MaxResults: sdk.Int32(perPage)},
		func(out *ec2.DescribeFlowLogsOutput) {
			for _, l := range out.FlowLogs {
				logged[sdk.ToString(l.ResourceId)] = true
			}
		})
	if err != nil {
		noteUnread(found, err, "ec2:DescribeFlowLogs", "flow_logs")
		return
	}
	for id, r := range vpcs {
		r.Facts["flow_logs"] = logged[id]
	}
}

// byID returns resources by the last part of their ARNs: "sg-1", "vpc-1".
func byID(found []*cloud.Resource) map[string]*cloud.Resource {
	out := make(map[string]*cloud.Resource, len(found))
	for _, r := range found {
		out[resource.LastPart(r.UID)] = r
	}
	return out
}

// byUID returns resources by their ARNs.
func byUID(found []*cloud.Resource) map[string]*cloud.Resource {
	out := make(map[string]*cloud.Resource, len(found))
	for _, r := range found {
		out[r.UID] = r
	}
	return out
}

// noteUnread removes facts that a list has given in part before it failed, and notes them as missing.
func noteUnread(found []*cloud.Resource, err error, need string, names ...string) {
	for _, r := range found {
		for _, name := range names {
			delete(r.Facts, name)
		}
		resource.NoteMissing(r.Facts, err, need, names...)
	}
}
