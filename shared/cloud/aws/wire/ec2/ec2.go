// Package ec2 calls the operations of EC2 that Lamplighter uses (shared/cloud/aws/wire).
package ec2

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
)

var service = wire.Service{
	ID: "EC2", Agent: "ec2", Host: "ec2", Signing: "ec2",
	Protocol: wire.EC2{Version: "2016-11-15"},
}

// Client calls EC2 in one region.
type Client struct{ wire *wire.Client }

// NewFromConfig returns a client for the region of cfg.
func NewFromConfig(cfg aws.Config) *Client { return &Client{wire.New(&service, cfg)} }

// DescribeAddresses calls DescribeAddresses of EC2.
func (c *Client) DescribeAddresses(ctx context.Context, in *DescribeAddressesInput) (*DescribeAddressesOutput, error) {
	op := wire.Operation{Name: "DescribeAddresses"}
	return wire.Call[DescribeAddressesOutput](ctx, c.wire, op, in)
}

// DescribeFastSnapshotRestores calls DescribeFastSnapshotRestores of EC2.
func (c *Client) DescribeFastSnapshotRestores(ctx context.Context,
	in *DescribeFastSnapshotRestoresInput,
) (*DescribeFastSnapshotRestoresOutput, error) {
	op := wire.Operation{Name: "DescribeFastSnapshotRestores"}
	return wire.Call[DescribeFastSnapshotRestoresOutput](ctx, c.wire, op, in)
}

// DescribeImages calls DescribeImages of EC2.
func (c *Client) DescribeImages(ctx context.Context, in *DescribeImagesInput) (*DescribeImagesOutput, error) {
	op := wire.Operation{Name: "DescribeImages"}
	return wire.Call[DescribeImagesOutput](ctx, c.wire, op, in)
}

// DescribeInstanceStatus calls DescribeInstanceStatus of EC2.
func (c *Client) DescribeInstanceStatus(ctx context.Context,
	in *DescribeInstanceStatusInput,
) (*DescribeInstanceStatusOutput, error) {
	op := wire.Operation{Name: "DescribeInstanceStatus"}
	return wire.Call[DescribeInstanceStatusOutput](ctx, c.wire, op, in)
}

// DescribeInstanceTypes calls DescribeInstanceTypes of EC2.
func (c *Client) DescribeInstanceTypes(ctx context.Context,
	in *DescribeInstanceTypesInput,
) (*DescribeInstanceTypesOutput, error) {
	op := wire.Operation{Name: "DescribeInstanceTypes"}
	return wire.Call[DescribeInstanceTypesOutput](ctx, c.wire, op, in)
}

// DescribeInstances calls DescribeInstances of EC2.
func (c *Client) DescribeInstances(ctx context.Context, in *DescribeInstancesInput) (*DescribeInstancesOutput, error) {
	op := wire.Operation{Name: "DescribeInstances"}
	return wire.Call[DescribeInstancesOutput](ctx, c.wire, op, in)
}

// DescribeNatGateways calls DescribeNatGateways of EC2.
func (c *Client) DescribeNatGateways(ctx context.Context, in *DescribeNatGatewaysInput) (*DescribeNatGatewaysOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeNatGateways"}
	return wire.Call[DescribeNatGatewaysOutput](ctx, c.wire, op, in)
}

// DescribeRegions calls DescribeRegions of EC2.
func (c *Client) DescribeRegions(ctx context.Context, in *DescribeRegionsInput) (*DescribeRegionsOutput, error) {
	op := wire.Operation{Name: "DescribeRegions"}
	return wire.Call[DescribeRegionsOutput](ctx, c.wire, op, in)
}

// DescribeRouteTables calls DescribeRouteTables of EC2.
func (c *Client) DescribeRouteTables(ctx context.Context, in *DescribeRouteTablesInput) (*DescribeRouteTablesOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeRouteTables"}
	return wire.Call[DescribeRouteTablesOutput](ctx, c.wire, op, in)
}

// DescribeSnapshots calls DescribeSnapshots of EC2.
func (c *Client) DescribeSnapshots(ctx context.Context, in *DescribeSnapshotsInput) (*DescribeSnapshotsOutput, error) {
	op := wire.Operation{Name: "DescribeSnapshots"}
	return wire.Call[DescribeSnapshotsOutput](ctx, c.wire, op, in)
}

// DescribeSpotInstanceRequests calls DescribeSpotInstanceRequests of EC2.
func (c *Client) DescribeSpotInstanceRequests(ctx context.Context,
	in *DescribeSpotInstanceRequestsInput,
) (*DescribeSpotInstanceRequestsOutput, error) {
	op := wire.Operation{Name: "DescribeSpotInstanceRequests"}
	return wire.Call[DescribeSpotInstanceRequestsOutput](ctx, c.wire, op, in)
}

