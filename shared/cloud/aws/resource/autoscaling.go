package resource

import (
	"math"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// CPURule is a rule that keeps the average CPU at a percentage. Cooldown is in seconds; nil is AWS's default.
type CPURule struct {
	Percent  float64 `json:"percent"`
	Cooldown *int32  `json:"cooldown,omitempty"`
}

// StricterRule returns the rule with the lower percentage, because a group follows that one.
func StricterRule(a, b *CPURule) *CPURule {
	if a == nil || b.Percent < a.Percent {
		return b
	}
	return a
}

// AutoscalingOf converts a size and the rule in force to a cloud.Autoscaling.
func AutoscalingOf(s Size, ours, other *CPURule) cloud.Autoscaling {
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

// RuleFor returns our rule as want needs it. It returns ours unchanged if want has no target, or if the live rules
// already meet it.
func RuleFor(want, live cloud.Autoscaling, ours *CPURule) *CPURule {
	if want.TargetCPUPercent == nil || want.IsMetBy(sizedAs(want, live)) {
		return ours
	}
	rule := &CPURule{Percent: float64(*want.TargetCPUPercent)}
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

// SameRule reports whether both rules are equal or both are nil.
func SameRule(a, b *CPURule) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := (a.Cooldown == nil) == (b.Cooldown == nil) && sdk.ToInt32(a.Cooldown) == sdk.ToInt32(b.Cooldown)
	return same && a.Percent == b.Percent
}

// WantedSize returns the sizes of want, which must be checked.
func WantedSize(want cloud.Autoscaling) Size {
	return Size{int32(want.Min), int32(want.Max), int32(want.Desired)} //nolint:gosec // checked
}
