package containers

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/applicationautoscaling"
)

// serviceNative is the state to restore of a service: its count, its scalable target, nil when it had none, and our
// rule.
type serviceNative struct {
	Desired int32             `json:"desired"`
	Scaling *Scaling          `json:"scaling,omitempty"`
	Rule    *resource.CPURule `json:"rule,omitempty"`
}

// scaledService is a service with its rules for the CPU, and the number of the customer's rules.
type scaledService struct {
	live
	ours, other *resource.CPURule
	others      int
}

func readScaledService(ctx context.Context, c ecsClient, uid string) (scaledService, error) {
	l, err := readLive(ctx, c, uid)
	out := scaledService{live: l}
	if err != nil {
		return out, err
	}
	if reason := tiedService(l.service); reason != "" {
		return out, cloud.ErrUnsupported("%s", reason)
	}
	if l.scaling == nil {
		return out, nil
	}
	pages := wire.NewPages(c.scaling.DescribeScalingPolicies,
		&applicationautoscaling.DescribeScalingPoliciesInput{
			ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceId: &l.id,
			ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
			MaxResults:        sdk.Int32(50),
		})
	for pages.HasMorePages() {
		got, err := pages.NextPage(ctx)
		if err != nil {
			return out, err
		}
		for _, p := range got.ScalingPolicies {
			out.take(p)
		}
	}
	return out, nil
}

// take records a policy.
func (s *scaledService) take(p applicationautoscaling.ScalingPolicy) {
	ours := sdk.ToString(p.PolicyName) == cloud.CPURule
	if !ours {
		s.others++
	}
	t := p.TargetTrackingScalingPolicyConfiguration
	const averageCPU = applicationautoscaling.MetricTypeECSServiceAverageCPUUtilization
	if t == nil || t.PredefinedMetricSpecification == nil ||
		t.PredefinedMetricSpecification.PredefinedMetricType != averageCPU {
		return
	}
	rule := &resource.CPURule{Percent: sdk.ToFloat64(t.TargetValue), Cooldown: t.ScaleInCooldown}
	if ours {
		s.ours = rule
	} else {
		s.other = resource.StricterRule(s.other, rule)
	}
}

// size returns the bounds of the service's count. A service without scaling has its count as both bounds.
func (s scaledService) size() resource.Size {
	n := s.service.DesiredCount
	if s.scaling == nil {
		return resource.Size{Min: n, Max: n, Desired: n}
	}
	return resource.Size{Min: s.scaling.Min, Max: s.scaling.Max, Desired: n}
}

func (s scaledService) autoscaling() cloud.Autoscaling {
	out := resource.AutoscalingOf(s.size(), s.ours, s.other)
	out.Native = cloud.EncodeSnapshot(serviceNative{s.service.DesiredCount, s.scaling, s.ours})
	return out
}

func readServiceAutoscaling(ctx context.Context, c ecsClient, uid string) (cloud.Autoscaling, error) {
	s, err := readScaledService(ctx, c, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return s.autoscaling(), nil
}

func setServiceAutoscaling(ctx context.Context, c ecsClient, uid string, want cloud.Autoscaling) error {
	s, err := readScaledService(ctx, c, uid)
	if err != nil {
		return err
	}
	to, restore, err := cloud.DecodeSnapshot[serviceNative](want.Native, "size")
	if err != nil {
		return err
	}
	if restore && want.KeepStopped {
		to = s.keptStopped(to)
	}
	if restore {
		return s.become(ctx, c, to)
	}
	if err := want.Check(); err != nil {
		return err
	}
	desired := int32(want.Desired) //nolint:gosec // checked
	to = serviceNative{desired, s.scalingFor(want), resource.RuleFor(want, s.autoscaling(), s.ours)}
	return s.become(ctx, c, to)
}

// keptStopped returns the bounds and the rule of to, with the count that the service has now. Scaling is suspended, as
// a stop of ours leaves it, because a registered minimum would raise the count at once. The next start ends the
// suspension.
func (s scaledService) keptStopped(to serviceNative) serviceNative {
	if to.Desired = s.service.DesiredCount; to.Scaling != nil {
		to.Scaling = &Scaling{to.Scaling.Min, to.Scaling.Max, true, true, true}
	}
	return to
}

// scalingFor returns the scalable target for want. It returns nil for a service without one that is to keep one size
// without a rule.
func (s scaledService) scalingFor(want cloud.Autoscaling) *Scaling {
	var to Scaling
	switch {
	case s.scaling != nil:
		to = *s.scaling
	case want.TargetCPUPercent == nil && want.Min == want.Max:
		return nil
	}
	sizes := resource.WantedSize(want)
	to.Min, to.Max = sizes.Min, sizes.Max
	return &to
}

// become sets the values that differ: the bounds before the count, because they would pull it back, and the rule last,
// because it needs them.
func (s scaledService) become(ctx context.Context, c ecsClient, to serviceNative) error {
	if err := s.bound(ctx, c, to); err != nil {
		return err
	}
	if s.service.DesiredCount != to.Desired {
		if err := s.setCount(ctx, c, to.Desired); err != nil {
			return err
		}
	}
	return s.rule(ctx, c, to)
}

// bound registers the scalable target of to. It deletes one only if the customer has no rule in it, because then this
// service has made it.
func (s scaledService) bound(ctx context.Context, c ecsClient, to serviceNative) error {
	switch {
	case to.Scaling != nil && (s.scaling == nil || *s.scaling != *to.Scaling):
		return register(ctx, c.scaling, s.id, *to.Scaling)
	case to.Scaling == nil && s.scaling != nil && s.others == 0:
		_, err := c.scaling.DeregisterScalableTarget(ctx, &applicationautoscaling.DeregisterScalableTargetInput{
			ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceId: &s.id,
			ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
		})
		return err
	}
	return nil
}

// rule puts our rule, or deletes it if it was not deleted with its scalable target.
func (s scaledService) rule(ctx context.Context, c ecsClient, to serviceNative) error {
	gone := to.Scaling == nil && s.others == 0
	switch {
	case resource.SameRule(s.ours, to.Rule), to.Rule == nil && gone:
		return nil
	case to.Rule == nil:
		_, err := c.scaling.DeleteScalingPolicy(ctx, &applicationautoscaling.DeleteScalingPolicyInput{
			ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceId: &s.id,
			PolicyName:        sdk.String(cloud.CPURule),
			ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
		})
		return err
	}
	_, err := c.scaling.PutScalingPolicy(ctx, &applicationautoscaling.PutScalingPolicyInput{
		ServiceNamespace: applicationautoscaling.ServiceNamespaceEcs, ResourceId: &s.id,
		PolicyName:        sdk.String(cloud.CPURule),
		ScalableDimension: applicationautoscaling.ScalableDimensionECSServiceDesiredCount,
		PolicyType:        applicationautoscaling.PolicyTypeTargetTrackingScaling,
		TargetTrackingScalingPolicyConfiguration: &applicationautoscaling.TargetTrackingScalingPolicyConfiguration{
			TargetValue: &to.Rule.Percent, ScaleInCooldown: to.Rule.Cooldown, ScaleOutCooldown: to.Rule.Cooldown,
			PredefinedMetricSpecification: &applicationautoscaling.PredefinedMetricSpecification{
				PredefinedMetricType: applicationautoscaling.MetricTypeECSServiceAverageCPUUtilization,
			},
		},
	})
	return err
}
