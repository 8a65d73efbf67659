package containers

import (
	"context"
	"math"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/applicationautoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
)

// scalingAPI is the subset of the Application Auto Scaling API that is called here.
type scalingAPI interface {
	DescribeScalableTargets(context.Context,
		*applicationautoscaling.DescribeScalableTargetsInput) (*applicationautoscaling.DescribeScalableTargetsOutput,
		error)
	RegisterScalableTarget(context.Context,
		*applicationautoscaling.RegisterScalableTargetInput) (*applicationautoscaling.RegisterScalableTargetOutput,
		error)
	DeregisterScalableTarget(context.Context,
		*applicationautoscaling.DeregisterScalableTargetInput) (*applicationautoscaling.DeregisterScalableTargetOutput,
		error)
	DescribeScalingPolicies(context.Context,
		*applicationautoscaling.DescribeScalingPoliciesInput) (*applicationautoscaling.DescribeScalingPoliciesOutput,
		error)
	PutScalingPolicy(context.Context,
		*applicationautoscaling.PutScalingPolicyInput) (*applicationautoscaling.PutScalingPolicyOutput, error)
	DeleteScalingPolicy(context.Context,
		*applicationautoscaling.DeleteScalingPolicyInput) (*applicationautoscaling.DeleteScalingPolicyOutput, error)
}

// Scaling is the bounds of a service's scaling, and its suspended parts.
type Scaling struct {
	Min       int32 `json:"min"`
	Max       int32 `json:"max"`
	In        bool  `json:"inSuspended"`
	Out       bool  `json:"outSuspended"`
	Scheduled bool  `json:"scheduledSuspended"`
}

// resourceID returns the name of a service in Application Auto Scaling.
func resourceID(s ecs.Service) string {
	cluster, name, _ := SplitServiceUID(longARN(sdk.ToString(s.ServiceArn), sdk.ToString(s.ClusterArn)))
	return "service/" + cluster + "/" + name
}

func resourceIDs(list []ecs.Service) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = resourceID(s)
	}
	return ids
}

// describeScaling returns the scaling of the services by resource ID; services without scaling are missing.
func describeScaling(ctx context.Context, c scalingAPI, ids []string) (map[string]*Scaling, error) {
	found := map[string]*Scaling{}
	if len(ids) == 0 {
		return found, nil // no ids would mean all
	}
	out, err := c.DescribeScalableTargets(ctx, &applicationautoscaling.DescribeScalableTargetsInput{
		ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceIds: ids,
		ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
	})
	if err != nil {
		return nil, err
	}
	for _, t := range out.ScalableTargets {
		s := &Scaling{Min: sdk.ToInt32(t.MinCapacity), Max: sdk.ToInt32(t.MaxCapacity)}
		if u := t.SuspendedState; u != nil {
			s.In, s.Out = sdk.ToBool(u.DynamicScalingInSuspended), sdk.ToBool(u.DynamicScalingOutSuspended)
			s.Scheduled = sdk.ToBool(u.ScheduledScalingSuspended)
		}
		found[sdk.ToString(t.ResourceId)] = s
	}
	return found, nil
}

func register(ctx context.Context, c scalingAPI, id string, s Scaling) error {
	_, err := c.RegisterScalableTarget(ctx, &applicationautoscaling.RegisterScalableTargetInput{
		ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceId: &id,
		ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
		MinCapacity:       &s.Min, MaxCapacity: &s.Max,
		SuspendedState: &applicationautoscaling.SuspendedState{
			DynamicScalingInSuspended: &s.In, DynamicScalingOutSuspended: &s.Out,
			ScheduledScalingSuspended: &s.Scheduled,
		},
	})
	return err
}

// live is the current state of a service, with its scaling.
type live struct {
	id            string
	cluster, name string
	service       ecs.Service
	scaling       *Scaling
}