// DescribeSubnets calls DescribeSubnets of EC2.
func (c *Client) DescribeSubnets(ctx context.Context, in *DescribeSubnetsInput) (*DescribeSubnetsOutput, error) {
	op := wire.Operation{Name: "DescribeSubnets"}
	return wire.Call[DescribeSubnetsOutput](ctx, c.wire, op, in)
}

// DescribeVolumes calls DescribeVolumes of EC2.
func (c *Client) DescribeVolumes(ctx context.Context, in *DescribeVolumesInput) (*DescribeVolumesOutput, error) {
	op := wire.Operation{Name: "DescribeVolumes"}
	return wire.Call[DescribeVolumesOutput](ctx, c.wire, op, in)
}

// DescribeVpcEndpoints calls DescribeVpcEndpoints of EC2.
func (c *Client) DescribeVpcEndpoints(ctx context.Context, in *DescribeVpcEndpointsInput) (*DescribeVpcEndpointsOutput,
	error,
) {
	op := wire.Operation{Name: "DescribeVpcEndpoints"}
	return wire.Call[DescribeVpcEndpointsOutput](ctx, c.wire, op, in)
}

// StartInstances calls StartInstances of EC2.
func (c *Client) StartInstances(ctx context.Context, in *StartInstancesInput) (*StartInstancesOutput, error) {
	op := wire.Operation{Name: "StartInstances"}
	return wire.Call[StartInstancesOutput](ctx, c.wire, op, in)
}

// StopInstances calls StopInstances of EC2.
func (c *Client) StopInstances(ctx context.Context, in *StopInstancesInput) (*StopInstancesOutput, error) {
	op := wire.Operation{Name: "StopInstances"}
	return wire.Call[StopInstancesOutput](ctx, c.wire, op, in)
}

// DescribeCapacityReservations calls DescribeCapacityReservations of EC2.
func (c *Client) DescribeCapacityReservations(ctx context.Context,
	in *DescribeCapacityReservationsInput,
) (*DescribeCapacityReservationsOutput, error) {
	op := wire.Operation{Name: "DescribeCapacityReservations"}
	return wire.Call[DescribeCapacityReservationsOutput](ctx, c.wire, op, in)
}

// DescribeFlowLogs calls DescribeFlowLogs of EC2.
func (c *Client) DescribeFlowLogs(ctx context.Context, in *DescribeFlowLogsInput) (*DescribeFlowLogsOutput, error) {
	op := wire.Operation{Name: "DescribeFlowLogs"}
	return wire.Call[DescribeFlowLogsOutput](ctx, c.wire, op, in)
}

// DescribeHosts calls DescribeHosts of EC2.
func (c *Client) DescribeHosts(ctx context.Context, in *DescribeHostsInput) (*DescribeHostsOutput, error) {
	op := wire.Operation{Name: "DescribeHosts"}
	return wire.Call[DescribeHostsOutput](ctx, c.wire, op, in)
}

// DescribeNetworkInterfaces calls DescribeNetworkInterfaces of EC2.
func (c *Client) DescribeNetworkInterfaces(ctx context.Context,
	in *DescribeNetworkInterfacesInput,
) (*DescribeNetworkInterfacesOutput, error) {
	op := wire.Operation{Name: "DescribeNetworkInterfaces"}
	return wire.Call[DescribeNetworkInterfacesOutput](ctx, c.wire, op, in)
}

// DescribeSecurityGroups calls DescribeSecurityGroups of EC2.
func (c *Client) DescribeSecurityGroups(ctx context.Context,
	in *DescribeSecurityGroupsInput,
) (*DescribeSecurityGroupsOutput, error) {
	op := wire.Operation{Name: "DescribeSecurityGroups"}
	return wire.Call[DescribeSecurityGroupsOutput](ctx, c.wire, op, in)
}

// DescribeVpcs calls DescribeVpcs of EC2.
func (c *Client) DescribeVpcs(ctx context.Context, in *DescribeVpcsInput) (*DescribeVpcsOutput, error) {
	op := wire.Operation{Name: "DescribeVpcs"}
	return wire.Call[DescribeVpcsOutput](ctx, c.wire, op, in)
}

// DescribeVpnConnections calls DescribeVpnConnections of EC2.
func (c *Client) DescribeVpnConnections(ctx context.Context,
	in *DescribeVpnConnectionsInput,
) (*DescribeVpnConnectionsOutput, error) {
	op := wire.Operation{Name: "DescribeVpnConnections"}
	return wire.Call[DescribeVpnConnectionsOutput](ctx, c.wire, op, in)
}
