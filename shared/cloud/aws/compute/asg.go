package compute

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
)

// Groups are Auto Scaling groups. The uid is the ARN; a new group with the same name has another ARN. A stop suspends
// the processes that would raise the group again, and sets its size to 0/0/0. A start resumes them, except those that
// the customer had suspended, and restores the size. The suspension comes first both ways, so that after a crash
// between the two calls the act is done again.
var Groups = resource.Kind[asgAPI]{
	Kind: resource.CatalogueKind(cloud.AWSASG),
	Needs: resource.Needs{
		Discover: []string{"autoscaling:DescribeAutoScalingGroups", "autoscaling:DescribePolicies"},
		StartStop: []string{
			"autoscaling:UpdateAutoScalingGroup", "autoscaling:SuspendProcesses",
			"autoscaling:ResumeProcesses",
		},
		Scale: []string{
			"autoscaling:UpdateAutoScalingGroup", "autoscaling:PutScalingPolicy",
			"autoscaling:DeletePolicy",
		},
	},
	Client: func(cfg sdk.Config) asgAPI { return autoscaling.NewFromConfig(cfg) },
	List:   listGroups,
	Read:   readGroups,
	Act:    resource.ActOneByOne(actGroup),
	Scale:  scaleGroup,

	ReadAutoscaling: readGroupAutoscaling,
	SetAutoscaling:  setGroupAutoscaling,
}

// asgAPI is the subset of the Auto Scaling API that is called here.
type asgAPI interface {
	DescribeAutoScalingGroups(context.Context,
		*autoscaling.DescribeAutoScalingGroupsInput) (*autoscaling.DescribeAutoScalingGroupsOutput, error)
	DescribePolicies(context.Context, *autoscaling.DescribePoliciesInput) (*autoscaling.DescribePoliciesOutput, error)
	UpdateAutoScalingGroup(context.Context,
		*autoscaling.UpdateAutoScalingGroupInput) (*autoscaling.UpdateAutoScalingGroupOutput, error)
	SuspendProcesses(context.Context, *autoscaling.SuspendProcessesInput) (*autoscaling.SuspendProcessesOutput, error)
	ResumeProcesses(context.Context, *autoscaling.ResumeProcessesInput) (*autoscaling.ResumeProcessesOutput, error)
	PutScalingPolicy(context.Context, *autoscaling.PutScalingPolicyInput) (*autoscaling.PutScalingPolicyOutput, error)
	DeletePolicy(context.Context, *autoscaling.DeletePolicyInput) (*autoscaling.DeletePolicyOutput, error)
}

// raisers are the processes that would give a stopped group instances again.
var raisers = []string{"AlarmNotification", "ScheduledActions"}

// groupMemory is the state that a stop loses. Suspended are the processes that the customer had suspended.
type groupMemory struct {
	resource.Size
	Suspended []string `json:"suspended"`
}

// GroupName returns the name of the Auto Scaling group in the ARN; "" for another ARN.
func GroupName(uid string) string {
	_, name, _ := strings.Cut(resource.NameIn(uid, "autoscaling", "autoScalingGroup:"), "autoScalingGroupName/")
	return name
}

func listGroups(ctx context.Context, c asgAPI, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeAutoScalingGroups(ctx,
		&autoscaling.DescribeAutoScalingGroupsInput{
			MaxRecords: sdk.Int32(100),
			NextToken:  resource.OptionalString(page),
		})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.NextToken)}
	for _, g := range out.AutoScalingGroups {
		p.Resources = append(p.Resources, groupResource(g))
	}
	askPolicies(ctx, c, p.Resources)
	return p, nil
}

func groupResource(g autoscaling.AutoScalingGroup) cloud.Resource {
	r := cloud.Resource{
		UID: sdk.ToString(g.AutoScalingGroupARN), Name: sdk.ToString(g.AutoScalingGroupName),
		Status: groupStatus(g), Capacity: groupSize(g).CapacityMap(), Tags: groupTags(g),
		Unschedulable: tiedGroup(g), CreatedAt: g.CreatedTime.Value().UTC(), Facts: groupFacts(g),
	}
	r.Capacity["inService"] = int64(inService(g))
	if len(g.Instances) > 0 {
		r.InstanceType = sdk.ToString(g.Instances[0].InstanceType)
	}
	return r
}

