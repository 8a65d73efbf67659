package ec2

import (
	"context"

	"lamplighter.dev/shared/cloud/aws/wire"
)

// AllocateAddress calls AllocateAddress of EC2.
func (c *Client) AllocateAddress(ctx context.Context, in *AllocateAddressInput) (*AllocateAddressOutput, error) {
	op := wire.Operation{Name: "AllocateAddress"}
	return wire.Call[AllocateAddressOutput](ctx, c.wire, op, in)
}

// CreateSnapshot calls CreateSnapshot of EC2.
func (c *Client) CreateSnapshot(ctx context.Context, in *CreateSnapshotInput) (*CreateSnapshotOutput, error) {
	op := wire.Operation{Name: "CreateSnapshot"}
	return wire.Call[CreateSnapshotOutput](ctx, c.wire, op, in)
}

// CreateTags calls CreateTags of EC2.
func (c *Client) CreateTags(ctx context.Context, in *CreateTagsInput) (*CreateTagsOutput, error) {
	op := wire.Operation{Name: "CreateTags", NoResult: true}
	return wire.Call[CreateTagsOutput](ctx, c.wire, op, in)
}

// CreateVolume calls CreateVolume of EC2.
func (c *Client) CreateVolume(ctx context.Context, in *CreateVolumeInput) (*CreateVolumeOutput, error) {
	op := wire.Operation{Name: "CreateVolume"}
	return wire.Call[CreateVolumeOutput](ctx, c.wire, op, in)
}

// DeleteSnapshot calls DeleteSnapshot of EC2.
func (c *Client) DeleteSnapshot(ctx context.Context, in *DeleteSnapshotInput) (*DeleteSnapshotOutput, error) {
	op := wire.Operation{Name: "DeleteSnapshot", NoResult: true}
	return wire.Call[DeleteSnapshotOutput](ctx, c.wire, op, in)
}

// DeleteTags calls DeleteTags of EC2.
func (c *Client) DeleteTags(ctx context.Context, in *DeleteTagsInput) (*DeleteTagsOutput, error) {
	op := wire.Operation{Name: "DeleteTags", NoResult: true}
	return wire.Call[DeleteTagsOutput](ctx, c.wire, op, in)
}

// DeleteVolume calls DeleteVolume of EC2.
func (c *Client) DeleteVolume(ctx context.Context, in *DeleteVolumeInput) (*DeleteVolumeOutput, error) {
	op := wire.Operation{Name: "DeleteVolume", NoResult: true}
	return wire.Call[DeleteVolumeOutput](ctx, c.wire, op, in)
}

// DescribeVolumesModifications calls DescribeVolumesModifications of EC2.
func (c *Client) DescribeVolumesModifications(ctx context.Context,
	in *DescribeVolumesModificationsInput,
) (*DescribeVolumesModificationsOutput, error) {
	op := wire.Operation{Name: "DescribeVolumesModifications"}
	return wire.Call[DescribeVolumesModificationsOutput](ctx, c.wire, op, in)
}

// ModifyInstanceAttribute calls ModifyInstanceAttribute of EC2.
func (c *Client) ModifyInstanceAttribute(ctx context.Context,
	in *ModifyInstanceAttributeInput,
) (*ModifyInstanceAttributeOutput, error) {
	op := wire.Operation{Name: "ModifyInstanceAttribute", NoResult: true}
	return wire.Call[ModifyInstanceAttributeOutput](ctx, c.wire, op, in)
}

// ModifyVolume calls ModifyVolume of EC2.
func (c *Client) ModifyVolume(ctx context.Context, in *ModifyVolumeInput) (*ModifyVolumeOutput, error) {
	op := wire.Operation{Name: "ModifyVolume"}
	return wire.Call[ModifyVolumeOutput](ctx, c.wire, op, in)
}

// ReleaseAddress calls ReleaseAddress of EC2.
func (c *Client) ReleaseAddress(ctx context.Context, in *ReleaseAddressInput) (*ReleaseAddressOutput, error) {
	op := wire.Operation{Name: "ReleaseAddress", NoResult: true}
	return wire.Call[ReleaseAddressOutput](ctx, c.wire, op, in)
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
