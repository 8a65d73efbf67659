package eventreadiness

import (
	"context"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/id"
)

// maxName is the maximum number of characters of a name. halfHour is the default number of minutes before and after
// an event.
const (
	maxName  = 128
	halfHour = 30
)

// draft builds the plan that a body describes, without its targets.
func (s *service) draft(e *EventTimes, timezone string) (readiness.Plan, error) {
	p := readiness.Plan{
		EventStart: e.EventStart.Time, EventEnd: e.EventEnd.Time, PreScaleMinutes: halfHour,
		PostEventMinutes: halfHour, Timezone: timezone,
	}
	if e.PreScaleMinutes != nil {
		p.PreScaleMinutes = *e.PreScaleMinutes
	}
	if e.PostEventMinutes != nil {
		p.PostEventMinutes = *e.PostEventMinutes
	}
	if _, err := scheduling.Zone("timezone", timezone); err != nil {
		return p, err
	}
	var err error
	if p.ExpectedMultiplier, err = multiplierOf("expectedMultiplier", e.ExpectedMultiplier); err != nil {
		return p, err
	}
	return p, p.CheckTimes(s.p.Clock.Now())
}

func multiplierOf(field string, n rest.Number) (readiness.Multiplier, error) {
	a, err := n.Read(field)
	if err != nil {
		return 0, err
	}
	return readiness.MultiplierOf(field, a)
}

func (s *service) createPlan(ctx context.Context, in *struct{ Body NewEventPlan }) (EventPlan, error) {
	b := &in.Body
	p, err := s.draft(&b.EventTimes, b.Timezone)
	if err != nil {
		return EventPlan{}, err
	}
	if p.Name, err = displayname.CleanName("name", b.Name, maxName); err != nil {
		return EventPlan{}, err
	}
	c := identity.CallerFrom(ctx)
	p.ID, p.Org, p.CreatedBy, p.Description = id.New("evt", s.p.Clock.Now()), c.Org, c.Email, b.Description
	groups, err := s.scalableGroups(ctx, writing, b.Targets)
	if err != nil {
		return EventPlan{}, err
	}
	p.Targets = captured(groups)
	for _, g := range groups {
		if _, err = g.scaled(&p); err != nil {
			return EventPlan{}, err
		}
	}
	audit.NoteChange(ctx, audit.Change{Target: p.ID, After: showPlan(p)})
	if p, err = s.plans.Create(ctx, p); err != nil {
		return EventPlan{}, err
	}
	out := showPlan(p)
	audit.NoteChange(ctx, audit.Change{After: out})
	return out, nil
}

// captured returns the targets of a plan on groups, with their current sizes.
func captured(groups []group) []readiness.Target {
	out := make([]readiness.Target, len(groups))
	for i, g := range groups {
		out[i] = g.target()
	}
	return out
}

func (s *service) getPlan(ctx context.Context, in *EventPlanPath) (EventPlan, error) {
	p, err := s.visiblePlan(ctx, in.EventID)
	if err != nil {
		return EventPlan{}, err
	}
	return showPlan(p), nil
}

// Filter selects plans. It is exported because the framework ignores unexported embedded structs.
type Filter struct {
	Status string `query:"status" enum:"draft,scheduling,scheduled,scaling_up,active,scaling_down,completed,cancelled,failed"`
	Search string `query:"search" maxLength:"128" doc:"In the name or the description, without regard to case"`
}

func (f *Filter) meets(p readiness.Plan) bool {
	text := strings.ToLower(f.Search)
	return (f.Status == "" || f.Status == string(p.Status)) &&
		(strings.Contains(strings.ToLower(p.Name), text) || strings.Contains(strings.ToLower(p.Description), text))
}

// findPlans reads a page of the plans that match a filter.
func (s *service) findPlans(ctx context.Context, f *Filter, page rest.Page) (rest.List[readiness.Plan], error) {
	sees, err := s.policiesInSight(ctx, reading)
	if err != nil {
		return rest.List[readiness.Plan]{}, err
	}
	r := rest.Reading[readiness.Plan]{Store: s.p.Table, Page: page}
	return r.Filtered(ctx, readiness.All(identity.CallerOrg(ctx)), func(p readiness.Plan) bool {
		return f.meets(p) && sees.covers(&p)
	})
}

func (s *service) listPlans(ctx context.Context, in *struct {
	rest.Page
	Filter
},
) (rest.List[EventPlan], error) {
	all, err := s.findPlans(ctx, &in.Filter, in.Page)
	return rest.MapItems(all, showPlan), err
}

// EventPlanCount is the number of plans.
type EventPlanCount struct {
	Count int `json:"count"`
}

func (s *service) countPlans(ctx context.Context, in *struct{ Filter }) (EventPlanCount, error) {
	all, err := s.findPlans(ctx, &in.Filter, rest.Page{Page: 1, Limit: 1})
	return EventPlanCount{all.Total}, err
}

// EventPlanFilters are the values that plans can be filtered by.
type EventPlanFilters struct {
	Statuses []readiness.Status `json:"statuses"`
}

func (s *service) listFilters(ctx context.Context, _ *struct{}) (EventPlanFilters, error) {
	seen := map[readiness.Status]bool{}
	sees, err := s.policiesInSight(ctx, reading)
	if err != nil {
		return EventPlanFilters{}, err
	}
	note := func(p readiness.Plan) bool {
		seen[p.Status] = seen[p.Status] || sees.covers(&p)
		return false
	}
	r := rest.Reading[readiness.Plan]{Store: s.p.Table, Page: rest.Page{Page: 1, Limit: 1}}
	if _, err = r.Filtered(ctx, readiness.All(identity.CallerOrg(ctx)), note); err != nil {
		return EventPlanFilters{}, err
	}
	out := EventPlanFilters{[]readiness.Status{}}
	for _, status := range readiness.Statuses {
		if seen[status] {
			out.Statuses = append(out.Statuses, status)
		}
	}
	return out, nil
}
