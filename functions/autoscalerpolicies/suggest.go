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

// measuredDays is how many days of measurements a proposal is based on.
const measuredDays = 14

type suggestInput struct {
	CloudAccountID string `query:"cloud_account_id" required:"true" maxLength:"64"`
	TargetType     string `query:"target_type" required:"true" enum:"aws-asg,aws-ecs,gcp-mig,azure-vmss,kubernetes-deployment"`
	TargetUID      string `query:"target_uid" required:"true" minLength:"1" maxLength:"1024"`
}

// AutoscalerSuggestion is the proposal for a policy.
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

// AutoscalerLoad is the CPU load of a target in whole percent, rounded up.
type AutoscalerLoad struct {
	Mean int64 `json:"mean"`
	P95  int64 `json:"p95"`
	Max  int64 `json:"max"`
}

func (s *service) suggestScaling(ctx context.Context, in *suggestInput) (AutoscalerSuggestion, error) {
	r, account, err := s.findResource(ctx, reading, in.CloudAccountID,
		AutoscalerTarget{Type: in.TargetType, UID: in.TargetUID})
	if fault.Is(err, fault.Invalid) { // the query names something that does not exist
		err = fault.NewWithCause(fault.NotFound, err, "%s", fault.Message(err))
	}
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	p := readiness.Policy{Target: readiness.PolicyTarget{Type: r.Type, UID: r.UID, Region: r.Region}}
	live, err := s.adoptTarget(ctx, p, account)
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	load, reason, err := s.readLoad(ctx, r)
	if err != nil {
		return AutoscalerSuggestion{}, err
	}
	out := proposeScaling(live, load)
	if out.Target = AutoscalerTarget(p.Target); load == nil {
		out.IsEstimated, out.EstimationReason = true, &reason
	}
	return out, nil
}

// readLoad returns the CPU load of a resource, or nil and the reason if it is not known.
func (s *service) readLoad(ctx context.Context, r inventory.Listed) (*AutoscalerLoad, string, error) {
	mean, most, ok := cpuMetrics(r.Type)
	if !ok {
		return nil, "the CPU of resources of type " + r.Type + " is not measured in percent", nil
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
		values[i] = wholePercent(m, v)
	}
	return &AutoscalerLoad{values[0], values[1], values[2]}, "", nil
}

// cpuMetrics returns the metrics for the hourly average and the hourly maximum of the CPU of a type. A type whose CPU
// is measured in cores has none.
func cpuMetrics(kind string) (mean, most cloud.Metric, ok bool) {
	all := cloud.MetricsOf(kind)
	of := func(name string) int {
		return slices.IndexFunc(all, func(m cloud.Metric) bool { return m.Name == name })
	}
	i, j := of("cpu_p95_14d"), of("cpu_max_14d")
	if i < 0 || j < 0 || !all[i].IsShare() || !all[j].IsShare() {
		return mean, most, false
	}
	return all[i], all[j], true
}

// wholePercent rounds a value up to whole percent. It ignores excess that lies within the precision of a float.
func wholePercent(m cloud.Metric, v float64) int64 {
	if strings.HasPrefix(m.Unit, "0..1") {
		v *= 100
	}
	return int64(math.Ceil(v - 1e-6))
}

// proposeScaling calculates a proposal with integer arithmetic only.
func proposeScaling(live cloud.Autoscaling, load *AutoscalerLoad) AutoscalerSuggestion {
	t := valueOr(live.TargetCPUPercent, usualTarget)
	out := AutoscalerSuggestion{
		Current: newScaling(live), Min: live.Min, Max: live.Max, Desired: live.Desired, TargetCPUPercent: t,
		CooldownSeconds: valueOr(live.CooldownSeconds, usualCooldown), CPU: load,
	}
	if load == nil {
		out.Max = max(live.Max, divideUp(live.Desired*5, 4))
		return out
	}
	out.Min = max(1, divideUp(live.Desired*load.Mean, t))
	out.Desired = max(out.Min, divideUp(live.Desired*load.P95, t))
	out.Max = max(out.Desired, out.Min+1, divideUp(live.Desired*load.Max*5, 4*t))
	return out
}

// divideUp divides and rounds up.
func divideUp(a, b int64) int64 { return (a + b - 1) / b }
