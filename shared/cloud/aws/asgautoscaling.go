package aws

import (
	"context"
	"math"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
)

// cpuRule is a rule that keeps the average CPU at a percentage. Cooldown is in seconds; nil is what AWS takes then.
type cpuRule struct {
	Percent  float64 `json:"percent"`
	Cooldown *int32  `json:"cooldown,omitempty"`
}

// groupNative gives an Auto Scaling group back: its size, and our rule; nil when it had none of ours.
type groupNative struct {
	size
	Rule *cpuRule `json:"rule,omitempty"`
}

var _ cloud.Autoscaler = (*conn)(nil)

// scaledGroup is a group with its rules for the CPU.
type scaledGroup struct {
	group autoscaling.AutoScalingGroup
	ours  *cpuRule
	other *cpuRule // the customer's that asks for most
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

// take notes a policy that is for the CPU.
func (s *scaledGroup) take(p autoscaling.ScalingPolicy) {
	t := p.TargetTrackingConfiguration
	if t == nil || t.PredefinedMetricSpecification == nil ||
		t.PredefinedMetricSpecification.PredefinedMetricType != autoscaling.MetricTypeASGAverageCPUUtilization {
		return
	}
	rule := &cpuRule{sdk.ToFloat64(t.TargetValue), p.EstimatedInstanceWarmup}
	if sdk.ToString(p.PolicyName) == cloud.CPURule {
		s.ours = rule
	} else {
		s.other = strictest(s.other, rule)
	}
}

// strictest returns the rule with the lower percentage, which is the one that a group obeys.
func strictest(a, b *cpuRule) *cpuRule {
	if a == nil || b.Percent < a.Percent {
		return b
	}
	return a
}

// autoscalingOf puts a size and the rule in force into the words of this service.
func autoscalingOf(s size, ours, other *cpuRule) cloud.Autoscaling {
	out := cloud.Autoscaling{Min: int64(s.Min), Max: int64(s.Max), Desired: int64(s.Desired)}
	rule := ours
	if rule == nil {
		rule = other
	}
	if rule == nil {
		return out
	}
	out.TargetCPUPercent = sdk.Int64(int64(math.Round(rule.Percent)))
	if rule.Cooldown != nil {
		out.CooldownSeconds = sdk.Int64(int64(*rule.Cooldown))
	}
	return out
}

// ruleFor returns the rule of ours that is wanted: the one there is when none is, or when what the customer has does as well.
func ruleFor(want, live cloud.Autoscaling, ours *cpuRule) *cpuRule {
	if want.TargetCPUPercent == nil || want.IsMetBy(sizedAs(want, live)) {
		return ours
	}
	rule := &cpuRule{Percent: float64(*want.TargetCPUPercent)}
	switch {
	case want.CooldownSeconds != nil:
		rule.Cooldown = sdk.Int32(int32(*want.CooldownSeconds)) //nolint:gosec // checked
	case ours != nil:
		rule.Cooldown = ours.Cooldown
	}
	return rule
}

// sizedAs returns live with the sizes of want, so that only the rules are compared.
func sizedAs(want, live cloud.Autoscaling) cloud.Autoscaling {
	live.Min, live.Max, live.Desired = want.Min, want.Max, want.Desired
	return live
}

func sameRule(a, b *cpuRule) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := (a.Cooldown == nil) == (b.Cooldown == nil) && sdk.ToInt32(a.Cooldown) == sdk.ToInt32(b.Cooldown)
	return same && a.Percent == b.Percent //nolint:revive // both as they were stored
}

// wantedSize returns the sizes of a checked want.
func wantedSize(want cloud.Autoscaling) size {
	return size{int32(want.Min), int32(want.Max), int32(want.Desired)} //nolint:gosec // checked
}

func (s scaledGroup) autoscaling() cloud.Autoscaling {
	out := autoscalingOf(groupSize(s.group), s.ours, s.other)
	out.Native = encodeSnapshot(groupNative{groupSize(s.group), s.ours})
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
		return errUnsupported("belongs to EKS node group %s, which sets its size", n)
	}
	to, restore, err := decodeSnapshot[groupNative](want.Native)
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
		to = groupNative{wantedSize(want), ruleFor(want, s.autoscaling(), s.ours)}
	}
	return s.become(ctx, c, to)
}

// become sets what differs: all sizes in one call, then our rule.
func (s scaledGroup) become(ctx context.Context, c asgAPI, to groupNative) error {
	if groupSize(s.group) != to.size {
		if err := resize(ctx, c, s.group, to.size); err != nil {
			return err
		}
	}
	switch {
	case sameRule(s.ours, to.Rule):
		return nil
	case to.Rule == nil:
		_, err := c.DeletePolicy(ctx,
			&autoscaling.DeletePolicyInput{AutoScalingGroupName: s.group.AutoScalingGroupName,
				PolicyName: sdk.String(cloud.CPURule)})
		return err
	}
	_, err := c.PutScalingPolicy(ctx, &autoscaling.PutScalingPolicyInput{
		AutoScalingGroupName: s.group.AutoScalingGroupName, PolicyName: sdk.String(cloud.CPURule),
		PolicyType:              sdk.String("TargetTrackingScaling"),
		EstimatedInstanceWarmup: to.Rule.Cooldown, TargetTrackingConfiguration: &autoscaling.TargetTrackingConfiguration{
			TargetValue:                   &to.Rule.Percent,
			PredefinedMetricSpecification: &autoscaling.PredefinedMetricSpecification{PredefinedMetricType: autoscaling.MetricTypeASGAverageCPUUtilization},
		},
	})
	return err
}
