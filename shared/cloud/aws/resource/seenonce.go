package resource

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// LastSnapshots returns the creation time of the newest snapshot of each volume; volumes without snapshots are
// missing. It sends no request if a listing has already seen all snapshots of the region. Else it asks for up to
// PerFilter volumes by a filter. For more volumes it reads all snapshots of the account in the region once, because
// pages of 1,000 are fewer calls.
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

// ImagesOfSnapshots returns the number of the account's images made of each snapshot. It reads all images once per
// region: they are few compared with the snapshots.
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

// PublicSnapshots reports the account's snapshots that everybody may restore. It reads them once per region: the
// listing of public snapshots, which has few entries, is the same for every page of snapshots.
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

// newestOf returns the creation time of the newest snapshot per volume, of the account's snapshots that match the
// filters.
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

// addNewest updates last with the creation time of the newest snapshot of each volume.
func addNewest(last map[string]time.Time, all []ec2.Snapshot) {
	for _, s := range all {
		if made := s.StartTime.Value().UTC(); made.After(last[sdk.ToString(s.VolumeId)]) {
			last[sdk.ToString(s.VolumeId)] = made
		}
	}
}
