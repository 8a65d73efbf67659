package resource

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"

	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Sightings are the resources that one connection has described so far, so that other resources that refer to them
// need no further request. A connection lives for one run. A description of an instance is the most expensive answer
// of a discovery.
type Sightings struct {
	mu        sync.Mutex
	instances map[string]instanceSight
	volumes   map[string]bool
	whole     map[string]bool                 // by region: all volumes were seen
	taken     map[string]map[string]time.Time // by region whose snapshots were all seen: the newest of each volume
	// by region, read at the first use
	newest map[string]func() (map[string]time.Time, error) // snapshots, by volume
	images map[string]func() (map[string]int, error)       // number of images, by snapshot
	public map[string]func() (map[string]bool, error)      // snapshots that everybody may restore
}

// instanceSight holds the data of an instance that facts of other resources need.
type instanceSight struct {
	state     string
	stoppedAt time.Time // cloud.Never if it is not stopped
	told      bool      // stoppedAt is known
}

// NewSightings returns an empty collection.
func NewSightings() *Sightings {
	return &Sightings{
		instances: map[string]instanceSight{}, volumes: map[string]bool{}, whole: map[string]bool{},
		newest: map[string]func() (map[string]time.Time, error){}, images: map[string]func() (map[string]int, error){},
		public: map[string]func() (map[string]bool, error){}, taken: map[string]map[string]time.Time{},
	}
}

// Watch adds a middleware that records the answers of every client of the connection.
func (s *Sightings) Watch(stack *middleware.Stack) error {
	look := func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		out, md, err := next.HandleInitialize(ctx, in)
		switch got := out.Result.(type) {
		case *ec2.DescribeInstancesOutput:
			s.addInstances(FlattenReservations(got))
		case *ec2.DescribeSnapshotsOutput:
			s.addSnapshots(awsmiddleware.GetRegion(ctx), in.Parameters.(*ec2.DescribeSnapshotsInput), got)
		case *ec2.DescribeVolumesOutput:
			s.addVolumes(awsmiddleware.GetRegion(ctx), in.Parameters.(*ec2.DescribeVolumesInput), got)
		}
		return out, md, err
	}
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Sight", look), middleware.After)
}

func (s *Sightings) addInstances(found []*ec2.Instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range found {
		s.instances[sdk.ToString(i.InstanceId)] = sightOf(*i)
	}
}

func sightOf(i ec2.Instance) instanceSight {
	at, told := StopTime(i)
	return instanceSight{NativeState(i), at, told}
}

// addVolumes records a page of volumes. After the last page of an unfiltered listing whose first page was seen too,
// the region is whole.
func (s *Sightings) addVolumes(region string, in *ec2.DescribeVolumesInput, got *ec2.DescribeVolumesOutput) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range got.Volumes {
		s.volumes[sdk.ToString(v.VolumeId)] = true
	}
	if len(in.Filters) > 0 {
		return
	}
	_, begun := s.whole[region]
	if begun = begun || in.NextToken == nil; begun {
		s.whole[region] = got.NextToken == nil
	}
}

// addSnapshots records a listing of all snapshots that the account owns, if one answer holds them all, which is the
// usual case.
func (s *Sightings) addSnapshots(region string, in *ec2.DescribeSnapshotsInput, got *ec2.DescribeSnapshotsOutput) {
	some := len(in.Filters)+len(in.SnapshotIds)+len(in.RestorableByUserIds) > 0 || in.NextToken != nil ||
		got.NextToken != nil
	if some || !slices.Equal(in.OwnerIds, []string{"self"}) {
		return
	}
	newest := map[string]time.Time{}
	addNewest(newest, got.Snapshots)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken[region] = newest
}

// unseenInstances returns the ids that were not described yet.
func (s *Sightings) unseenInstances(ids []string) []string {
	return s.unseen(ids, func(id string) bool { _, ok := s.instances[id]; return ok })
}

// UnseenVolumes returns the ids of volumes that are not known to exist or to be missing.
func (s *Sightings) UnseenVolumes(region string, ids []string) []string {
	return s.unseen(ids, func(id string) bool { return s.whole[region] || s.volumes[id] })
}

func (s *Sightings) unseen(ids []string, known func(id string) bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, id := range ids {
		if !known(id) {
			out = append(out, id)
		}
	}
	return out
}

func (s *Sightings) instance(id string) (instanceSight, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.instances[id]
	return i, ok
}

// HasVolume reports whether the volume was described.
func (s *Sightings) HasVolume(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.volumes[id]
}
