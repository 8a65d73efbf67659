package resource

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// LastSnapshots returns when the newest snapshot of each of the volumes was made, of those that have one. What the
// listing of the snapshots has just told is not asked for. Else as many as one filter takes are asked for; for more
// than that all snapshots of the account in the region are read, once: they are fewer calls of 1,000 each.
func (s *Sightings) LastSnapshots(ctx context.Context, at Place, volumes []string) (map[string]time.Time, error) {
	api := ec2.NewFromConfig(at.Cfg)
	s.mu.Lock()
	if newest, seen := s.taken[at.Region]; seen {
		s.mu.Unlock()
		return newest, nil
	}
	all := s.newest[at.Region]
	if all == nil && len(volumes) > PerFilter {
		all = sync.OnceValues(func() (map[string]time.Time, error) { return newestOf(ctx, api) })
		s.newest[at.Region] = all
	}
	s.mu.Unlock()
	switch {
	case all != nil:
		return all()
	case len(volumes) == 0:
		return nil, nil
	}
	return newestOf(ctx, api, ec2.Filter{Name: sdk.String("volume-id"), Values: volumes})
}

// ImagesOfSnapshots returns how many images of the account are made of each snapshot. All its images are read, once
// for a region: they are few beside its snapshots.
func (s *Sightings) ImagesOfSnapshots(ctx context.Context, at Place) (map[string]int, error) {
	s.mu.Lock()
	all := s.images[at.Region]
	if all == nil {
		all = sync.OnceValues(func() (map[string]int, error) { return countImages(ctx, ec2.NewFromConfig(at.Cfg)) })
		s.images[at.Region] = all
	}
	s.mu.Unlock()
	return all()
}

// PublicSnapshots returns which of the account's snapshots everybody may restore. They are read once for a region: the
// listing of public ones, which are few if any, is the same for every page of snapshots.
func (s *Sightings) PublicSnapshots(ctx context.Context, at Place) (map[string]bool, error) {
	s.mu.Lock()
	all := s.public[at.Region]
	if all == nil {
		all = sync.OnceValues(func() (map[string]bool, error) { return findPublic(ctx, ec2.NewFromConfig(at.Cfg)) })
		s.public[at.Region] = all
	}
	s.mu.Unlock()
	return all()
}

func findPublic(ctx context.Context, api *ec2.Client) (map[string]bool, error) {
	public := map[string]bool{}
	pages := wire.NewPages(api.DescribeSnapshots, &ec2.DescribeSnapshotsInput{
		OwnerIds: []string{"self"}, RestorableByUserIds: []string{"all"}, MaxResults: sdk.Int32(1000),
	})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range out.Snapshots {
			public[sdk.ToString(s.SnapshotId)] = true
		}
	}
	return public, nil
}

func countImages(ctx context.Context, api *ec2.Client) (map[string]int, error) {
	counts := map[string]int{}
	pages := wire.NewPages(api.DescribeImages,
		&ec2.DescribeImagesInput{Owners: []string{"self"}, MaxResults: sdk.Int32(1000)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, image := range out.Images {
			for _, d := range image.BlockDeviceMappings {
				if d.Ebs != nil {
					counts[sdk.ToString(d.Ebs.SnapshotId)]++
				}
			}
		}
	}
	return counts, nil
}

// newestOf reads the account's snapshots that the filters let through.
func newestOf(ctx context.Context, api *ec2.Client, filters ...ec2.Filter) (map[string]time.Time, error) {
	last := map[string]time.Time{}
	pages := wire.NewPages(api.DescribeSnapshots,
		&ec2.DescribeSnapshotsInput{OwnerIds: []string{"self"}, MaxResults: sdk.Int32(1000), Filters: filters})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		addNewest(last, out.Snapshots)
	}
	return last, nil
}

// addNewest adds to last when the newest of the snapshots of each volume was made.
func addNewest(last map[string]time.Time, all []ec2.Snapshot) {
	for _, s := range all {
		if made := s.StartTime.Value().UTC(); made.After(last[sdk.ToString(s.VolumeId)]) {
			last[sdk.ToString(s.VolumeId)] = made
		}
	}
}
