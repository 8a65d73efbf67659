// Package storage holds volumes, snapshots, buckets, queues and repositories.
package storage

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Volumes are EBS volumes. The parent of a volume is the instance that it is attached to.
var Volumes = resource.Source{
	Name: "volumes", Needs: []string{"ec2:DescribeVolumes", "ec2:DescribeInstances", "ec2:DescribeSnapshots"},
	List: listVolumes,
}

var volumeStatuses = map[ec2.VolumeState]cloud.Status{
	ec2.VolumeStateCreating: cloud.Pending, ec2.VolumeStateAvailable: cloud.Running,
	ec2.VolumeStateInUse:    cloud.Running,
	ec2.VolumeStateDeleting: cloud.Terminated, ec2.VolumeStateDeleted: cloud.Terminated,
}

func listVolumes(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.Cfg)
	out, err := api.DescribeVolumes(ctx,
		&ec2.DescribeVolumesInput{MaxResults: sdk.Int32(500), NextToken: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, v := range out.Volumes {
		p.Resources = append(p.Resources, volumeResource(at, v))
	}
	resource.AddInstanceStates(ctx, at, p.Resources, true)
	at.AwaitSnapshots(ctx)
	addLastSnapshots(ctx, at, out.Volumes, p.Resources)
	return p, nil
}

func volumeResource(at resource.Place, v ec2.Volume) cloud.Resource {
	r := cloud.Resource{
		UID: at.ARN("volume/" + sdk.ToString(v.VolumeId)), Type: "aws-ebs", Tags: resource.Ec2Tags(v.Tags),
		Zone:   sdk.ToString(v.AvailabilityZone),
		Status: resource.NativeStatus(volumeStatuses, v.State), InstanceType: string(v.VolumeType),
		CreatedAt: v.CreateTime.Value().UTC(),
		Capacity:  map[string]int64{"sizeGiB": int64(sdk.ToInt32(v.Size))},
		Facts: cloud.Facts{
			"attachment_count": float64(len(v.Attachments)), "volume_type": string(v.VolumeType),
			"size_gb": float64(sdk.ToInt32(v.Size)),
			"iops":    float64(sdk.ToInt32(v.Iops)), "throughput_mibps": float64(sdk.ToInt32(v.Throughput)),
			"encrypted":        sdk.ToBool(v.Encrypted),
			"unattached_since": cloud.Never,
		},
	}
	r.Name = resource.NameOf(r.Tags, sdk.ToString(v.VolumeId))
	if len(v.Attachments) == 0 {
		r.Facts["unattached_since"] = cloud.Since{}
	} else {
		r.ParentUID = sdk.ToString(v.Attachments[0].InstanceId)
	}
	return r
}

// addLastSnapshots adds the time of the last snapshot of each volume; the epoch if there is none.
func addLastSnapshots(ctx context.Context, at resource.Place, all []ec2.Volume, found []cloud.Resource) {
	ids := make([]string, len(all))
	for i, v := range all {
		ids[i] = sdk.ToString(v.VolumeId)
	}
	last, err := at.Seen.LastSnapshots(ctx, at, ids)
	if err != nil {
		resource.NoteAllMissing(found, err, "ec2:DescribeSnapshots", "last_snapshot_at")
		return
	}
	for i, id := range ids {
		found[i].Facts["last_snapshot_at"] = cloud.Epoch
		if made, ok := last[id]; ok {
			found[i].Facts["last_snapshot_at"] = made
		}
	}
}
