// Package compute holds the kinds that compute: EC2 instances, Auto Scaling groups, functions, desktops, notebooks and
// the other services that run code or machines.
package compute

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// Instances are EC2 instances; the uid is the instance id. A stop is a plain stop, never a hibernation or a forced
// one: hibernation needs an instance that was launched for it and keeps its memory billed. The public IPv4 address
// changes unless it is an Elastic IP.
var Instances = resource.Kind[ec2API]{
	Kind: resource.CatalogueKind(cloud.AWSEC2),
	Needs: resource.Needs{
		Discover: []string{
			"ec2:DescribeInstances", "ec2:DescribeSpotInstanceRequests", "ec2:DescribeInstanceTypes",
			"ec2:DescribeInstanceStatus", "ec2:DescribeImages",
		},
		StartStop: []string{"ec2:StartInstances", "ec2:StopInstances", "ec2:DescribeInstanceStatus"},
	},
	Client: func(cfg sdk.Config) ec2API { return ec2.NewFromConfig(cfg) },
	List:   listInstances,
	Read:   readInstances,
	Verify: verifyInstances,
	Act:    actInstances,
	DryRun: dryRunInstances,

	Counted: map[cloud.Verb]string{cloud.Start: resource.StartedIDs, cloud.Stop: resource.StoppedIDs},
}

// ec2API is the subset of the EC2 API that is called here.
type ec2API interface {
	DescribeInstances(context.Context, *ec2.DescribeInstancesInput) (*ec2.DescribeInstancesOutput, error)
	DescribeInstanceStatus(context.Context, *ec2.DescribeInstanceStatusInput) (*ec2.DescribeInstanceStatusOutput, error)
	DescribeInstanceTypes(context.Context, *ec2.DescribeInstanceTypesInput) (*ec2.DescribeInstanceTypesOutput, error)
	DescribeImages(context.Context, *ec2.DescribeImagesInput) (*ec2.DescribeImagesOutput, error)
	DescribeSpotInstanceRequests(context.Context,
		*ec2.DescribeSpotInstanceRequestsInput) (*ec2.DescribeSpotInstanceRequestsOutput, error)
	StartInstances(context.Context, *ec2.StartInstancesInput) (*ec2.StartInstancesOutput, error)
	StopInstances(context.Context, *ec2.StopInstancesInput) (*ec2.StopInstancesOutput, error)
}

// listInstances leaves out terminated instances, and those about to be: AWS shows them for an hour, but they are gone.
func listInstances(ctx context.Context, c ec2API, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeInstances(ctx, &ec2.DescribeInstancesInput{
		MaxResults: sdk.Int32(1000),
		NextToken:  resource.OptionalString(page),
		Filters: []ec2.Filter{{
			Name: sdk.String("instance-state-name"), Values: []string{"pending", "running", "stopping", "stopped"},
		}},
	})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	found := resource.FlattenReservations(out)
	requests := spotRequests(ctx, c, found)
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, i := range found {
		r := instanceResource(*i)
		r.Unschedulable = tiedInstance(*i, requests)
		p.Resources = append(p.Resources, r)
	}
	askInstanceFacts(ctx, c, imagesOf(found), p.Resources)
	return p, nil
}

func instanceResource(i ec2.Instance) cloud.Resource {
	tags := map[string]string{}
	for _, t := range i.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	r := cloud.Resource{
		UID: sdk.ToString(i.InstanceId), Name: resource.NameOf(tags, sdk.ToString(i.InstanceId)), Tags: tags,
		Status: instanceStatus(i), InstanceType: string(i.InstanceType), CreatedAt: launched(i),
		Facts: instanceFacts(i),
	}
	if i.Placement != nil {
		r.Zone = sdk.ToString(i.Placement.AvailabilityZone)
	}
	if o := i.CpuOptions; o != nil {
		r.Capacity = map[string]int64{"vCPU": int64(sdk.ToInt32(o.CoreCount)) * int64(sdk.ToInt32(o.ThreadsPerCore))}
	}
	return r
}

// launched returns the creation time of the instance. LaunchTime is the time of the last start; the attach time of the
// oldest volume is better.
func launched(i ec2.Instance) time.Time {
	at := i.LaunchTime.Value()
	for _, d := range i.BlockDeviceMappings {
		if d.Ebs != nil && d.Ebs.AttachTime != nil && d.Ebs.AttachTime.Value().Before(at) {
			at = d.Ebs.AttachTime.Value()
		}
	}
	return at.UTC()
}

