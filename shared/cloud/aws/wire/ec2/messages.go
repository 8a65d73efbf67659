package ec2

import (
	"lamplighter.dev/shared/cloud/aws/wire"
)

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
	Public              *bool                `xml:"isPublic"`
}

// InstanceStatus is a part of responses.
type InstanceStatus struct {
	Events        []InstanceStatusEvent `xml:"eventsSet>item"`
	InstanceId    *string               `xml:"instanceId"`
	InstanceState *InstanceState        `xml:"instanceState"`
}

// InstanceTypeInfo is a part of responses.
type InstanceTypeInfo struct {
	BurstablePerformanceSupported *bool          `xml:"burstablePerformanceSupported"`
	CurrentGeneration             *bool          `xml:"currentGeneration"`
	EbsInfo                       *EbsInfo       `xml:"ebsInfo"`
	GpuInfo                       *GpuInfo       `xml:"gpuInfo"`
	Hypervisor                    string         `xml:"hypervisor"`
	InstanceStorageSupported      *bool          `xml:"instanceStorageSupported"`
	InstanceType                  InstanceType   `xml:"instanceType"`
	MemoryInfo                    *MemoryInfo    `xml:"memoryInfo"`
	NetworkInfo                   *NetworkInfo   `xml:"networkInfo"`
	ProcessorInfo                 *ProcessorInfo `xml:"processorInfo"`
	VCpuInfo                      *VCpuInfo      `xml:"vCpuInfo"`
}

// ProcessorInfo is a part of responses.
type ProcessorInfo struct {
	SupportedArchitectures []string `xml:"supportedArchitectures>item"`
}

// EbsInfo is a part of responses.
type EbsInfo struct {
	EbsOptimizedInfo *EbsOptimizedInfo `xml:"ebsOptimizedInfo"`
	NvmeSupport      string            `xml:"nvmeSupport"`
}

// EbsOptimizedInfo is a part of responses.
type EbsOptimizedInfo struct {
	BaselineIops             *int32   `xml:"baselineIops"`
	BaselineThroughputInMBps *float64 `xml:"baselineThroughputInMBps"`
}

// NetworkInfo is a part of responses.
type NetworkInfo struct {
	DefaultNetworkCardIndex  *int32            `xml:"defaultNetworkCardIndex"`
	EnaSupport               string            `xml:"enaSupport"`
	MaximumNetworkInterfaces *int32            `xml:"maximumNetworkInterfaces"`
	NetworkCards             []NetworkCardInfo `xml:"networkCards>item"`
}

// NetworkCardInfo is a part of responses.
type NetworkCardInfo struct {
	BaselineBandwidthInGbps *float64 `xml:"baselineBandwidthInGbps"`
	NetworkCardIndex        *int32   `xml:"networkCardIndex"`
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
	ServiceName     *string         `xml:"serviceName"`
	State           State           `xml:"state"`
	SubnetIds       []string        `xml:"subnetIdSet>item"`
	VpcEndpointId   *string         `xml:"vpcEndpointId"`
	VpcEndpointType VpcEndpointType `xml:"vpcEndpointType"`
	VpcId           *string         `xml:"vpcId"`
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

// ArchitectureValues is an architecture values in AWS's words.
type ArchitectureValues string

// DeviceType is a device type in AWS's words.
type DeviceType string

// EventCode is an event code in AWS's words.
type EventCode string

// HttpTokensState is a http tokens state in AWS's words.
type HttpTokensState string

// InstanceLifecycleType is an instance lifecycle type in AWS's words.
type InstanceLifecycleType string

// InstanceStateName is an instance state name in AWS's words.
type InstanceStateName string

// InstanceType is an instance type in AWS's words.
type InstanceType string

// MonitoringState is a monitoring state in AWS's words.
type MonitoringState string

// NatGatewayState is a nat gateway state in AWS's words.
type NatGatewayState string

// SnapshotState is a snapshot state in AWS's words.
type SnapshotState string

// SpotInstanceType is a spot instance type in AWS's words.
type SpotInstanceType string

// StorageTier is a storage tier in AWS's words.
type StorageTier string

// Tenancy is a tenancy in AWS's words.
type Tenancy string

// VolumeState is a volume state in AWS's words.
type VolumeState string

// VolumeType is a volume type in AWS's words.
type VolumeType string

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
