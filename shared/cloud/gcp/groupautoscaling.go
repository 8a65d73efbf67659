package gcp

import (
	"context"
	"math"
	"strings"

	"github.com/google/uuid"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

const (
	// madeHere begins the description of the autoscalers that were made here.
	madeHere = "made by lamplighter"
	// usualUtilization is Google's default target of the CPU rule.
	usualUtilization = 0.6
)

// groupNative is the state to restore of a group: its size if it has no autoscaler, else its autoscaler.
type groupNative struct {
	Size   int64         `json:"size,omitempty"`
	Scaler *scalerNative `json:"scaler,omitempty"`
}

// scalerNative is the part of an autoscaler that is changed here, as it was before.
type scalerNative struct {
	Name     string                     `json:"name"`
	Min      int64                      `json:"min"`
	Max      int64                      `json:"max"`
	Mode     string                     `json:"mode,omitempty"`
	CPU      *googlerest.CPUUtilization `json:"cpu,omitempty"`
	Cooldown int64                      `json:"cooldown"`
}

func (g group) nativeScaling() groupNative {
	out := groupNative{}
	if g.sizedByHand() {
		out.Size = g.TargetSize
	}
	if p := g.policy(); p != nil {
		out.Scaler = &scalerNative{
			g.scaler.Name, p.MinNumReplicas, p.MaxNumReplicas, p.Mode, p.CPUUtilization,
			p.CoolDownPeriodSec,
		}
	}
	return out
}

// sizedByHand reports whether the size of a group may be set: while an autoscaler is on, it sets it.
func (g group) sizedByHand() bool { return g.policy() == nil || g.mode() == modeOff }

// autoscaling returns the scaling of the group. A group without an autoscaler has its size as minimum, maximum and
// desired size.
func (g group) autoscaling() cloud.Autoscaling {
	out := cloud.Autoscaling{
		Min: g.TargetSize, Max: g.TargetSize, Desired: g.TargetSize,
		SizedByProvider: !g.sizedByHand(),
	}
	if p := g.policy(); p != nil {
		out.Min, out.Max = p.MinNumReplicas, p.MaxNumReplicas
		if p.CPUUtilization != nil {
			percent := int64(math.Round(float64(p.CPUUtilization.UtilizationTarget) * 100))
			out.TargetCPUPercent, out.CooldownSeconds = &percent, &p.CoolDownPeriodSec
		}
	}
	out.Native = cloud.EncodeSnapshot(g.nativeScaling())
	return out
}

func readGroupAutoscaling(ctx context.Context, p place, r ref) (cloud.Autoscaling, error) {
	g, err := getGroup(ctx, p, r)
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	return g.autoscaling(), nil
}

// setGroupAutoscaling changes the autoscaler of a group in one call, or makes one. It sets the size only if no
// autoscaler does.
func setGroupAutoscaling(ctx context.Context, p place, r ref, want cloud.Autoscaling) error {
	g, err := getGroup(ctx, p, r)
	if err != nil {
		return err
	}
	if reason := tiedGroup(g.InstanceGroupManager); reason != "" {
		return cloud.ErrUnsupported("%s", reason)
	}
	to, restore, err := cloud.DecodeSnapshot[groupNative](want.Native, "state")
	if err != nil {
		return err
	}
	if !restore {
		if err := want.Check(); err != nil {
			return err
		}
		to = g.wantedScaling(want)
	}
	if want.KeepStopped {
		to.Size = 0 // the size is not set; the mode of the autoscaler is its start's to restore
	}
	return g.applyScaling(ctx, p, to)
}

// wantedScaling returns the scaling that want asks for. A group without an autoscaler gets none if it is to keep one
// size without a rule.
func (g group) wantedScaling(want cloud.Autoscaling) groupNative {
	to := g.nativeScaling()
	if to.Scaler == nil && want.TargetCPUPercent == nil && want.Min == want.Max {
		return groupNative{Size: want.Desired}
	}
	if to.Scaler == nil {
		to = groupNative{Scaler: &scalerNative{
			Name: g.Name, Mode: modeOn,
			CPU: &googlerest.CPUUtilization{UtilizationTarget: usualUtilization}, Cooldown: 60,
		}}
	}
	if to.Size > 0 {
		to.Size = want.Desired
	}
	s := to.Scaler
	s.Min, s.Max = want.Min, want.Max
	if want.TargetCPUPercent != nil {
		cpu := googlerest.CPUUtilization{}
		if s.CPU != nil {
			cpu = *s.CPU
		}
		cpu.UtilizationTarget = googlerest.Float(*want.TargetCPUPercent) / 100
		s.CPU = &cpu
	}
	if want.CooldownSeconds != nil {
		s.Cooldown = *want.CooldownSeconds
	}
	return to
}

// applyScaling applies the differences. It sets the autoscaler first, because Google refuses to set the size while an
// autoscaler is on.
func (g group) applyScaling(ctx context.Context, p place, to groupNative) error {
	if to.Scaler == nil && g.policy() != nil && !g.scalerIsOurs() {
		return nil // of the customer's, that has come since: it stays, and sets the size
	}
	if request := g.scalerRequest(p, to.Scaler); request != nil {
		if err := awaitOperation(ctx, p, g.ref, request); err != nil {
			return err
		}
	}
	if to.Size == 0 || to.Size == g.TargetSize {
		return nil
	}
	return awaitOperation(ctx, p, g.ref, resizeRequest(p, g.ref, to.Size))
}

// scalerRequest returns the request that gives a group the wanted autoscaler, or none for nil; nil when the group has
// it already.
func (g group) scalerRequest(p place, to *scalerNative) *googlerest.Request {
	now := g.nativeScaling().Scaler
	switch {
	case to == nil && now == nil, to != nil && now != nil && to.same(*now):
		return nil
	case to == nil:
		return g.deleteScaler(p)
	case now == nil:
		return g.insertScaler(p, *to)
	}
	return g.patchScaler(p, to.change())
}

func (g group) scalerIsOurs() bool { return strings.HasPrefix(g.scaler.Description, madeHere) }

// same reports whether the bounds, the cooldown and the CPU rule are equal. It ignores the name and the mode, which
// are not changed.
func (s scalerNative) same(t scalerNative) bool {
	if (s.CPU == nil) != (t.CPU == nil) || s.Min != t.Min || s.Max != t.Max || s.Cooldown != t.Cooldown {
		return false
	}
	return s.CPU == nil || s.CPU.UtilizationTarget == t.CPU.UtilizationTarget &&
		s.CPU.PredictiveMethod == t.CPU.PredictiveMethod
}

// change returns the change that gives an autoscaler the bounds and the rule of s. All other fields stay.
func (s scalerNative) change() googlerest.AutoscalerChange {
	return googlerest.AutoscalerChange{AutoscalingPolicy: googlerest.AutoscalingPolicyChange{
		MinNumReplicas: &s.Min, MaxNumReplicas: &s.Max, CoolDownPeriodSec: &s.Cooldown, CPUUtilization: &s.CPU,
	}}
}

func (g group) insertScaler(p place, s scalerNative) *googlerest.Request {
	a, description := s.change(), madeHere
	a.Name, a.Target, a.Description, a.AutoscalingPolicy.Mode = s.Name, g.SelfLink, &description, s.Mode
	if s.CPU == nil {
		a.AutoscalingPolicy.CPUUtilization = nil // there is no rule to remove
	}
	return googlerest.NewPost("compute.autoscalers.create", g.placeAddress()+"/autoscalers", p.project, g.location).
		Set("requestId", uuid.NewString()).Body(a)
}

func (g group) deleteScaler(p place) *googlerest.Request {
	return googlerest.NewDelete("compute.autoscalers.delete", g.placeAddress()+"/autoscalers/{autoscaler}",
		p.project, g.location, g.scaler.Name).Set("requestId", uuid.NewString())
}
