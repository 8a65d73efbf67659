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

// PreviewedEventTarget is what a plan would do to a target.
type PreviewedEventTarget struct {
	PolicyID         string    `json:"policyId"`
	Current          GroupSize `json:"current" doc:"As the cloud tells it now"`
	Scaled           GroupSize `json:"scaled"`
	IsEstimated      bool      `json:"isEstimated"`
	EstimationReason *string   `json:"estimationReason" doc:"null when it is not estimated"`
}

// EventPreview is what a plan would do.
type EventPreview struct {
	ScaleUpAt   time.Time              `json:"scaleUpAt" doc:"When the executor would raise the capacity"`
	EventStart  time.Time              `json:"eventStart"`
	EventEnd    time.Time              `json:"eventEnd"`
	ScaleDownAt time.Time              `json:"scaleDownAt" doc:"When it would give it back"`
	Targets     []PreviewedEventTarget `json:"targets"`
	Warnings    []string               `json:"warnings"`
}

// EventPreviewInput is the body of POST /event-readiness/preview-readiness, and of cost-preview.
type EventPreviewInput struct {
	Timezone string `json:"timezone,omitempty" maxLength:"64" default:"UTC" doc:"IANA; in which errors show times"`
	EventTimes
}

// imagined makes the plan of a preview, and finds its groups.
func (s *service) imagined(ctx context.Context, in *EventPreviewInput) (readiness.Plan, []group, error) {
	p, err := s.draft(&in.EventTimes, in.Timezone)
	if err != nil {
		return p, nil, err
	}
	groups, err := s.groups(ctx, reading, in.Targets)
	p.Org, p.Targets = identity.CallerOrg(ctx), captured(groups)
	return p, groups, err
}

func (s *service) preview(ctx context.Context, in *struct{ Body EventPreviewInput }) (EventPreview, error) {
	p, groups, err := s.imagined(ctx, &in.Body)
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
		reason := why(g.target())
		out.Targets[i] = PreviewedEventTarget{g.policy.ID, GroupSize(g.size()), GroupSize(size), reason != nil, reason}
	}
	return out, nil
}

// shortLead is how many minutes before an event machines need to boot, warm up and be found healthy.
const shortLead = 10

// warnings tell what is allowed and may yet go wrong.
func (s *service) warnings(p *readiness.Plan) []string {
	out := []string{}
	if p.PreScaleMinutes < shortLead {
		out = append(out,
			fmt.Sprintf("preScaleMinutes: %d minutes may be too few: machines need 5 to 10 to boot, warm up and be "+
				"found healthy", p.PreScaleMinutes))
	}
	if now := s.p.Clock.Now(); p.ScaleUpAt().Before(now) && p.EventStart.After(now) {
		out = append(out, "eventStart: the time to scale up is past: that begins as soon as the plan is scheduled")
	}
	return out
}
