package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// VolumeChanges changes EBS volumes: their type, IOPS and throughput, and their deletion after a snapshot.
var VolumeChanges = resource.Changer{
	Type: "aws-ebs", Open: func(at resource.Place) cloud.Changeable {
		return &volumeChange{at, ec2.NewFromConfig(at.Cfg)}
	},
}

type volumeChange struct {
	at  resource.Place
	api *ec2.Client
}

// volumeNative is what a restore of a deleted volume needs.
type volumeNative struct {
	ID   string            `json:"id,omitempty"`
	Zone string            `json:"zone"`
	Tags map[string]string `json:"tags"`
}

// coolDown is how long after a change of a volume the next one is possible at the earliest. AWS counts the changes of
// 24 hours; one in 6 hours stays within every count that was ever valid.
const coolDown = 6 * time.Hour

// The names of the values of a volume: facts of rules.
const (
	typeValue       = "volume_type"
	iopsValue       = "iops"
	throughputValue = "throughput_mibps"
	sizeValue       = "size_gb"
)

// Describe reads a volume, the state of its last change, and the snapshot of the token. A volume that was restored by
// the token's change stands for the one that is gone.
func (k *volumeChange) Describe(ctx context.Context, uid, token string) (cloud.Description, error) {
	v, err := k.find(ctx, resource.Filtered("volume-id", resource.LastOf(uid)))
	if err == nil && v == nil && token != "" {
		v, err = k.find(ctx, resource.Filtered("tag:"+cloud.RestoredTag, token))
	}
	switch {
	case err != nil:
		return cloud.Description{}, resource.ClassifyError(err)
	case v == nil:
		return cloud.Description{}, cloud.ErrNotFound("volume %s is gone", resource.LastOf(uid))
	}
	d := describeVolume(v)
	if err = k.addModification(ctx, &d, sdk.ToString(v.VolumeId)); err == nil {
		d.Values[cloud.CopyValue], d.CopyUID, err = k.snapshot(ctx, resource.LastOf(uid), token)
	}
	return d, resource.ClassifyError(err)
}

// find returns the volume of a filter, or nil. A volume that is being deleted counts as gone.
func (k *volumeChange) find(ctx context.Context, f ec2.Filter) (*ec2.Volume, error) {
	out, err := k.api.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{Filters: []ec2.Filter{f}})
	if err != nil {
		return nil, err
	}
	for i := range out.Volumes {
		if volumeStatuses[out.Volumes[i].State] != cloud.Terminated {
			return &out.Volumes[i], nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

func describeVolume(v *ec2.Volume) cloud.Description {
	d := cloud.Description{
		Values: cloud.Values{
			typeValue: string(v.VolumeType), iopsValue: resource.TextOf(v.Iops),
			throughputValue: resource.TextOf(v.Throughput), sizeValue: resource.TextOf(v.Size),
			cloud.ExistsValue: "true", cloud.MarkValue: resource.MarkOf(v.Tags),
		},
		Native: cloud.EncodeSnapshot(volumeNative{
			sdk.ToString(v.VolumeId), sdk.ToString(v.AvailabilityZone), resource.Ec2Tags(v.Tags),
		}),
	}
	if v.State == ec2.VolumeStateCreating {
		d.Busy = "the volume is being created"
	}
	for _, a := range v.Attachments {
		d.Dependents = append(d.Dependents, "instance "+sdk.ToString(a.InstanceId))
	}
	return d
}

// addModification adds to a description why the volume cannot be changed now. A volume that was never changed has no
// modification.
func (k *volumeChange) addModification(ctx context.Context, d *cloud.Description, id string) error {
	out, err := k.api.DescribeVolumesModifications(ctx, &ec2.DescribeVolumesModificationsInput{
		Filters: []ec2.Filter{resource.Filtered("volume-id", id)},
	})
	if err != nil {
		return err
	}
	for _, m := range out.VolumesModifications {
		free := m.StartTime.Value().UTC().Add(coolDown)
		switch {
		case m.ModificationState == ec2.VolumeModificationStateModifying,
			m.ModificationState == ec2.VolumeModificationStateOptimizing:
			d.Busy = "a change of the volume is under way (" + string(m.ModificationState) + ")"
		case k.at.Now.Before(free):
			d.Busy = "the volume was changed less than 6 hours ago: the next change is possible at " +
				free.Format(time.RFC3339)
		default:
			continue
		}
		d.FreeAt = free
	}
	return nil
}

// snapshot returns the state and the id of the snapshot that the token's change took of a volume.
func (k *volumeChange) snapshot(ctx context.Context, id, token string) (state, snapshotID string, err error) {
	if token == "" {
		return "", "", nil
	}
	out, err := k.api.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"},
		Filters: []ec2.Filter{
			resource.Filtered("tag:"+cloud.MarkTag, token), resource.Filtered("volume-id", id),
		},
	})
	if err != nil || len(out.Snapshots) == 0 {
		return "", "", err
	}
	s := out.Snapshots[0]
	switch s.State {
	case ec2.SnapshotStateCompleted:
		state = cloud.CopyComplete
	case ec2.SnapshotStatePending:
		state = cloud.CopyPending
	default:
		state = cloud.CopyFailed
	}
	return state, sdk.ToString(s.SnapshotId), nil
}

