package autoscalerpolicies

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// measuredDays is how many days of measures a proposal is made of.
const measuredDays = 14

type suggestInput struct {
	CloudAccountID string `query:"cloud_account_id" required:"true" maxLength:"64"`
	TargetType     string `query:"target_type" required:"true" enum:"aws-asg,aws-ecs,gcp-mig,azure-vmss,kubernetes-deployment"`
	TargetUID      string `query:"target_uid" required:"true" minLength:"1" maxLength:"1024"`
}

// AutoscalerSuggestion is what is proposed for a policy.
type AutoscalerSuggestion struct {
	Target           AutoscalerTarget  `json:"target"`
	Current          AutoscalerScaling `json:"current" doc:"As the cloud says now"`
	Min              int64             `json:"min"`
	Max              int64             `json:"max"`
	Desired          int64             `json:"desired"`
	TargetCPUPercent int64             `json:"targetCPUPercent"`
	CooldownSeconds  int64             `json:"cooldownSeconds"`
	IsEstimated      bool              `json:"isEstimated"`
	EstimationReason *string           `json:"estimationReason"`
	CPU              *AutoscalerLoad   `json:"cpu" doc:"null when it is not known"`
}

// AutoscalerLoad is how busy the CPU of a target was, in whole percent, rounded up.
type AutoscalerLoad struct {
	Mean int64 `json:"mean"`
	P95  int64 `json:"p95"`
	Max  int64 `json:"max"`
}

func (s *service) suggest(ctx context.Context, in *suggestInput) (AutoscalerSuggestion, error) {
	r, account, err := s.resource(ctx, reading, in.CloudAccountID,
		AutoscalerTarget{Type: in.TargetType, UID: in.TargetUID})
	if fault.Is(err, fault.Invalid) { // a query that names what is not there
		err = fault.NewWithCause(fault.NotFound, err, "%s", fault.Message(err))
	}
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	p := readiness.Policy{Target: readiness.PolicyTarget{Type: r.Type, UID: r.UID, Region: r.Region}}
	live, err := s.adopt(ctx, p, account)
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	load, reason, err := s.load(ctx, r)
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	out := propose(live, load)
	if out.Target = AutoscalerTarget(p.Target); load == nil {
		out.IsEstimated, out.EstimationReason = true, &reason
	}
	return out, nil
}

// load returns how busy a resource was; nil and why when that is not known.
func (s *service) load(ctx context.Context, r inventory.Listed) (*AutoscalerLoad, string, error) {
	mean, most, ok := cpuMetrics(r.Type)
	if !ok {
		return nil, "the CPU of resources of type " + r.Type + " is not measured", nil
	}
	end := s.p.Clock.Now().UTC().Truncate(24 * time.Hour)
	h, err := s.measurements.Read(ctx,
		measurement.Of{Org: identity.CallerOrg(ctx), AccountID: r.CloudAccountID, UID: r.UID},
		end.AddDate(0, 0, -measuredDays), end)
	if err != nil {
		return nil, "", err
	}
	p95 := mean
	mean.RollUp, p95.RollUp, most.RollUp = "avg", "p95", "max"
	var values [3]int64
	for i, m := range []cloud.Metric{mean, p95, most} {
		v, known := h.Answer(m, measurement.Window{End: end})
		if !known {
			return nil, "fewer than 70 % of the hours of the last 14 days were measured", nil
		}
		values[i] = percent(m, v)
	}
	return &AutoscalerLoad{values[0], values[1], values[2]}, "", nil
}

// cpuMetrics returns the metrics of a type of which one averages the CPU of an hour, and the other tells its maximum.
func cpuMetrics(kind string) (mean, most cloud.Metric, ok bool) {
	all := cloud.MetricsOf(kind)
	of := func(name string) int {
		return slices.IndexFunc(all, func(m cloud.Metric) bool { return m.Name == name })
	}
	i, j := of("cpu_p95_14d"), of("cpu_max_14d")
	if i < 0 || j < 0 {
		return mean, most, false
	}
	return all[i], all[j], true
}

// percent rounds a value up to whole percent; what lies within the noise of a float is not a percent more.
func percent(m cloud.Metric, v float64) int64 {
	if strings.HasPrefix(m.Unit, "0..1") {
		v *= 100
	}
	return int64(math.Ceil(v - 1e-6))
}

// propose makes a proposal of whole numbers alone.
func propose(live cloud.Autoscaling, load *AutoscalerLoad) AutoscalerSuggestion {
	t := or(live.TargetCPUPercent, usualTarget)
	out := AutoscalerSuggestion{
		Current: newScaling(live), Min: live.Min, Max: live.Max, Desired: live.Desired, TargetCPUPercent: t,
		CooldownSeconds: or(live.CooldownSeconds, usualCooldown), CPU: load,
	}
	if load == nil {
		out.Max = max(live.Max, ceil(live.Desired*5, 4))
		return out
	}
	out.Min = max(1, ceil(live.Desired*load.Mean, t))
	out.Desired = max(out.Min, ceil(live.Desired*load.P95, t))
	out.Max = max(out.Desired, out.Min+1, ceil(live.Desired*load.Max*5, 4*t))
	return out
}

// ceil divides and rounds up.
func ceil(a, b int64) int64 { return (a + b - 1) / b }
