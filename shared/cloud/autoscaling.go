package cloud

import (
	"context"
	"encoding/json"
	"fmt"
)

// Autoscaling is how a provider scales a group of machines or pods: the bounds of its size, and the rule.
type Autoscaling struct {
	Min int64 `json:"min"`
	Max int64 `json:"max"`
	// Desired is the requested size of the group; for Azure and Kubernetes it is the present size.
	Desired int64 `json:"desired"`
	// TargetCPUPercent is the average CPU that the group is kept at. CooldownSeconds is the pause between two changes.
	// nil means that the group has none.
	TargetCPUPercent *int64 `json:"targetCPUPercent,omitempty"`
	CooldownSeconds  *int64 `json:"cooldownSeconds,omitempty"`
	// SizedByProvider reports that only the provider sets Desired: SetAutoscaling sets the bounds, and the provider
	// moves the size between them.
	SizedByProvider bool `json:"sizedByProvider,omitempty"`
	// Native is the rest of the scaling in the provider's terms. SetAutoscaling needs it to restore the scaling
	// exactly.
	Native json.RawMessage `json:"native,omitempty"`
	// KeepStopped is for SetAutoscaling with Native of a group that has 0 instances: it restores the bounds and rules,
	// and starts nothing.
	KeepStopped bool `json:"keepStopped,omitempty"`
}

// Autoscaler is a Conn of a provider with kinds that it scales by itself: aws-asg, aws-ecs, azure-vmss, gcp-mig and
// kubernetes-deployment.
type Autoscaler interface {
	// ReadAutoscaling returns how the resource is scaled now. A missing resource is class NotFound, a kind that is not
	// scaled Unsupported.
	ReadAutoscaling(ctx context.Context, kind, region, uid string) (Autoscaling, error)
	// SetAutoscaling sets the scaling, with one call where the provider has one. It makes no change if the scaling is
	// as wanted. With Native it restores the scaling that ReadAutoscaling returned. Without Native it adds a CPU rule
	// if there is none, and leaves the customer's other rules alone. Sizes that contradict each other are class
	// Invalid.
	SetAutoscaling(ctx context.Context, kind, region, uid string, want Autoscaling) error
}

// RunsNothing reports whether the group's requested size is 0 instances, as after a stop. Such a size is never
// recorded and never restored.
func (a Autoscaling) RunsNothing() bool { return a.Desired < 1 }

// CPURule is the name of the CPU rule that SetAutoscaling makes at providers that name rules. All rules with other
// names are the customer's.
const CPURule = "lamplighter-cpu"

// The bounds of the values that SetAutoscaling accepts.
const (
	maxInstances = 1_000_000
	maxCooldown  = 3600 // seconds: more than that Kubernetes does not take
)

// AutoscaledTypes returns the types of resources that an Autoscaler scales.
func AutoscaledTypes() []string {
	return []string{AWSASG, AWSECS, AzureVMSS, GCPMIG, KubernetesDeployment}
}

// Check returns an error of class Invalid that names the field when the sizes contradict each other, or the rule is
// none: the answers of providers to these differ, and some take them.
func (a Autoscaling) Check() error {
	switch {
	case a.Min < 0 || a.Max > maxInstances:
		return invalidAutoscaling("min and max must be from 0 to %d: min is %d, max is %d", maxInstances, a.Min, a.Max)
	case a.Min > a.Max:
		return invalidAutoscaling("min %d is above max %d: lower min or raise max", a.Min, a.Max)
	case a.Desired < a.Min || a.Desired > a.Max:
		return invalidAutoscaling("desired %d is not between min %d and max %d", a.Desired, a.Min, a.Max)
	}
	return a.checkRule()
}

func (a Autoscaling) checkRule() error {
	switch {
	case a.TargetCPUPercent != nil && (*a.TargetCPUPercent < 1 || *a.TargetCPUPercent > 100):
		return invalidAutoscaling("targetCPUPercent %d is not from 1 to 100", *a.TargetCPUPercent)
	case a.CooldownSeconds != nil && (*a.CooldownSeconds < 0 || *a.CooldownSeconds > maxCooldown):
		return invalidAutoscaling("cooldownSeconds %d is not from 0 to %d", *a.CooldownSeconds, maxCooldown)
	case a.CooldownSeconds != nil && a.TargetCPUPercent == nil:
		return invalidAutoscaling("cooldownSeconds %d is of a rule for the CPU: say its targetCPUPercent too",
			*a.CooldownSeconds)
	}
	return nil
}

func invalidAutoscaling(format string, args ...any) error {
	return &Error{Class: Invalid, Op: "SetAutoscaling", Message: fmt.Sprintf(format, args...)}
}

// IsMetBy reports whether the scaling live already meets a. A rule that a leaves out may have any value.
func (a Autoscaling) IsMetBy(live Autoscaling) bool {
	return a.Min == live.Min && a.Max == live.Max && a.Desired == live.Desired &&
		meetsOptional(a.TargetCPUPercent, live.TargetCPUPercent) &&
		meetsOptional(a.CooldownSeconds, live.CooldownSeconds)
}

func meetsOptional(want, live *int64) bool { return want == nil || live != nil && *live == *want }

// ReadAutoscaling returns the Conn's; class Unsupported when the Conn scales nothing.
func (d discreet) ReadAutoscaling(ctx context.Context, kind, region, uid string) (Autoscaling, error) {
	a, ok := d.conn.(Autoscaler)
	if !ok {
		return Autoscaling{}, notAutoscaled(kind)
	}
	got, err := a.ReadAutoscaling(ctx, kind, region, uid)
	return got, d.s.hide(err)
}

// SetAutoscaling returns the Conn's; class Unsupported when the Conn scales nothing.
func (d discreet) SetAutoscaling(ctx context.Context, kind, region, uid string, want Autoscaling) error {
	a, ok := d.conn.(Autoscaler)
	if !ok {
		return notAutoscaled(kind)
	}
	return d.s.hide(a.SetAutoscaling(ctx, kind, region, uid, want))
}

func notAutoscaled(kind string) error {
	return &Error{
		Class:   Unsupported,
		Message: fmt.Sprintf("resources of type %s are not scaled by this provider", kind),
	}
}

var _ Autoscaler = discreet{}