func readLive(ctx context.Context, c ecsClient, uid string) (live, error) {
	l := live{}
	var ok bool
	if l.cluster, l.name, ok = SplitServiceUID(uid); !ok {
		return l, cloud.ErrNotFound("%q is not the ARN of an ECS service", uid)
	}
	l.id = "service/" + l.cluster + "/" + l.name
	list, err := describeServices(ctx, c, l.cluster, []string{l.name})
	if err != nil {
		return l, err
	}
	if len(list) == 0 || serviceStatus(list[0]) == cloud.Terminated {
		return l, cloud.ErrNotFound("there is no ECS service %s", strings.TrimPrefix(l.id, "service/"))
	}
	l.service = list[0]
	scalings, err := describeScaling(ctx, c.scaling, []string{l.id})
	l.scaling = scalings[l.id]
	return l, err
}

func actService(ctx context.Context, c ecsClient, v cloud.Verb, t cloud.Target) error {
	l, err := readLive(ctx, c, t.UID)
	if err != nil {
		return err
	}
	if v == cloud.Stop {
		return l.stop(ctx, c)
	}
	return l.start(ctx, c, t)
}

// stop suspends all scaling before it sets the count. In the reverse order, scaling could raise the count in between.
func (l live) stop(ctx context.Context, c ecsClient) error {
	if reason := tiedService(l.service); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	if s := l.scaling; s != nil {
		if err := register(ctx, c.scaling, l.id, Scaling{s.Min, s.Max, true, true, true}); err != nil {
			return err
		}
	}
	return l.setCount(ctx, c, 0)
}

// start restores the former scaling and count.
func (l live) start(ctx context.Context, c ecsClient, t cloud.Target) error {
	m, ok, err := cloud.DecodeSnapshot[serviceMemory](t.Snapshot, "size")
	if err != nil {
		return err
	}
	if !ok || m.Made != 0 && m.Made != madeAt(l.service) { // it was made again since the stop
		m = serviceMemory{Desired: l.minimum()}
	}
	if m.Scaling != nil && l.scaling != nil {
		if was := m.Scaling.ChangedTo(*l.scaling); was != *l.scaling {
			if err := register(ctx, c.scaling, l.id, was); err != nil {
				return err
			}
		}
	}
	if l.service.DesiredCount > 0 {
		return nil // somebody has started it
	}
	if m.Desired == 0 {
		return cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(l.name))
	}
	return l.setCount(ctx, c, m.Desired)
}

// ChangedTo returns the scaling that a start restores. A stop leaves the bounds as they are and suspends all parts.
// Bounds that differ, and parts that are no longer suspended, were changed since the stop and stay as they are.
func (s Scaling) ChangedTo(live Scaling) Scaling {
	return Scaling{live.Min, live.Max, s.In && live.In, s.Out && live.Out, s.Scheduled && live.Scheduled}
}

// minimum returns the minimum of the service's scaling; 0 without scaling.
func (l live) minimum() int32 {
	if l.scaling != nil {
		return l.scaling.Min
	}
	return 0
}

func (l live) setCount(ctx context.Context, c ecsAPI, n int32) error {
	_, err := c.UpdateService(ctx, &ecs.UpdateServiceInput{Cluster: &l.cluster, Service: &l.name, DesiredCount: &n})
	return err
}

// scaleService sets the count, and the bounds of the scaling where there is one.
func scaleService(ctx context.Context, c ecsClient, uid string, want cloud.Capacity) error {
	l, err := readLive(ctx, c, uid)
	if err != nil {
		return err
	}
	s := resource.Size{Desired: l.service.DesiredCount, Max: math.MaxInt32}
	if l.scaling != nil {
		s.Min, s.Max = l.scaling.Min, l.scaling.Max
	}
	if s, err = s.WithCapacity(want); err != nil {
		return err
	}
	if err := l.setBounds(ctx, c, s, want); err != nil || want.Desired == nil {
		return err
	}
	return l.setCount(ctx, c, s.Desired)
}

func (l live) setBounds(ctx context.Context, c ecsClient, s resource.Size, want cloud.Capacity) error {
	switch {
	case want.Min == nil && want.Max == nil:
		return nil
	case l.scaling == nil:
		return cloud.ErrUnsupported("nothing scales the service %s: only its desired count can be set", l.name)
	}
	b := *l.scaling
	b.Min, b.Max = s.Min, s.Max
	return register(ctx, c.scaling, l.id, b)
}
