package ec2

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

// DescribeAddressesInput is the request of DescribeAddresses.
type DescribeAddressesInput struct {
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
}

// DescribeInstanceTypesOutput is the response of DescribeInstanceTypes.
type DescribeInstanceTypesOutput struct {
	InstanceTypes []InstanceTypeInfo `xml:"instanceTypeSet>item"`
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
type DescribeRegionsInput struct {
}

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
type StartInstancesOutput struct {
}

// StopInstancesInput is the request of StopInstances.
type StopInstancesInput struct {
	InstanceIds []string `form:"InstanceId"`
	DryRun      *bool    `form:"DryRun"`
}

// StopInstancesOutput is the response of StopInstances.
type StopInstancesOutput struct {
}

// Address is a part of responses.
type Address struct {
	AllocationId       *string `xml:"allocationId"`
	AssociationId      *string `xml:"associationId"`
	InstanceId         *string `xml:"instanceId"`
	NetworkInterfaceId *string `xml:"networkInterfaceId"`
	PublicIp           *string `xml:"publicIp"`
	Tags               []Tag   `xml:"tagSet>item"`
}

// Filter is a part of requests.
type Filter struct {
	Name   *string  `form:"Name"`
	Values []string `form:"Value"`
}

// DescribeFastSnapshotRestoreSuccessItem is a part of responses.
type DescribeFastSnapshotRestoreSuccessItem struct {
	SnapshotId *string `xml:"snapshotId"`
}

// Image is a part of responses.
type Image struct {
	BlockDeviceMappings []BlockDeviceMapping `xml:"blockDeviceMapping>item"`
	CreationDate        *string              `xml:"creationDate"`
	ImageId             *string              `xml:"imageId"`
}

// InstanceStatus is a part of responses.
type InstanceStatus struct {
	Events        []InstanceStatusEvent `xml:"eventsSet>item"`
	InstanceId    *string               `xml:"instanceId"`
	InstanceState *InstanceState        `xml:"instanceState"`
}

// InstanceTypeInfo is a part of responses.
type InstanceTypeInfo struct {
	BurstablePerformanceSupported *bool        `xml:"burstablePerformanceSupported"`
	GpuInfo                       *GpuInfo     `xml:"gpuInfo"`
	InstanceType                  InstanceType `xml:"instanceType"`
	MemoryInfo                    *MemoryInfo  `xml:"memoryInfo"`
	VCpuInfo                      *VCpuInfo    `xml:"vCpuInfo"`
}

// Reservation is a part of responses.
type Reservation struct {
	Instances []Instance `xml:"instancesSet>item"`
}

// NatGateway is a part of responses.
type NatGateway struct {
	CreateTime   *wire.Time      `xml:"createTime"`
	NatGatewayId *string         `xml:"natGatewayId"`
	State        NatGatewayState `xml:"state"`
	Tags         []Tag           `xml:"tagSet>item"`
	VpcId        *string         `xml:"vpcId"`
}

// Region is a part of responses.
type Region struct {
	OptInStatus *string `xml:"optInStatus"`
	RegionName  *string `xml:"regionName"`
}

// RouteTable is a part of responses.
type RouteTable struct {
	Associations []RouteTableAssociation `xml:"associationSet>item"`
	Routes       []Route                 `xml:"routeSet>item"`
	VpcId        *string                 `xml:"vpcId"`
}

// Snapshot is a part of responses.
type Snapshot struct {
	SnapshotId  *string       `xml:"snapshotId"`
	StartTime   *wire.Time    `xml:"startTime"`
	State       SnapshotState `xml:"status"`
	StorageTier StorageTier   `xml:"storageTier"`
	Tags        []Tag         `xml:"tagSet>item"`
	VolumeId    *string       `xml:"volumeId"`
	VolumeSize  *int32        `xml:"volumeSize"`
}

// SpotInstanceRequest is a part of responses.
type SpotInstanceRequest struct {
	SpotInstanceRequestId *string          `xml:"spotInstanceRequestId"`
	Type                  SpotInstanceType `xml:"type"`
}

// Subnet is a part of responses.
type Subnet struct {
	AvailabilityZone *string `xml:"availabilityZone"`
	SubnetId         *string `xml:"subnetId"`
}

// Volume is a part of responses.
type Volume struct {
	Attachments      []VolumeAttachment `xml:"attachmentSet>item"`
	AvailabilityZone *string            `xml:"availabilityZone"`
	CreateTime       *wire.Time         `xml:"createTime"`
	Encrypted        *bool              `xml:"encrypted"`
	Iops             *int32             `xml:"iops"`
	Size             *int32             `xml:"size"`
	State            VolumeState        `xml:"status"`
	Tags             []Tag              `xml:"tagSet>item"`
	Throughput       *int32             `xml:"throughput"`
	VolumeId         *string            `xml:"volumeId"`
	VolumeType       VolumeType         `xml:"volumeType"`
}

// VpcEndpoint is a part of responses.
type VpcEndpoint struct {
	ServiceName *string `xml:"serviceName"`
	VpcId       *string `xml:"vpcId"`
}

// Tag is a part of responses.
type Tag struct {
	Key   *string `xml:"key"`
	Value *string `xml:"value"`
}

// BlockDeviceMapping is a part of responses.
type BlockDeviceMapping struct {
	Ebs *EbsBlockDevice `xml:"ebs"`
}

// InstanceStatusEvent is a part of responses.
type InstanceStatusEvent struct {
	Code        EventCode `xml:"code"`
	Description *string   `xml:"description"`
}

// InstanceState is a part of responses.
type InstanceState struct {
	Name InstanceStateName `xml:"name"`
}

// GpuInfo is a part of responses.
type GpuInfo struct {
	Gpus []GpuDeviceInfo `xml:"gpus>item"`
}

// MemoryInfo is a part of responses.
type MemoryInfo struct {
	SizeInMiB *int64 `xml:"sizeInMiB"`
}

// VCpuInfo is a part of responses.
type VCpuInfo struct {
	DefaultVCpus *int32 `xml:"defaultVCpus"`
}

// Instance is a part of responses.
type Instance struct {
	Architecture          ArchitectureValues               `xml:"architecture"`
	BlockDeviceMappings   []InstanceBlockDeviceMapping     `xml:"blockDeviceMapping>item"`
	CpuOptions            *CpuOptions                      `xml:"cpuOptions"`
	ImageId               *string                          `xml:"imageId"`
	InstanceId            *string                          `xml:"instanceId"`
	InstanceLifecycle     InstanceLifecycleType            `xml:"instanceLifecycle"`
	InstanceType          InstanceType                     `xml:"instanceType"`
	LaunchTime            *wire.Time                       `xml:"launchTime"`
	MetadataOptions       *InstanceMetadataOptionsResponse `xml:"metadataOptions"`
	Monitoring            *Monitoring                      `xml:"monitoring"`
	Operator              *OperatorResponse                `xml:"operator"`
	Placement             *Placement                       `xml:"placement"`
	PlatformDetails       *string                          `xml:"platformDetails"`
	PublicIpAddress       *string                          `xml:"ipAddress"`
	RootDeviceType        DeviceType                       `xml:"rootDeviceType"`
	SpotInstanceRequestId *string                          `xml:"spotInstanceRequestId"`
	State                 *InstanceState                   `xml:"instanceState"`
	StateReason           *StateReason                     `xml:"stateReason"`
	StateTransitionReason *string                          `xml:"reason"`
	Tags                  []Tag                            `xml:"tagSet>item"`
}

// RouteTableAssociation is a part of responses.
type RouteTableAssociation struct {
	SubnetId *string `xml:"subnetId"`
}

// Route is a part of responses.
type Route struct {
	NatGatewayId *string `xml:"natGatewayId"`
}

// VolumeAttachment is a part of responses.
type VolumeAttachment struct {
	InstanceId *string `xml:"instanceId"`
}

// EbsBlockDevice is a part of responses.
type EbsBlockDevice struct {
	SnapshotId *string `xml:"snapshotId"`
}

// GpuDeviceInfo is a part of responses.
type GpuDeviceInfo struct {
	Count *int32 `xml:"count"`
}

// InstanceBlockDeviceMapping is a part of responses.
type InstanceBlockDeviceMapping struct {
	Ebs *EbsInstanceBlockDevice `xml:"ebs"`
}

// CpuOptions is a part of responses.
type CpuOptions struct {
	CoreCount      *int32 `xml:"coreCount"`
	ThreadsPerCore *int32 `xml:"threadsPerCore"`
}

// InstanceMetadataOptionsResponse is a part of responses.
type InstanceMetadataOptionsResponse struct {
	HttpTokens HttpTokensState `xml:"httpTokens"`
}

// Monitoring is a part of responses.
type Monitoring struct {
	State MonitoringState `xml:"state"`
}

// OperatorResponse is a part of responses.
type OperatorResponse struct {
	Managed   *bool   `xml:"managed"`
	Principal *string `xml:"principal"`
}

// Placement is a part of responses.
type Placement struct {
	AvailabilityZone *string `xml:"availabilityZone"`
	Tenancy          Tenancy `xml:"tenancy"`
}

// StateReason is a part of responses.
type StateReason struct {
	Code    *string `xml:"code"`
	Message *string `xml:"message"`
}

// EbsInstanceBlockDevice is a part of responses.
type EbsInstanceBlockDevice struct {
	AttachTime *wire.Time `xml:"attachTime"`
}

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

// The values of these types are AWS's words.
type (
	ArchitectureValues    string
	DeviceType            string
	EventCode             string
	HttpTokensState       string
	InstanceLifecycleType string
	InstanceStateName     string
	InstanceType          string
	MonitoringState       string
	NatGatewayState       string
	SnapshotState         string
	SpotInstanceType      string
	StorageTier           string
	Tenancy               string
	VolumeState           string
	VolumeType            string
)

// Values of DeviceType that Lamplighter knows.
const (
	DeviceTypeInstanceStore DeviceType = "instance-store"
)

// Values of InstanceLifecycleType that Lamplighter knows.
const (
	InstanceLifecycleTypeSpot InstanceLifecycleType = "spot"
)

// Values of InstanceStateName that Lamplighter knows.
const (
	InstanceStateNamePending      InstanceStateName = "pending"
	InstanceStateNameRunning      InstanceStateName = "running"
	InstanceStateNameShuttingDown InstanceStateName = "shutting-down"
	InstanceStateNameStopped      InstanceStateName = "stopped"
	InstanceStateNameStopping     InstanceStateName = "stopping"
	InstanceStateNameTerminated   InstanceStateName = "terminated"
)

// Values of NatGatewayState that Lamplighter knows.
const (
	NatGatewayStateAvailable NatGatewayState = "available"
	NatGatewayStateDeleted   NatGatewayState = "deleted"
	NatGatewayStateDeleting  NatGatewayState = "deleting"
	NatGatewayStateFailed    NatGatewayState = "failed"
	NatGatewayStatePending   NatGatewayState = "pending"
)

// Values of SnapshotState that Lamplighter knows.
const (
	SnapshotStateCompleted   SnapshotState = "completed"
	SnapshotStatePending     SnapshotState = "pending"
	SnapshotStateRecoverable SnapshotState = "recoverable"
	SnapshotStateRecovering  SnapshotState = "recovering"
)

// Values of SpotInstanceType that Lamplighter knows.
const (
	SpotInstanceTypeOneTime    SpotInstanceType = "one-time"
	SpotInstanceTypePersistent SpotInstanceType = "persistent"
)

// Values of VolumeState that Lamplighter knows.
const (
	VolumeStateAvailable VolumeState = "available"
	VolumeStateCreating  VolumeState = "creating"
	VolumeStateDeleted   VolumeState = "deleted"
	VolumeStateDeleting  VolumeState = "deleting"
	VolumeStateInUse     VolumeState = "in-use"
)
