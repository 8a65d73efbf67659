package aws

import (
	"context"
	"regexp"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// volumes are EBS volumes. The parent of one is the instance that it is attached to.
var volumes = source{
	name: "volumes", needs: []string{"ec2:DescribeVolumes", "ec2:DescribeInstances", "ec2:DescribeSnapshots"},
	list: listVolumes,
}

var volumeStatuses = map[ec2.VolumeState]cloud.Status{
	ec2.VolumeStateCreating: cloud.Pending, ec2.VolumeStateAvailable: cloud.Running,
	ec2.VolumeStateInUse:    cloud.Running,
	ec2.VolumeStateDeleting: cloud.Terminated, ec2.VolumeStateDeleted: cloud.Terminated,
}

func listVolumes(ctx context.Context, at place, page string) (cloud.ResourcePage, error) {
	api := ec2.NewFromConfig(at.cfg)
	out, err := api.DescribeVolumes(ctx,
		&ec2.DescribeVolumesInput{MaxResults: sdk.Int32(500), NextToken: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, v := range out.Volumes {
		p.Resources = append(p.Resources, volumeResource(at, v))
	}
	addInstanceStates(ctx, at, p.Resources, true)
	at.awaitSnapshots(ctx)
	addLastSnapshots(ctx, at, out.Volumes, p.Resources)
	return p, nil
}

func volumeResource(at place, v ec2.Volume) cloud.Resource {
	r := cloud.Resource{
		UID: at.arn("volume/" + sdk.ToString(v.VolumeId)), Type: "aws-ebs", Tags: ec2Tags(v.Tags),
		Zone:   sdk.ToString(v.AvailabilityZone),
		Status: nativeStatus(volumeStatuses, v.State), InstanceType: string(v.VolumeType),
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
	r.Name = nameOf(r.Tags, sdk.ToString(v.VolumeId))
	if len(v.Attachments) == 0 {
		r.Facts["unattached_since"] = cloud.Since{}
	} else {
		r.ParentUID = sdk.ToString(v.Attachments[0].InstanceId)
	}
	return r
}

// addLastSnapshots adds when the last snapshot of each volume was made: the epoch when there is none.
func addLastSnapshots(ctx context.Context, at place, all []ec2.Volume, found []cloud.Resource) {
	ids := make([]string, len(all))
	for i, v := range all {
		ids[i] = sdk.ToString(v.VolumeId)
	}
	last, err := at.seen.lastSnapshots(ctx, at, ids)
	if err != nil {
		missAll(found, err, "ec2:DescribeSnapshots", "last_snapshot_at")
		return
	}
	for i, id := range ids {
		found[i].Facts["last_snapshot_at"] = cloud.Epoch
		if made, ok := last[id]; ok {
			found[i].Facts["last_snapshot_at"] = made
		}
	}
}

// missAll notes of all resources that facts could not be read.
func missAll(found []cloud.Resource, err error, need string, names ...string) { //nolint:revive // as miss, of more
	for i := range found {
		miss(found[i].Facts, err, need, names...)
	}
}

// perFilter is how many values a filter of EC2 takes.
const perFilter = 200

// addInstanceStates adds the state of the instance that each resource is attached to, which is its parent, and where stoppedAt asks
// for it since when that is stopped. Where they may not be read the facts are left out.
func addInstanceStates(ctx context.Context, at place, found []cloud.Resource, stoppedAt bool) {
	err := describeParents(ctx, at, found)
	for i := range found {
		r := &found[i]
		if err != nil {
			missParent(r.Facts, err, stoppedAt)
			continue
		}
		parent, known := at.seen.instance(r.ParentUID)
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

// describeParents has the instances that are parents of resources seen, those that no listing has described.
func describeParents(ctx context.Context, at place, found []cloud.Resource) error {
	var ids []string
	for _, r := range found {
		if r.ParentUID != "" {
			ids = append(ids, r.ParentUID)
		}
	}
	slices.Sort(ids)
	api := ec2.NewFromConfig(at.cfg)
	for part := range slices.Chunk(at.seen.unseenInstances(slices.Compact(ids)), perFilter) {
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
	miss(f, err, "ec2:DescribeInstances", names...)
}

// stopTime returns when an instance was stopped, Never of one that is not; false when AWS does not say.
func stopTime(i ec2.Instance) (time.Time, bool) {
	if nativeState(i) != string(ec2.InstanceStateNameStopped) {
		return cloud.Never, true
	}
	m := reasonTime.FindStringSubmatch(sdk.ToString(i.StateTransitionReason))
	if m == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(time.DateTime, m[1])
	return at.UTC(), err == nil
}

// reasonTime is the time in "User initiated (2026-01-02 03:04:05 GMT)".
var reasonTime = regexp.MustCompile(`\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) GMT\)`)
