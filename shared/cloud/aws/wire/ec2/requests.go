package ec2

// DescribeAddressesInput is the request of DescribeAddresses.
type DescribeAddressesInput struct {
	Filters []Filter `form:"Filter"`
}

// DescribeAddressesOutput is the response of DescribeAddresses.
type DescribeAddressesOutput struct {
	Addresses []Address `xml:"addressesSet>item"`
}

// DescribeFastSnapshotRestoresInput is the request of DescribeFastSnapshotRestores.
type DescribeFastSnapshotRestoresInput struct {
	Filters    []Filter `form:"Filter"`
	MaxResults *int32   `form:"MaxResults"`
	NextToken  *string  `form:"NextToken"`
}

// DescribeFastSnapshotRestoresOutput is the response of DescribeFastSnapshotRestores.
type DescribeFastSnapshotRestoresOutput struct {
	FastSnapshotRestores []DescribeFastSnapshotRestoreSuccessItem `xml:"fastSnapshotRestoreSet>item"`
	NextToken            *string                                  `xml:"nextToken"`
}

// DescribeImagesInput is the request of DescribeImages.
type DescribeImagesInput struct {
	Filters           []Filter `form:"Filter"`
	IncludeDeprecated *bool    `form:"IncludeDeprecated"`
	MaxResults        *int32   `form:"MaxResults"`
	NextToken         *string  `form:"NextToken"`
	Owners            []string `form:"Owner"`
}

// DescribeImagesOutput is the response of DescribeImages.
type DescribeImagesOutput struct {
	Images    []Image `xml:"imagesSet>item"`
	NextToken *string `xml:"nextToken"`
}

// DescribeInstanceStatusInput is the request of DescribeInstanceStatus.
type DescribeInstanceStatusInput struct {
	DryRun              *bool    `form:"DryRun"`
	Filters             []Filter `form:"Filter"`
	IncludeAllInstances *bool    `form:"IncludeAllInstances"`
	InstanceIds         []string `form:"InstanceId"`
	MaxResults          *int32   `form:"MaxResults"`
	NextToken           *string  `form:"NextToken"`
}

// DescribeInstanceStatusOutput is the response of DescribeInstanceStatus.
type DescribeInstanceStatusOutput struct {
	InstanceStatuses []InstanceStatus `xml:"instanceStatusSet>item"`
	NextToken        *string          `xml:"nextToken"`
}

// DescribeInstanceTypesInput is the request of DescribeInstanceTypes.
type DescribeInstanceTypesInput struct {
	InstanceTypes []InstanceType `form:"InstanceType"`
	MaxResults    *int32         `form:"MaxResults"`
	NextToken     *string        `form:"NextToken"`
}

// DescribeInstanceTypesOutput is the response of DescribeInstanceTypes.
type DescribeInstanceTypesOutput struct {
	InstanceTypes []InstanceTypeInfo `xml:"instanceTypeSet>item"`
	NextToken     *string            `xml:"nextToken"`
}

// DescribeInstancesInput is the request of DescribeInstances.
type DescribeInstancesInput struct {
	Filters     []Filter `form:"Filter"`
	InstanceIds []string `form:"InstanceId"`
	MaxResults  *int32   `form:"MaxResults"`
	NextToken   *string  `form:"NextToken"`
}

// DescribeInstancesOutput is the response of DescribeInstances.
type DescribeInstancesOutput struct {
	NextToken    *string       `xml:"nextToken"`
	Reservations []Reservation `xml:"reservationSet>item"`
}

// DescribeNatGatewaysInput is the request of DescribeNatGateways.
type DescribeNatGatewaysInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeNatGatewaysOutput is the response of DescribeNatGateways.
type DescribeNatGatewaysOutput struct {
	NatGateways []NatGateway `xml:"natGatewaySet>item"`
	NextToken   *string      `xml:"nextToken"`
}

// DescribeRegionsInput is the request of DescribeRegions.
type DescribeRegionsInput struct{}

// DescribeRegionsOutput is the response of DescribeRegions.
type DescribeRegionsOutput struct {
	Regions []Region `xml:"regionInfo>item"`
}

// DescribeRouteTablesInput is the request of DescribeRouteTables.
type DescribeRouteTablesInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeRouteTablesOutput is the response of DescribeRouteTables.
type DescribeRouteTablesOutput struct {
	NextToken   *string      `xml:"nextToken"`
	RouteTables []RouteTable `xml:"routeTableSet>item"`
}