// Set makes the call of a change.
func (k *volumeChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	id := resource.LastOf(c.UID)
	var err error
	switch mark, marks := c.Set[cloud.MarkValue]; {
	case marks:
		err = resource.SetMark(ctx, k.api, id, mark)
	case c.Set[cloud.CopyValue] != "":
		err = k.copy(ctx, d, c)
	case c.Set[cloud.ExistsValue] == "false":
		_, err = k.api.DeleteVolume(resource.WriteOnce(ctx), &ec2.DeleteVolumeInput{VolumeId: &id})
	case c.Set[cloud.ExistsValue] == "true":
		err = k.restore(ctx, c)
	default:
		err = k.modify(ctx, id, c.Set)
	}
	return resource.ClassifyError(err)
}

// copy takes a snapshot, unless the change has one already.
func (k *volumeChange) copy(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	if d.Values[cloud.CopyValue] != "" {
		return nil
	}
	var native volumeNative
	if err := json.Unmarshal(d.Native, &native); err != nil {
		return fmt.Errorf("read the definition of %s: %w", c.UID, err)
	}
	_, err := k.api.CreateSnapshot(resource.WriteOnce(ctx), &ec2.CreateSnapshotInput{
		VolumeId: sdk.String(resource.LastOf(c.UID)), Description: sdk.String("before the deletion by " + c.Token),
		TagSpecifications: resource.TagsFor(ec2.ResourceTypeSnapshot, native.Tags, cloud.MarkTag, c.Token),
	})
	return err
}

// restore makes a volume of the snapshot that was taken before the deletion. The call has a token: repeated, it makes
// no second volume.
func (k *volumeChange) restore(ctx context.Context, c cloud.ChangeCall) error {
	state, snapshotID, err := k.snapshot(ctx, resource.LastOf(c.UID), c.Token)
	switch {
	case err != nil:
		return err
	case state != cloud.CopyComplete:
		return cloud.ErrUnsupported("there is no complete snapshot of %s from before its deletion", c.UID)
	}
	var native volumeNative
	if err = json.Unmarshal(c.Native, &native); err != nil {
		return fmt.Errorf("read the definition of %s: %w", c.UID, err)
	}
	in := &ec2.CreateVolumeInput{
		AvailabilityZone: &native.Zone, SnapshotId: &snapshotID, ClientToken: sdk.String(c.Token),
		VolumeType:        ec2.VolumeType(c.Set[typeValue]),
		TagSpecifications: resource.TagsFor(ec2.ResourceTypeVolume, native.Tags, cloud.RestoredTag, c.Token),
	}
	if in.Iops, in.Throughput, err = performanceOf(c.Set); err != nil {
		return err
	}
	_, err = k.api.CreateVolume(resource.WriteOnce(ctx), in)
	return err
}

func (k *volumeChange) modify(ctx context.Context, id string, set cloud.Values) error {
	in := &ec2.ModifyVolumeInput{VolumeId: &id, VolumeType: ec2.VolumeType(set[typeValue])}
	var err error
	if in.Iops, in.Throughput, err = performanceOf(set); err != nil {
		return err
	}
	_, err = k.api.ModifyVolume(resource.WriteOnce(ctx), in)
	return err
}
