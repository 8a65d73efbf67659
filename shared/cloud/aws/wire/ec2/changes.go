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
