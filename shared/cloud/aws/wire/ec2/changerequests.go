package ec2

import "lamplighter.dev/shared/cloud/aws/wire"

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

// AllocateAddressInput is the request of AllocateAddress.
type AllocateAddressInput struct {
	Address           *string            `form:"Address"`
	Domain            DomainType         `form:"Domain"`
	TagSpecifications []TagSpecification `form:"TagSpecification"`
}

// DomainType is where an address may be used.
type DomainType string

// DomainTypeVpc is the only domain that AWS still gives addresses for.
const DomainTypeVpc DomainType = "vpc"

// AllocateAddressOutput is the response of AllocateAddress.
type AllocateAddressOutput struct {
	AllocationId *string `xml:"allocationId"`
}

// CreateSnapshotInput is the request of CreateSnapshot.
type CreateSnapshotInput struct {
	Description       *string            `form:"Description"`
	TagSpecifications []TagSpecification `form:"TagSpecification"`
	VolumeId          *string            `form:"VolumeId"`
}

// CreateSnapshotOutput is the response of CreateSnapshot.
type CreateSnapshotOutput struct {
	SnapshotId *string `xml:"snapshotId"`
}

// CreateTagsInput is the request of CreateTags.
type CreateTagsInput struct {
	Resources []string   `form:"ResourceId"`
	Tags      []TagEntry `form:"Tag"`
}

// CreateTagsOutput is the response of CreateTags.
type CreateTagsOutput struct{}

// CreateVolumeInput is the request of CreateVolume.
type CreateVolumeInput struct {
	AvailabilityZone  *string            `form:"AvailabilityZone"`
	ClientToken       *string            `form:"ClientToken"`
	Iops              *int32             `form:"Iops"`
	SnapshotId        *string            `form:"SnapshotId"`
	TagSpecifications []TagSpecification `form:"TagSpecification"`
	Throughput        *int32             `form:"Throughput"`
	VolumeType        VolumeType         `form:"VolumeType"`
}

// CreateVolumeOutput is the response of CreateVolume.
type CreateVolumeOutput struct {
	VolumeId *string `xml:"volumeId"`
}

// DeleteNetworkInterfaceInput is the request of DeleteNetworkInterface.
type DeleteNetworkInterfaceInput struct {
	NetworkInterfaceId *string `form:"NetworkInterfaceId"`
}

// DeleteNetworkInterfaceOutput is the response of DeleteNetworkInterface.
type DeleteNetworkInterfaceOutput struct{}

// DeleteSnapshotInput is the request of DeleteSnapshot.
type DeleteSnapshotInput struct {
	SnapshotId *string `form:"SnapshotId"`
}

// DeleteSnapshotOutput is the response of DeleteSnapshot.
type DeleteSnapshotOutput struct{}

// DeleteTagsInput is the request of DeleteTags.
type DeleteTagsInput struct {
	Resources []string   `form:"ResourceId"`
	Tags      []TagEntry `form:"Tag"`
}

// DeleteTagsOutput is the response of DeleteTags.
type DeleteTagsOutput struct{}

// DeleteVolumeInput is the request of DeleteVolume.
type DeleteVolumeInput struct {
	VolumeId *string `form:"VolumeId"`
}

// DeleteVolumeOutput is the response of DeleteVolume.
type DeleteVolumeOutput struct{}

// DescribeNetworkInterfacesInput is the request of DescribeNetworkInterfaces.
type DescribeNetworkInterfacesInput struct {
	Filters []Filter `form:"Filter"`
}

// DescribeNetworkInterfacesOutput is the response of DescribeNetworkInterfaces.
type DescribeNetworkInterfacesOutput struct {
	NetworkInterfaces []NetworkInterface `xml:"networkInterfaceSet>item"`
}

// NetworkInterface is a part of responses.
type NetworkInterface struct {
	NetworkInterfaceId *string                     `xml:"networkInterfaceId"`
	RequesterManaged   *bool                       `xml:"requesterManaged"`
	Attachment         *NetworkInterfaceAttachment `xml:"attachment"`
	TagSet             []Tag                       `xml:"tagSet>item"`
}

// NetworkInterfaceAttachment is a part of responses.
type NetworkInterfaceAttachment struct {
	AttachmentId *string `xml:"attachmentId"`
	InstanceId   *string `xml:"instanceId"`
}

// DescribeVolumesModificationsInput is the request of DescribeVolumesModifications.
type DescribeVolumesModificationsInput struct {
	Filters []Filter `form:"Filter"`
}

// DescribeVolumesModificationsOutput is the response of DescribeVolumesModifications.
type DescribeVolumesModificationsOutput struct {
	VolumesModifications []VolumeModification `xml:"volumeModificationSet>item"`
}

// VolumeModification is a part of responses.
type VolumeModification struct {
	ModificationState VolumeModificationState `xml:"modificationState"`
	StartTime         *wire.Time              `xml:"startTime"`
	StatusMessage     *string                 `xml:"statusMessage"`
}

// VolumeModificationState is the state of a change of a volume.
type VolumeModificationState string

// The states of a change of a volume.
const (
	VolumeModificationStateModifying  VolumeModificationState = "modifying"
	VolumeModificationStateOptimizing VolumeModificationState = "optimizing"
	VolumeModificationStateCompleted  VolumeModificationState = "completed"
	VolumeModificationStateFailed     VolumeModificationState = "failed"
)

// ModifyInstanceAttributeInput is the request of ModifyInstanceAttribute.
type ModifyInstanceAttributeInput struct {
	InstanceId   *string         `form:"InstanceId"`
	InstanceType *AttributeValue `form:"InstanceType"`
}

// ModifyInstanceAttributeOutput is the response of ModifyInstanceAttribute.
type ModifyInstanceAttributeOutput struct{}

// ModifyVolumeInput is the request of ModifyVolume.
type ModifyVolumeInput struct {
	Iops       *int32     `form:"Iops"`
	Throughput *int32     `form:"Throughput"`
	VolumeId   *string    `form:"VolumeId"`
	VolumeType VolumeType `form:"VolumeType"`
}

// ModifyVolumeOutput is the response of ModifyVolume.
type ModifyVolumeOutput struct{}

// ReleaseAddressInput is the request of ReleaseAddress.
type ReleaseAddressInput struct {
	AllocationId *string `form:"AllocationId"`
}

// ReleaseAddressOutput is the response of ReleaseAddress.
type ReleaseAddressOutput struct{}
