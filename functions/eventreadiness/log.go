package eventreadiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
)

// report takes what the executor says of a plan.
func (s *service) report(ctx context.Context, in *struct {
	EventPlanPath
	Body EventPlanReport
},
) (EventPlan, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.EventID})
	p, err := s.plans.Take(ctx, identity.CallerOrg(ctx), in.EventID, in.Body.taken())
	if err != nil {
		return EventPlan{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: shown(p)})
	return shown(p), nil
}

// EventPlanReport is the body of POST /internal/event-readiness/{eventID}/status.
type EventPlanReport struct {
	ID      string           `json:"id" minLength:"1" maxLength:"128" doc:"Names the report: it is taken once"`
	Run     int64            `json:"run" minimum:"0" doc:"The dispatch that it is of"`
	Status  readiness.Status `json:"status" enum:"draft,scheduling,scheduled,scaling_up,active,scaling_down,completed,cancelled,failed"`
	Message string           `json:"message,omitempty" maxLength:"2000"`
	Targets []EventTarget    `json:"targets,omitempty" maxItems:"20" nullable:"true" doc:"What was captured right before scaling"`
}

func (r *EventPlanReport) taken() readiness.Report {
	out := readiness.Report{ID: r.ID, Run: r.Run, Status: r.Status, Message: r.Message}
	for _, t := range r.Targets {
		out.Targets = append(out.Targets, readiness.Target{
			PolicyID: t.PolicyID, OriginalMin: t.OriginalMin, OriginalMax: t.OriginalMax,
			OriginalDesired: t.OriginalDesired,
		})
	}
	return out
}

// EventPlanLine is a line of the log of a plan.
type EventPlanLine struct {
	At      time.Time         `json:"at"`
	Kind    string            `json:"kind" enum:"transition,callback,change"`
	From    *readiness.Status `json:"from" doc:"null for the first one, and where the plan stayed in its status"`
	To      *readiness.Status `json:"to" doc:"null where the plan stayed in its status"`
	By      string            `json:"by" doc:"The address of a person, or executor"`
	Message string            `json:"message"`
	Run     int64             `json:"run" doc:"How often the plan had been dispatched"`
}

func (s *service) logs(ctx context.Context, in *struct {
	EventPlanPath
	rest.Page
},
) (rest.List[EventPlanLine], error) {
	org := identity.CallerOrg(ctx)
	if _, err := s.visiblePlan(ctx, in.EventID); err != nil {
		return rest.List[EventPlanLine]{}, err
	}
	r := rest.Reading[readiness.Line]{Store: s.p.Table, Page: in.Page}
	all, err := r.Filtered(ctx, readiness.Logs(org, in.EventID), func(readiness.Line) bool { return true })
	return rest.MapItems(all, shownLine), err
}

func shownLine(l readiness.Line) EventPlanLine {
	return EventPlanLine{l.At, l.Kind, rest.Optional(l.From), rest.Optional(l.To), l.By, l.Message, l.Run}
}