func groupTags(g autoscaling.AutoScalingGroup) map[string]string {
	tags := map[string]string{}
	for _, t := range g.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return tags
}

func groupSize(g autoscaling.AutoScalingGroup) resource.Size {
	return resource.SizeOf(g.MinSize, g.MaxSize, g.DesiredCapacity)
}

func inService(g autoscaling.AutoScalingGroup) int32 {
	return resource.CountIf(g.Instances, func(i autoscaling.Instance) bool {
		return i.LifecycleState == autoscaling.LifecycleStateInService
	})
}

// groupStatus returns the group's status from its instances. Those of its warm pool are billed too, so the group is
// not Stopped before they are gone.
func groupStatus(g autoscaling.AutoScalingGroup) cloud.Status {
	desired := sdk.ToInt32(g.DesiredCapacity)
	switch {
	case sdk.ToString(g.Status) != "": // only a group that is being deleted has one
		return cloud.Terminated
	case desired == 0 && len(g.Instances) == 0 && sdk.ToInt32(g.WarmPoolSize) == 0:
		return cloud.Stopped
	case desired == 0:
		return cloud.Stopping
	case inService(g) >= desired:
		return cloud.Running
	default:
		return cloud.Starting
	}
}

// groupReason returns the reason why a group has not reached its size yet.
func groupReason(g autoscaling.AutoScalingGroup) string {
	switch groupStatus(g) {
	case cloud.Starting:
		return fmt.Sprintf("%d of %d instances are in service", inService(g), sdk.ToInt32(g.DesiredCapacity))
	case cloud.Stopping:
		return fmt.Sprintf("%d instances and %d in the warm pool are left%s", len(g.Instances),
			sdk.ToInt32(g.WarmPoolSize), held(g))
	default:
		return sdk.ToString(g.Status)
	}
}

// held returns the first instance that the group cannot terminate: protected, standing by, or held by a lifecycle
// hook.
func held(g autoscaling.AutoScalingGroup) string {
	for _, i := range g.Instances {
		switch id := sdk.ToString(i.InstanceId); {
		case sdk.ToBool(i.ProtectedFromScaleIn):
			return ": " + id + " is protected from scale-in"
		case i.LifecycleState == autoscaling.LifecycleStateStandby,
			i.LifecycleState == autoscaling.LifecycleStateTerminatingWait:
			return ": " + id + " is in " + string(i.LifecycleState)
		}
	}
	return ""
}

// tiedGroup returns the reason why a group must not be stopped by itself, or "".
func tiedGroup(g autoscaling.AutoScalingGroup) string {
	if n := groupTags(g)["eks:nodegroup-name"]; n != "" {
		return "belongs to EKS node group " + n + ": act on the node group"
	}
	w := g.WarmPoolConfiguration
	if w != nil && (sdk.ToInt32(w.MinSize) > 0 || sdk.ToInt32(w.MaxGroupPreparedCapacity) > 0) {
		return "its warm pool has a size of its own, which stays billed at 0 instances: remove the warm pool's " +
			"minimum and prepared capacity"
	}
	return ""
}

func readGroups(ctx context.Context, c asgAPI, uids []string) ([]cloud.State, error) {
	found, err := describeGroups(ctx, c, resource.NamesIn(uids, GroupName))
	if err != nil {
		return nil, err
	}
	states := make([]cloud.State, len(found))
	for i, g := range found {
		states[i] = groupState(g)
	}
	return states, nil
}

