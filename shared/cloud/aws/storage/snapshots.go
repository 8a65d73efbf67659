package storage

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Snapshots are the EBS snapshots that the account owns. The parent of a snapshot is its volume.
var Snapshots = resource.Source{
	Name: "snapshots",
	Needs: []string{
		"ec2:DescribeSnapshots", "ec2:DescribeVolumes", "ec2:DescribeImages",
		"ec2:DescribeFastSnapshotRestores",
	}, List: listSnapshots,
}

var snapshotStatuses = map[ec2.SnapshotState]cloud.Status{
	ec2.SnapshotStatePending: cloud.Pending, ec2.SnapshotStateCompleted: cloud.Running,
	ec2.SnapshotStateRecoverable: cloud.Stopped,
	ec2.SnapshotStateRecovering:  cloud.Pending,
}

func listSnapshots(ctx context.Context, at resource.Place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.Cfg)
	out, err := api.DescribeSnapshots(ctx, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, MaxResults: sdk.Int32(1000), NextToken: resource.OptionalString(page),
	})
	at.TellSnapshots() // also after a failure
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
	at.AwaitVolumes(ctx)
	addSources(ctx, at, out.Snapshots, p.Resources)
	addImageCounts(ctx, at, out.Snapshots, p.Resources)
	addPublic(ctx, at, out.Snapshots, p.Resources)
	if !at.Custom { // only AWS itself has fast restores
		addFastRestores(ctx, api, out.Snapshots, p.Resources)
	}
	return p, nil
}

func snapshotResource(at resource.Place, s ec2.Snapshot) cloud.Resource {
	r := cloud.Resource{
		UID: at.ARN("snapshot/" + sdk.ToString(s.SnapshotId)), Type: "aws-ebs-snapshot", Tags: resource.Ec2Tags(s.Tags),
		Status: resource.NativeStatus(snapshotStatuses, s.State), CreatedAt: s.StartTime.Value().UTC(),
		Capacity: map[string]int64{"sizeGiB": int64(sdk.ToInt32(s.VolumeSize))},
		Facts:    cloud.Facts{"started_at": s.StartTime.Value().UTC(), "storage_tier": string(s.StorageTier)},
	}
	r.Name = resource.NameOf(r.Tags, sdk.ToString(s.SnapshotId))
	if id := sdk.ToString(s.VolumeId); id != "" {
		r.ParentUID = at.ARN("volume/" + id)
	}
	return r
}

// addSources adds whether the volumes of the snapshots still exist.
func addSources(ctx context.Context, at resource.Place, all []ec2.Snapshot, found []cloud.Resource) {
	ids := make([]string, len(all))
	for i, s := range all {
		ids[i] = sdk.ToString(s.VolumeId)
	}
	slices.Sort(ids)
	api := ec2.NewFromConfig(at.Cfg)
	for part := range slices.Chunk(at.Seen.UnseenVolumes(at.Region, slices.Compact(ids)), resource.PerFilter) {
		_, err := api.DescribeVolumes(ctx, &ec2.DescribeVolumesInput{
			MaxResults: sdk.Int32(500), Filters: []ec2.Filter{{Name: sdk.String("volume-id"), Values: part}},
		})
		if err != nil {
			resource.NoteAllMissing(found, err, "ec2:DescribeVolumes", "source_exists")
			return
		}
	}
	for i, s := range all {
		found[i].Facts["source_exists"] = at.Seen.HasVolume(sdk.ToString(s.VolumeId))
	}
}

// addImageCounts adds the number of the account's images made of each snapshot.
func addImageCounts(ctx context.Context, at resource.Place, all []ec2.Snapshot, found []cloud.Resource) {
	counts, err := at.Seen.ImagesOfSnapshots(ctx, at)
	if err != nil {
		resource.NoteAllMissing(found, err, "ec2:DescribeImages", "ami_count")
		return
	}
	for i, s := range all {
		found[i].Facts["ami_count"] = float64(counts[sdk.ToString(s.SnapshotId)])
	}
}

// addPublic adds whether everybody may restore a snapshot, by the listing of the account's public snapshots.
func addPublic(ctx context.Context, at resource.Place, all []ec2.Snapshot, found []cloud.Resource) {
	public, err := at.Seen.PublicSnapshots(ctx, at)
	if err != nil {
		resource.NoteAllMissing(found, err, "ec2:DescribeSnapshots", "public")
		return
	}
	for i, s := range all {
		found[i].Facts["public"] = public[sdk.ToString(s.SnapshotId)]
	}
}

// addFastRestores adds the number of zones with fast restores of each snapshot. AWS bills them by the hour.
func addFastRestores(ctx context.Context, api *ec2.Client, all []ec2.Snapshot, found []cloud.Resource) {
	zones := map[string]int{}
	pages := wire.NewPages(api.DescribeFastSnapshotRestores, &ec2.DescribeFastSnapshotRestoresInput{
		MaxResults: sdk.Int32(200), Filters: []ec2.Filter{{Name: sdk.String("state"), Values: []string{"enabled"}}},
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(wire.WithAttempts(ctx, resource.FactAttempts))
		if err != nil {
			resource.NoteAllMissing(found, err, "ec2:DescribeFastSnapshotRestores", "fsr_zone_count")
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
