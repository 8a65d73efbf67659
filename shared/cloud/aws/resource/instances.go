package resource

import (
	"context"
	"regexp"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// FlattenReservations returns pointers to the instances of all reservations. Copies would need as much memory again as
// the answer.
func FlattenReservations(out *ec2.DescribeInstancesOutput) []*ec2.Instance {
	var all []*ec2.Instance
	for _, r := range out.Reservations {
		for n := range r.Instances {
			all = append(all, &r.Instances[n])
		}
	}
	return all
}

// NativeState returns the name of the state of an instance; "" if AWS returns none.
func NativeState(i ec2.Instance) string {
	if i.State == nil {
		return ""
	}
	return string(i.State.Name)
}

// AddInstanceStates adds to each resource the state of its instance, which is its parent, and with stoppedAt also the
// time of its stop. It leaves out facts that may not be read.
func AddInstanceStates(ctx context.Context, at Place, found []cloud.Resource, stoppedAt bool) {
	err := describeParents(ctx, at, found)
	for i := range found {
		r := &found[i]
		if err != nil {
			missParent(r.Facts, err, stoppedAt)
			continue
		}
		parent, known := at.Seen.instance(r.ParentUID)
		if r.ParentUID == "" {
			parent, known = sightOf(ec2.Instance{}), true
		}
		if !known {
			continue
		}
		r.Facts["instance_state"] = parent.state
		if stoppedAt && parent.told {
			r.Facts["instance_stopped_at"] = parent.stoppedAt
		}
	}
}

// describeParents describes the parent instances of resources that no listing has described yet.
func describeParents(ctx context.Context, at Place, found []cloud.Resource) error {
	var ids []string
	for _, r := range found {
		if r.ParentUID != "" {
			ids = append(ids, r.ParentUID)
		}
	}
	slices.Sort(ids)
	api := ec2.NewFromConfig(at.Cfg)
	for part := range slices.Chunk(at.Seen.unseenInstances(slices.Compact(ids)), PerFilter) {
		_, err := api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
			MaxResults: sdk.Int32(1000), Filters: []ec2.Filter{{Name: sdk.String("instance-id"), Values: part}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func missParent(f cloud.Facts, err error, stoppedAt bool) {
	names := []string{"instance_state"}
	if stoppedAt {
		names = append(names, "instance_stopped_at")
	}
	NoteMissing(f, err, "ec2:DescribeInstances", names...)
}

// StopTime returns the time when an instance was stopped, Never if it is not stopped; false if AWS does not say.
func StopTime(i ec2.Instance) (time.Time, bool) {
	if NativeState(i) != string(ec2.InstanceStateNameStopped) {
		return cloud.Never, true
	}
	m := reasonTime.FindStringSubmatch(sdk.ToString(i.StateTransitionReason))
	if m == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.DateTime, m[1])
	return at.UTC(), err == nil
}

// reasonTime matches the time in "User initiated (2026-01-02 03:04:05 GMT)".
var reasonTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)
