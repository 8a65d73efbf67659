package storage

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// SnapshotChanges deletes EBS snapshots that no image uses.
var SnapshotChanges = resource.Changer{
	Type: "aws-ebs-snapshot", Open: func(at resource.Place) cloud.Changeable {
		return &snapshotChange{ec2.NewFromConfig(at.Cfg)}
	},
}

type snapshotChange struct{ api *ec2.Client }

// Describe reads a snapshot and the images that are made of it.
func (k *snapshotChange) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	id := resource.LastOf(uid)
	out, err := k.api.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, Filters: []ec2.Filter{resource.Filtered("snapshot-id", id)},
	})
	if err != nil {
		return cloud.Description{}, resource.ClassifyError(err)
	}
	if len(out.Snapshots) == 0 {
		return cloud.Description{}, cloud.ErrNotFound("snapshot %s is gone", id)
	}
	s := out.Snapshots[0]
	d := cloud.Description{Values: cloud.Values{
		cloud.ExistsValue: "true", cloud.MarkValue: resource.MarkOf(s.Tags), sizeValue: resource.TextOf(s.VolumeSize),
		"storage_tier": string(s.StorageTier), "volume": sdk.ToString(s.VolumeId),
	}}
	images, err := k.api.DescribeImages(ctx, &ec2.DescribeImagesInput{
		Owners: []string{"self"}, Filters: []ec2.Filter{resource.Filtered("block-device-mapping.snapshot-id", id)},
	})
	if err != nil {
		return d, resource.ClassifyError(err)
	}
	for _, i := range images.Images {
		if usesSnapshot(&i, id) {
			d.Dependents = append(d.Dependents, "image "+sdk.ToString(i.ImageId))
		}
	}
	return d, nil
}

// usesSnapshot reports whether an image is made of a snapshot.
func usesSnapshot(i *ec2.Image, id string) bool {
	for _, m := range i.BlockDeviceMappings {
		if m.Ebs != nil && sdk.ToString(m.Ebs.SnapshotId) == id {
			return true
		}
	}
	return false
}

// Complete refuses: a snapshot has no values to set.
func (k *snapshotChange) Complete(context.Context, cloud.Description, cloud.Values) (cloud.Values, []string, error) {
	return nil, nil, cloud.ErrUnsupported("a snapshot is only deleted")
}

// Set marks a snapshot or deletes it. Nothing restores it.
func (k *snapshotChange) Set(ctx context.Context, _ cloud.Description, c cloud.ChangeCall) error {
	id := resource.LastOf(c.UID)
	var err error
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks:
		err = resource.SetMark(ctx, k.api, id, mark)
	case c.Set[cloud.ExistsValue] == "false":
		_, err = k.api.DeleteSnapshot(resource.WriteOnce(ctx), &ec2.DeleteSnapshotInput{SnapshotId: &id})
	default:
		err = cloud.ErrUnsupported("a deleted snapshot cannot be restored")
	}
	return resource.ClassifyError(err)
}