// readInstances asks for all ids at once. AWS refuses a batch with unknown ids; they are set aside.
func readInstances(ctx context.Context, c ec2API, uids []string) ([]cloud.State, error) {
	var found []*ec2.Instance
	errs := resource.IsolateBadIDs(uids, func(ids []string) error {
		out, err := describeAll(ctx, c, ids)
		found = append(found, out...)
		return err
	})
	for _, err := range errs {
		if err != nil && !absent(err) {
			return nil, err
		}
	}
	requests := spotRequests(ctx, c, found)
	states := make([]cloud.State, len(found))
	for n, i := range found {
		states[n] = cloud.State{
			UID: sdk.ToString(i.InstanceId), Status: instanceStatus(*i), Native: resource.NativeState(*i),
			Reason: instanceReason(*i), Unschedulable: tiedInstance(*i, requests),
			NoCapacity: i.StateReason != nil && resource.LacksCapacity(sdk.ToString(i.StateReason.Code)),
		}
	}
	return states, nil
}

// verifyInstances asks for the states alone. The answer is a tenth as large as a description of the instances.
func verifyInstances(ctx context.Context, c ec2API, uids []string) ([]cloud.State, error) {
	var states []cloud.State
	errs := resource.IsolateBadIDs(uids, func(ids []string) error {
		out, err := c.DescribeInstanceStatus(ctx,
			&ec2.DescribeInstanceStatusInput{InstanceIds: ids, IncludeAllInstances: sdk.Bool(true)})
		if err != nil {
			return err
		}
		for _, s := range out.InstanceStatuses {
			i := ec2.Instance{State: s.InstanceState}
			states = append(states,
				cloud.State{
					UID: sdk.ToString(s.InstanceId), Status: instanceStatus(i),
					Native: resource.NativeState(i),
				})
		}
		return nil
	})
	for _, err := range errs {
		if err != nil && !absent(err) {
			return nil, err
		}
	}
	return states, nil
}

// absent reports whether the error says that an id does not exist or has not even the form of an id.
func absent(err error) bool {
	return strings.HasPrefix(resource.CodeOf(err), "InvalidInstanceID")
}

func describeAll(ctx context.Context, c ec2API, ids []string) ([]*ec2.Instance, error) {
	var found []*ec2.Instance
	pages := wire.NewPages(c.DescribeInstances, &ec2.DescribeInstancesInput{InstanceIds: ids})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, resource.FlattenReservations(out)...)
	}
	return found, nil
}

func actInstances(ctx context.Context, c ec2API, v cloud.Verb, targets []cloud.Target) []error {
	return resource.IsolateBadIDs(uidsOf(targets), func(ids []string) error {
		if v == cloud.Start {
			_, err := c.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: ids})
			return err
		}
		_, err := c.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids})
		return err
	})
}

// dryRunInstances tries the action on an existing instance without doing it. AWS answers a permitted try with the
// error DryRunOperation.
func dryRunInstances(ctx context.Context, c ec2API, action string) error {
	out, err := c.DescribeInstances(ctx, &ec2.DescribeInstancesInput{MaxResults: sdk.Int32(5)})
	if err != nil {
		return err
	}
	all := resource.FlattenReservations(out)
	if len(all) == 0 {
		return resource.ErrNoneToTry
	}
	if action == "ec2:DescribeInstanceStatus" {
		_, err = c.DescribeInstanceStatus(ctx, &ec2.DescribeInstanceStatusInput{DryRun: sdk.Bool(true)})
		return dryRunError(err)
	}
	ids, dry := []string{sdk.ToString(all[0].InstanceId)}, sdk.Bool(true)
	if action == "ec2:StartInstances" {
		_, err = c.StartInstances(ctx, &ec2.StartInstancesInput{InstanceIds: ids, DryRun: dry})
	} else {
		_, err = c.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: ids, DryRun: dry})
	}
	return dryRunError(err)
}

func dryRunError(err error) error {
	if resource.CodeOf(err) == "DryRunOperation" {
		return nil
	}
	return err
}
