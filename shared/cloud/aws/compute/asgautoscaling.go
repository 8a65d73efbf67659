package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
)

// groupNative is the state to restore of an Auto Scaling group: its size, and our rule, which is nil if it had none.
type groupNative struct {
	resource.Size
	Rule *resource.CPURule `json:"rule,omitempty"`
}

// scaledGroup is a group with its rules for the CPU.
type scaledGroup struct {
	group autoscaling.AutoScalingGroup
	ours  *resource.CPURule
	other *resource.CPURule // the strictest rule of the customer's
}

func readScaledGroup(ctx context.Context, c asgAPI, uid string) (scaledGroup, error) {
	g, err := describeGroup(ctx, c, uid)
	if err != nil {
		return scaledGroup{}, err
	}
	out := scaledGroup{group: g}
	pages := wire.NewPages(c.DescribePolicies, &autoscaling.DescribePoliciesInput{
		AutoScalingGroupName: g.AutoScalingGroupName, PolicyTypes: []string{"TargetTrackingScaling"},
		MaxRecords: sdk.Int32(100),
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

// take records a policy for the CPU.
func (s *scaledGroup) take(p autoscaling.ScalingPolicy) {
	t := p.TargetTrackingConfiguration
	if t == nil || t.PredefinedMetricSpecification == nil ||
		t.PredefinedMetricSpecification.PredefinedMetricType != autoscaling.MetricTypeASGAverageCPUUtilization {
		return
	}
	rule := &resource.CPURule{Percent: sdk.ToFloat64(t.TargetValue), Cooldown: p.EstimatedInstanceWarmup}
	if sdk.ToString(p.PolicyName) == cloud.CPURule {
		s.ours = rule
	} else {
		s.other = resource.StricterRule(s.other, rule)
	}
}

func (s scaledGroup) autoscaling() cloud.Autoscaling {
	out := resource.AutoscalingOf(groupSize(s.group), s.ours, s.other)
	out.Native = cloud.EncodeSnapshot(groupNative{groupSize(s.group), s.ours})
	return out
}

func readGroupAutoscaling(ctx context.Context, c asgAPI, uid string) (cloud.Autoscaling, error) {
	s, err := readScaledGroup(ctx, c, uid)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return s.autoscaling(), nil
}

func setGroupAutoscaling(ctx context.Context, c asgAPI, uid string, want cloud.Autoscaling) error {
	s, err := readScaledGroup(ctx, c, uid)
	if err != nil {
		return err
	}
	if n := groupTags(s.group)["eks:nodegroup-name"]; n != "" {
		return cloud.ErrUnsupported("belongs to EKS node group %s, which sets its size", n)
	}
	to, restore, err := cloud.DecodeSnapshot[groupNative](want.Native, "size")
	if err != nil {
		return err
	}
	if restore && want.KeepStopped {
		return nil // the bounds of a stopped group are 0; its start restores them
	}
	if !restore {
		if err := want.Check(); err != nil {
			return err
		}
		to = groupNative{resource.WantedSize(want), resource.RuleFor(want, s.autoscaling(), s.ours)}
	}
	return s.become(ctx, c, to)
}

// become sets the values that differ: all sizes in one call, then our rule.
func (s scaledGroup) become(ctx context.Context, c asgAPI, to groupNative) error {
	if groupSize(s.group) != to.Size {
		if err := resize(ctx, c, s.group, to.Size); err != nil {
			return err
		}
	}
	switch {
	case resource.SameRule(s.ours, to.Rule):
		return nil
	case to.Rule == nil:
		_, err := c.DeletePolicy(ctx,
			&autoscaling.DeletePolicyInput{
				AutoScalingGroupName: s.group.AutoScalingGroupName,
				PolicyName:           sdk.String(cloud.CPURule),
			})
		return err
	}
	_, err := c.PutScalingPolicy(ctx, &autoscaling.PutScalingPolicyInput{
		AutoScalingGroupName: s.group.AutoScalingGroupName, PolicyName: sdk.String(cloud.CPURule),
		PolicyType:              sdk.String("TargetTrackingScaling"),
		EstimatedInstanceWarmup: to.Rule.Cooldown,
		TargetTrackingConfiguration: &autoscaling.TargetTrackingConfiguration{
			TargetValue: &to.Rule.Percent,
			PredefinedMetricSpecification: &autoscaling.PredefinedMetricSpecification{
				PredefinedMetricType: autoscaling.MetricTypeASGAverageCPUUtilization,
			},
		},
	})
	return err
}
