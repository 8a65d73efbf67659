package eventreadiness

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
)

// takeReport stores a report of the executor on a plan.
func (s *service) takeReport(ctx context.Context, in *struct {
	EventPlanPath
	Body EventPlanReport
},
) (EventPlan, error) {
	audit.NoteChange(ctx, audit.Change{Target: in.EventID})
	p, err := s.plans.Take(ctx, identity.CallerOrg(ctx), in.EventID, in.Body.toReport())
	if err != nil {
		return EventPlan{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: showPlan(p)})
	return showPlan(p), nil
}

// EventPlanReport is the body of POST /internal/event-readiness/{eventID}/status.
type EventPlanReport struct {
	ID      string           `json:"id" minLength:"1" maxLength:"128" doc:"Identifies the report, which counts once"`
	Run     int64            `json:"run" minimum:"0" doc:"Number of the plan's dispatch"`
	Status  readiness.Status `json:"status" enum:"draft,scheduling,scheduled,scaling_up,active,scaling_down,completed,cancelled,failed"`
	Message string           `json:"message,omitempty" maxLength:"2000"`
	Targets []EventTarget    `json:"targets,omitempty" maxItems:"20" nullable:"true" doc:"Captured right before scaling"`
}

func (r *EventPlanReport) toReport() readiness.Report {
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
	From    *readiness.Status `json:"from" doc:"null for the first line, and if the status did not change"`
	To      *readiness.Status `json:"to" doc:"null if the status did not change"`
	By      string            `json:"by" doc:"The address of a person, or executor"`
	Message string            `json:"message"`
	Run     int64             `json:"run" doc:"Number of dispatches of the plan so far"`
}

func (s *service) listLogs(ctx context.Context, in *struct {
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
