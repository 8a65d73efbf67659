package ec2

// DescribeCapacityReservationsInput is the request of DescribeCapacityReservations.
type DescribeCapacityReservationsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeCapacityReservationsOutput is the response of DescribeCapacityReservations.
type DescribeCapacityReservationsOutput struct {
	NextToken            *string               `xml:"nextToken"`
	CapacityReservations []CapacityReservation `xml:"capacityReservationSet>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeCapacityReservationsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeCapacityReservationsOutput) NextPageToken() *string { return o.NextToken }

// DescribeFlowLogsInput is the request of DescribeFlowLogs.
type DescribeFlowLogsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeFlowLogsOutput is the response of DescribeFlowLogs.
type DescribeFlowLogsOutput struct {
	NextToken *string   `xml:"nextToken"`
	FlowLogs  []FlowLog `xml:"flowLogSet>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeFlowLogsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeFlowLogsOutput) NextPageToken() *string { return o.NextToken }

// DescribeHostsInput is the request of DescribeHosts.
type DescribeHostsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeHostsOutput is the response of DescribeHosts.
type DescribeHostsOutput struct {
	NextToken *string `xml:"nextToken"`
	Hosts     []Host  `xml:"hostSet>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeHostsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeHostsOutput) NextPageToken() *string { return o.NextToken }

// DescribeNetworkInterfacesInput is the request of DescribeNetworkInterfaces.
type DescribeNetworkInterfacesInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeNetworkInterfacesOutput is the response of DescribeNetworkInterfaces.
type DescribeNetworkInterfacesOutput struct {
	NextToken         *string            `xml:"nextToken"`
	NetworkInterfaces []NetworkInterface `xml:"networkInterfaceSet>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeNetworkInterfacesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeNetworkInterfacesOutput) NextPageToken() *string { return o.NextToken }

// DescribeSecurityGroupsInput is the request of DescribeSecurityGroups.
type DescribeSecurityGroupsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeSecurityGroupsOutput is the response of DescribeSecurityGroups.
type DescribeSecurityGroupsOutput struct {
	NextToken      *string         `xml:"nextToken"`
	SecurityGroups []SecurityGroup `xml:"securityGroupInfo>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeSecurityGroupsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeSecurityGroupsOutput) NextPageToken() *string { return o.NextToken }

// DescribeVpcsInput is the request of DescribeVpcs.
type DescribeVpcsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeVpcsOutput is the response of DescribeVpcs.
type DescribeVpcsOutput struct {
	NextToken *string `xml:"nextToken"`
	Vpcs      []Vpc   `xml:"vpcSet>item"`
}

// PageToken returns the place of the token that names the page.
func (i *DescribeVpcsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeVpcsOutput) NextPageToken() *string { return o.NextToken }

// DescribeVpnConnectionsInput is the request of DescribeVpnConnections.
type DescribeVpnConnectionsInput struct{}

// DescribeVpnConnectionsOutput is the response of DescribeVpnConnections.
type DescribeVpnConnectionsOutput struct {
	VpnConnections []VpnConnection `xml:"vpnConnectionSet>item"`
}

// CapacityReservation is a part of responses.
type CapacityReservation struct {
	CapacityReservationId *string                  `xml:"capacityReservationId"`
	State                 CapacityReservationState `xml:"state"`
}

// FlowLog is a part of responses.
type FlowLog struct {
	ResourceId *string `xml:"resourceId"`
}

// Host is a part of responses.
type Host struct {
	HostId            *string         `xml:"hostId"`
	HostReservationId *string         `xml:"hostReservationId"`
	Instances         []HostInstance  `xml:"instances>item"`
	State             AllocationState `xml:"state"`
}

// HostInstance is a part of responses.
type HostInstance struct {
	InstanceId *string `xml:"instanceId"`
}

// NetworkInterface is a part of responses.
type NetworkInterface struct {
	Groups             []GroupIdentifier      `xml:"groupSet>item"`
	NetworkInterfaceId *string                `xml:"networkInterfaceId"`
	RequesterManaged   *bool                  `xml:"requesterManaged"`
	Status             NetworkInterfaceStatus `xml:"status"`
	VpcId              *string                `xml:"vpcId"`
}

// GroupIdentifier is a part of responses.
type GroupIdentifier struct {
	GroupId *string `xml:"groupId"`
}

// SecurityGroup is a part of responses.
type SecurityGroup struct {
	GroupId             *string        `xml:"groupId"`
	GroupName           *string        `xml:"groupName"`
	IpPermissions       []IpPermission `xml:"ipPermissions>item"`
	IpPermissionsEgress []IpPermission `xml:"ipPermissionsEgress>item"`
}

// IpPermission is a part of responses.
type IpPermission struct {
	FromPort         *int32            `xml:"fromPort"`
	IpProtocol       *string           `xml:"ipProtocol"`
	IpRanges         []IpRange         `xml:"ipRanges>item"`
	Ipv6Ranges       []Ipv6Range       `xml:"ipv6Ranges>item"`
	ToPort           *int32            `xml:"toPort"`
	UserIdGroupPairs []UserIdGroupPair `xml:"groups>item"`
}

// IpRange is a part of responses.
type IpRange struct {
	CidrIp *string `xml:"cidrIp"`
}

// Ipv6Range is a part of responses.
type Ipv6Range struct {
	CidrIpv6 *string `xml:"cidrIpv6"`
}

// UserIdGroupPair is a part of responses.
type UserIdGroupPair struct {
	GroupId *string `xml:"groupId"`
}

// Vpc is a part of responses.
type Vpc struct {
	IsDefault *bool   `xml:"isDefault"`
	VpcId     *string `xml:"vpcId"`
}

// VpnConnection is a part of responses.
type VpnConnection struct {
	State           VpnState       `xml:"state"`
	VgwTelemetry    []VgwTelemetry `xml:"vgwTelemetry>item"`
	VpnConnectionId *string        `xml:"vpnConnectionId"`
}

// VgwTelemetry is a part of responses.
type VgwTelemetry struct {
	Status TelemetryStatus `xml:"status"`
}

// CapacityReservationState is a state of a capacity reservation, in AWS's words.
type CapacityReservationState string

// AllocationState is a state of a dedicated host, in AWS's words.
type AllocationState string

// NetworkInterfaceStatus is a status of a network interface, in AWS's words.
type NetworkInterfaceStatus string

// VpnState is a state of a VPN connection, in AWS's words.
type VpnState string

// TelemetryStatus is a status of a tunnel, in AWS's words.
type TelemetryStatus string

// State is a state of an endpoint, in AWS's words.
type State string

// VpcEndpointType is a type of endpoint, in AWS's words.
type VpcEndpointType string
