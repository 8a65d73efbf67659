package aws

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// snapshots are the EBS snapshots that the account owns. The parent of one is the volume that it was made of.
var snapshots = source{
	name: "snapshots",
	needs: []string{"ec2:DescribeSnapshots", "ec2:DescribeVolumes", "ec2:DescribeImages",
		"ec2:DescribeFastSnapshotRestores"}, list: listSnapshots,
}

var snapshotStatuses = map[ec2.SnapshotState]cloud.Status{
	ec2.SnapshotStatePending: cloud.Pending, ec2.SnapshotStateCompleted: cloud.Running,
	ec2.SnapshotStateRecoverable: cloud.Stopped,
	ec2.SnapshotStateRecovering:  cloud.Pending,
}

func listSnapshots(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.cfg)
	out, err := api.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, MaxResults: sdk.Int32(1000), NextToken: optionalString(page),
	})
	at.tellSnapshots() // also of a failure
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, s := range out.Snapshots {
		p.Resources = append(p.Resources, snapshotResource(at, s))
	}
	if len(out.Snapshots) == 0 {
		return p, nil
	}
	at.awaitVolumes(ctx)
	addSources(ctx, at, out.Snapshots, p.Resources)
	addImageCounts(ctx, at, out.Snapshots, p.Resources)
	addPublic(ctx, at, out.Snapshots, p.Resources)
	if !at.custom { // AWS alone keeps snapshots ready
		addFastRestores(ctx, api, out.Snapshots, p.Resources)
	}
	return p, nil
}

func snapshotResource(at place, s ec2.Snapshot) cloud.Resource {
	r := cloud.Resource{
		UID: at.arn("snapshot/" + sdk.ToString(s.SnapshotId)), Type: "aws-ebs-snapshot", Tags: ec2Tags(s.Tags),
		Status: nativeStatus(snapshotStatuses, s.State), CreatedAt: s.StartTime.Value().UTC(),
		Capacity: map[string]int64{"sizeGiB": int64(sdk.ToInt32(s.VolumeSize))},
		Facts:    cloud.Facts{"started_at": s.StartTime.Value().UTC(), "storage_tier": string(s.StorageTier)},
	}
	r.Name = nameOf(r.Tags, sdk.ToString(s.SnapshotId))
	if id := sdk.ToString(s.VolumeId); id != "" {
		r.ParentUID = at.arn("volume/" + id)
	}
	return r
}

// addSources adds whether the volumes that snapshots were made of are still there.
func addSources(ctx context.Context, at place, all []ec2.Snapshot, found []cloud.Resource) {
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = sdk.ToString(s.VolumeId)
	}
	slices.Sort(ids)
	api := ec2.NewFromConfig(at.cfg)
	for part := range slices.Chunk(at.seen.unseenVolumes(at.region, slices.Compact(ids)), perFilter) {
		_, err := api.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{
			MaxResults: sdk.Int32(500), Filters: []ec2.Filter{{Name: sdk.String("volume-id"), Values: part}},
		})
		if err != nil {
			missAll(found, err, "ec2:DescribeVolumes", "source_exists")
			return
		}
	}
	for i, s := range all {
		found[i].Facts["source_exists"] = at.seen.hasVolume(sdk.ToString(s.VolumeId))
	}
}

// addImageCounts adds how many images of the account are made of each snapshot.
func addImageCounts(ctx context.Context, at place, all []ec2.Snapshot, found []cloud.Resource) {
	counts, err := at.seen.imagesOfSnapshots(ctx, at)
	if err != nil {
		missAll(found, err, "ec2:DescribeImages", "ami_count")
		return
	}
	for i, s := range all {
		found[i].Facts["ami_count"] = float64(counts[sdk.ToString(s.SnapshotId)])
	}
}

// addPublic adds which snapshots everybody may restore: those of the account's that the listing of public ones has.
func addPublic(ctx context.Context, at place, all []ec2.Snapshot, found []cloud.Resource) {
	public, err := at.seen.publicSnapshots(ctx, at)
	if err != nil {
		missAll(found, err, "ec2:DescribeSnapshots", "public")
		return
	}
	for i, s := range all {
		found[i].Facts["public"] = public[sdk.ToString(s.SnapshotId)]
	}
}

// addFastRestores adds in how many zones each snapshot is kept ready, which is billed by the hour.
func addFastRestores(ctx context.Context, api *ec2.Client, all []ec2.Snapshot, found []cloud.Resource) {
	zones := map[string]int{}
	pages := wire.NewPages(api.DescribeFastSnapshotRestores, &ec2.DescribeFastSnapshotRestoresInput{
		MaxResults: sdk.Int32(200), Filters: []ec2.Filter{{Name: sdk.String("state"), Values: []string{"enabled"}}},
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(wire.WithAttempts(ctx, factAttempts))
		if err != nil {
			missAll(found, err, "ec2:DescribeFastSnapshotRestores", "fsr_zone_count")
			return
		}
		for _, r := range out.FastSnapshotRestores {
			zones[sdk.ToString(r.SnapshotId)]++
		}
	}
	for i, s := range all {
		found[i].Facts["fsr_zone_count"] = float64(zones[sdk.ToString(s.SnapshotId)])
	}
}
