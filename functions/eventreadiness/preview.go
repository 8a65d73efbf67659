package eventreadiness

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/readiness"
)

// GroupSize is the capacity of a group.
type GroupSize struct {
	Min     int64 `json:"min"`
	Max     int64 `json:"max"`
	Desired int64 `json:"desired"`
}

// PreviewedEventTarget is the effect of a plan on one target.
type PreviewedEventTarget struct {
	PolicyID         string    `json:"policyId"`
	Current          GroupSize `json:"current" doc:"Read from the cloud now"`
	Scaled           GroupSize `json:"scaled"`
	IsEstimated      bool      `json:"isEstimated"`
	EstimationReason *string   `json:"estimationReason" doc:"null when it is not estimated"`
}

// EventPreview is the effect of a plan.
type EventPreview struct {
	ScaleUpAt   time.Time              `json:"scaleUpAt" doc:"When the executor would raise the capacity"`
	EventStart  time.Time              `json:"eventStart"`
	EventEnd    time.Time              `json:"eventEnd"`
	ScaleDownAt time.Time              `json:"scaleDownAt" doc:"When the executor would give it back"`
	Targets     []PreviewedEventTarget `json:"targets"`
	Warnings    []string               `json:"warnings"`
}

// EventPreviewInput is the body of POST /event-readiness/preview-readiness, and of cost-preview.
type EventPreviewInput struct {
	Timezone string `json:"timezone,omitempty" maxLength:"64" default:"UTC" doc:"IANA name; errors show times in it"`
	EventTimes
}

// imaginedPlan builds the plan of a preview and finds its groups.
func (s *service) imaginedPlan(ctx context.Context, in *EventPreviewInput) (readiness.Plan, []group, error) {
	p, err := s.draft(&in.EventTimes, in.Timezone)
	if err != nil {
		return p, nil, err
	}
	groups, err := s.scalableGroups(ctx, reading, in.Targets)
	p.Org, p.Targets = identity.CallerOrg(ctx), captured(groups)
	return p, groups, err
}

func (s *service) previewPlan(ctx context.Context, in *struct{ Body EventPreviewInput }) (EventPreview, error) {
	p, groups, err := s.imaginedPlan(ctx, &in.Body)
	if err != nil {
		return EventPreview{}, err
	}
	out := EventPreview{
		ScaleUpAt: p.ScaleUpAt(), EventStart: p.EventStart, EventEnd: p.EventEnd, ScaleDownAt: p.ScaleDownAt(),
		Targets: make([]PreviewedEventTarget, len(groups)), Warnings: s.warnings(&p),
	}
	for i, g := range groups {
		size, err := g.scaled(&p)
		if err != nil {
			return EventPreview{}, err
		}
		reason := estimationReason(g.target())
		out.Targets[i] = PreviewedEventTarget{g.policy.ID, GroupSize(g.size()), GroupSize(size), reason != nil, reason}
	}
	return out, nil
}

// shortLead is the number of minutes that machines need before an event to boot, warm up and pass their health
// checks.
const shortLead = 10

// warnings lists settings of a plan that are allowed and risky.
func (s *service) warnings(p *readiness.Plan) []string {
	out := []string{}
	if p.PreScaleMinutes < shortLead {
		out = append(out,
			fmt.Sprintf("preScaleMinutes: %d minutes may be too few: machines need 5 to 10 to boot, warm up "+
				"and pass their health checks", p.PreScaleMinutes))
	}
	if now := s.p.Clock.Now(); p.ScaleUpAt().Before(now) && p.EventStart.After(now) {
		out = append(out, "eventStart: the time to scale up is past: scaling begins as soon as the plan is scheduled")
	}
	return out
}