// describeGroups returns the groups whose names and ARNs are as in names.
func describeGroups(ctx context.Context, c asgAPI, names map[string]string) ([]autoscaling.AutoScalingGroup, error) {
	if len(names) == 0 {
		return nil, nil // no names would mean all groups
	}
	out, err := c.DescribeAutoScalingGroups(ctx, &autoscaling.DescribeAutoScalingGroupsInput{
		MaxRecords: sdk.Int32(100), AutoScalingGroupNames: slices.Sorted(maps.Keys(names)),
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(out.AutoScalingGroups, func(g autoscaling.AutoScalingGroup) bool {
		return names[sdk.ToString(g.AutoScalingGroupName)] != sdk.ToString(g.AutoScalingGroupARN)
	}), nil
}

func groupState(g autoscaling.AutoScalingGroup) cloud.State {
	s := cloud.State{
		UID: sdk.ToString(g.AutoScalingGroupARN), Status: groupStatus(g), Reason: groupReason(g),
		Unschedulable: tiedGroup(g),
		Native: fmt.Sprintf("min %d, max %d, desired %d", sdk.ToInt32(g.MinSize), sdk.ToInt32(g.MaxSize),
			sdk.ToInt32(g.DesiredCapacity)),
	}
	if sdk.ToInt32(g.DesiredCapacity) > 0 {
		s.Snapshot = cloud.EncodeSnapshot(groupMemory{groupSize(g), suspended(g)})
	}
	return s
}

func suspended(g autoscaling.AutoScalingGroup) []string {
	names := []string{}
	for _, p := range g.SuspendedProcesses {
		names = append(names, sdk.ToString(p.ProcessName))
	}
	slices.Sort(names)
	return names
}

func actGroup(ctx context.Context, c asgAPI, v cloud.Verb, t cloud.Target) error {
	g, err := describeGroup(ctx, c, t.UID)
	if err != nil {
		return err
	}
	if v == cloud.Stop {
		return stopGroup(ctx, c, g)
	}
	return startGroup(ctx, c, g, t)
}

func describeGroup(ctx context.Context, c asgAPI, uid string) (autoscaling.AutoScalingGroup, error) {
	found, err := describeGroups(ctx, c, resource.NamesIn([]string{uid}, GroupName))
	if err != nil {
		return autoscaling.AutoScalingGroup{}, err
	}
	if len(found) == 0 {
		return autoscaling.AutoScalingGroup{}, cloud.ErrNotFound("there is no Auto Scaling group %s", uid)
	}
	return found[0], nil
}

func stopGroup(ctx context.Context, c asgAPI, g autoscaling.AutoScalingGroup) error {
	_, err := c.SuspendProcesses(ctx,
		&autoscaling.SuspendProcessesInput{AutoScalingGroupName: g.AutoScalingGroupName, ScalingProcesses: raisers})
	if err != nil {
		return err
	}
	return resize(ctx, c, g, resource.Size{})
}

func startGroup(ctx context.Context, c asgAPI, g autoscaling.AutoScalingGroup, t cloud.Target) error {
	m, ok, err := cloud.DecodeSnapshot[groupMemory](t.Snapshot, "size")
	if err != nil {
		return err
	}
	if !ok { // stopped outside of this service, with all its suspensions
		m.Suspended = suspended(g)
		if m.Size, err = groupSize(g).OrUnknown(sdk.ToString(g.AutoScalingGroupName)); err != nil {
			return err
		}
	}
	if err := resume(ctx, c, g, m.Suspended); err != nil {
		return err
	}
	if to := m.ChangedTo(groupSize(g)); to != groupSize(g) {
		return resize(ctx, c, g, to)
	}
	return nil
}

// resume resumes the processes that the stop suspended, but not those in before, which were suspended earlier.
func resume(ctx context.Context, c asgAPI, g autoscaling.AutoScalingGroup, before []string) error {
	now := suspended(g)
	ours := slices.DeleteFunc(slices.Clone(raisers), func(p string) bool {
		return slices.Contains(before, p) || !slices.Contains(now, p)
	})
	if len(ours) == 0 {
		return nil // no names would mean all processes
	}
	_, err := c.ResumeProcesses(ctx,
		&autoscaling.ResumeProcessesInput{AutoScalingGroupName: g.AutoScalingGroupName, ScalingProcesses: ours})
	return err
}

func resize(ctx context.Context, c asgAPI, g autoscaling.AutoScalingGroup, s resource.Size) error {
	_, err := c.UpdateAutoScalingGroup(ctx, &autoscaling.UpdateAutoScalingGroupInput{
		AutoScalingGroupName: g.AutoScalingGroupName, MinSize: &s.Min, MaxSize: &s.Max, DesiredCapacity: &s.Desired,
	})
	return err
}

func scaleGroup(ctx context.Context, c asgAPI, uid string, want cloud.Capacity) error {
	g, err := describeGroup(ctx, c, uid)
	if err != nil {
		return err
	}
	s, err := groupSize(g).WithCapacity(want)
	if err != nil {
		return err
	}
	return resize(ctx, c, g, s)
}