// DescribeSnapshotsInput is the request of DescribeSnapshots.
type DescribeSnapshotsInput struct {
	Filters             []Filter `form:"Filter"`
	MaxResults          *int32   `form:"MaxResults"`
	NextToken           *string  `form:"NextToken"`
	OwnerIds            []string `form:"Owner"`
	RestorableByUserIds []string `form:"RestorableBy"`
	SnapshotIds         []string `form:"SnapshotId"`
}

// DescribeSnapshotsOutput is the response of DescribeSnapshots.
type DescribeSnapshotsOutput struct {
	NextToken *string    `xml:"nextToken"`
	Snapshots []Snapshot `xml:"snapshotSet>item"`
}

// DescribeSpotInstanceRequestsInput is the request of DescribeSpotInstanceRequests.
type DescribeSpotInstanceRequestsInput struct {
	SpotInstanceRequestIds []string `form:"SpotInstanceRequestId"`
}

// DescribeSpotInstanceRequestsOutput is the response of DescribeSpotInstanceRequests.
type DescribeSpotInstanceRequestsOutput struct {
	SpotInstanceRequests []SpotInstanceRequest `xml:"spotInstanceRequestSet>item"`
}

// DescribeSubnetsInput is the request of DescribeSubnets.
type DescribeSubnetsInput struct {
	MaxResults *int32  `form:"MaxResults"`
	NextToken  *string `form:"NextToken"`
}

// DescribeSubnetsOutput is the response of DescribeSubnets.
type DescribeSubnetsOutput struct {
	NextToken *string  `xml:"nextToken"`
	Subnets   []Subnet `xml:"subnetSet>item"`
}

// DescribeVolumesInput is the request of DescribeVolumes.
type DescribeVolumesInput struct {
	Filters    []Filter `form:"Filter"`
	MaxResults *int32   `form:"MaxResults"`
	NextToken  *string  `form:"NextToken"`
}

// DescribeVolumesOutput is the response of DescribeVolumes.
type DescribeVolumesOutput struct {
	NextToken *string  `xml:"nextToken"`
	Volumes   []Volume `xml:"volumeSet>item"`
}

// DescribeVpcEndpointsInput is the request of DescribeVpcEndpoints.
type DescribeVpcEndpointsInput struct {
	Filters    []Filter `form:"Filter"`
	MaxResults *int32   `form:"MaxResults"`
	NextToken  *string  `form:"NextToken"`
}

// DescribeVpcEndpointsOutput is the response of DescribeVpcEndpoints.
type DescribeVpcEndpointsOutput struct {
	NextToken    *string       `xml:"nextToken"`
	VpcEndpoints []VpcEndpoint `xml:"vpcEndpointSet>item"`
}

// StartInstancesInput is the request of StartInstances.
type StartInstancesInput struct {
	InstanceIds []string `form:"InstanceId"`
	DryRun      *bool    `form:"DryRun"`
}

// StartInstancesOutput is the response of StartInstances.
type StartInstancesOutput struct{}

// StopInstancesInput is the request of StopInstances.
type StopInstancesInput struct {
	InstanceIds []string `form:"InstanceId"`
	DryRun      *bool    `form:"DryRun"`
}

// StopInstancesOutput is the response of StopInstances.
type StopInstancesOutput struct{}

// PageToken returns the place of the token that names the page.
func (i *DescribeFastSnapshotRestoresInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeFastSnapshotRestoresOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeImagesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeImagesOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeInstanceStatusInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeInstanceStatusOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeInstanceTypesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeInstanceTypesOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeInstancesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeInstancesOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeRouteTablesInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeRouteTablesOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeSnapshotsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeSnapshotsOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeSubnetsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeSubnetsOutput) NextPageToken() *string { return o.NextToken }

// PageToken returns the place of the token that names the page.
func (i *DescribeVpcEndpointsInput) PageToken() **string { return &i.NextToken }

// NextPageToken returns the token of the next page, or nil.
func (o *DescribeVpcEndpointsOutput) NextPageToken() *string { return o.NextToken }

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

// TagEntry is a part of requests.
type TagEntry struct {
	Key   *string `form:"Key"`
	Value *string `form:"Value"`
}

// TagSpecification is a part of requests.
type TagSpecification struct {
	ResourceType ResourceType `form:"ResourceType"`
	Tags         []TagEntry   `form:"Tag"`
}

// ResourceType names a kind of resource in a request with tags.
type ResourceType string

// The kinds of resources that get tags.
const (
	ResourceTypeElasticIP ResourceType = "elastic-ip"
	ResourceTypeSnapshot  ResourceType = "snapshot"
	ResourceTypeVolume    ResourceType = "volume"
)

// AttributeValue is a part of requests.
type AttributeValue struct {
	Value *string `form:"Value"`
}
