package eventreadiness

import (
	"context"
	"maps"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
)

func (s *service) updatePlan(ctx context.Context, in *struct {
	EventPlanPath
	Body EventPlanPatch
},
) (EventPlan, error) {
	was, err := s.plans.Get(ctx, identity.CallerOrg(ctx), in.EventID)
	if err != nil {
		return EventPlan{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: was.ID, Before: showPlan(was)})
	if !was.Status.Editable() {
		return EventPlan{},
			fault.New(fault.Conflict,
				"status: a plan that is %s cannot be changed; one that is draft, failed or scheduled can", was.Status)
	}
	next := was
	if err = s.applyPatch(ctx, &next, &in.Body); err != nil {
		return EventPlan{}, err
	}
	c := readiness.Change{
		To: was.Status, By: identity.CallerFrom(ctx).Email, Message: "changed",
		Edit: func(p *readiness.Plan) {
			takeOver(p, &next)
		},
	}
	var w readiness.Work
	if was.Status == readiness.Scheduled {
		if err = s.checkActs(ctx, &next); err != nil {
			return EventPlan{}, err
		}
		c.Message = "changed, and dispatched again"
		next, w, err = s.plans.Dispatch(ctx, was, c)
	} else {
		next, err = s.plans.Move(ctx, was, c)
	}
	if err != nil {
		return EventPlan{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: showPlan(next)})
	return showPlan(next), s.startWork(ctx, w)
}

// takeOver copies the changeable fields of a plan.
func takeOver(p, from *readiness.Plan) {
	p.Name, p.Description, p.Timezone, p.ExpectedMultiplier = from.Name, from.Description, from.Timezone,
		from.ExpectedMultiplier
	p.EventStart, p.EventEnd, p.PreScaleMinutes, p.PostEventMinutes = from.EventStart, from.EventEnd,
		from.PreScaleMinutes, from.PostEventMinutes
	p.Targets = from.Targets
}

// applyPatch changes a plan as a body says.
func (s *service) applyPatch(ctx context.Context, p *readiness.Plan, b *EventPlanPatch) error {
	err := b.refuseNull()
	if err == nil && b.Name.Set() {
		p.Name, err = displayname.CleanName("name", b.Name.Value, maxName)
	}
	if err == nil && b.ExpectedMultiplier.Set() {
		p.ExpectedMultiplier, err = multiplierOf("expectedMultiplier", b.ExpectedMultiplier.Value)
	}
	if err == nil && b.Timezone.Set() {
		p.Timezone = b.Timezone.Value
		_, err = scheduling.Zone("timezone", p.Timezone)
	}
	if err != nil {
		return err
	}
	b.Description.Apply(&p.Description)
	if err = s.patchTimes(p, b); err != nil {
		return err
	}
	return s.patchTargets(ctx, p, b)
}

// refuseNull refuses null for fields that every plan has.
func (b *EventPlanPatch) refuseNull() error {
	null := map[string]bool{
		"name": b.Name.Null, "eventStart": b.EventStart.Null, "eventEnd": b.EventEnd.Null,
		"preScaleMinutes":  b.PreScaleMinutes.Null,
		"postEventMinutes": b.PostEventMinutes.Null, "expectedMultiplier": b.ExpectedMultiplier.Null,
		"timezone": b.Timezone.Null, "targets": b.Targets.Null,
	}
	for _, field := range slices.Sorted(maps.Keys(null)) {
		if null[field] {
			return fault.New(fault.Invalid, "%s: it cannot be cleared; send a value, or leave it out", field)
		}
	}
	return nil
}

// patchTimes changes the times of a plan. A failed plan whose event is over accepts changes of its other fields
// without new times.
func (s *service) patchTimes(p *readiness.Plan, b *EventPlanPatch) error {
	if !b.EventStart.Sent && !b.EventEnd.Sent && !b.PreScaleMinutes.Sent && !b.PostEventMinutes.Sent {
		return nil
	}
	if b.EventStart.Sent {
		p.EventStart = b.EventStart.Value.Time
	}
	if b.EventEnd.Sent {
		p.EventEnd = b.EventEnd.Value.Time
	}
	b.PreScaleMinutes.Apply(&p.PreScaleMinutes)
	b.PostEventMinutes.Apply(&p.PostEventMinutes)
	return p.CheckTimes(s.p.Clock.Now())
}

// patchTargets changes the targets of a plan. Targets that it already had keep their captured size. Every target must
// have room to grow to its scaled size.
func (s *service) patchTargets(ctx context.Context, p *readiness.Plan, b *EventPlanPatch) error {
	if b.Targets.Set() {
		had := *p
		groups, err := s.scalableGroups(ctx, writing, b.Targets.Value)
		if err != nil {
			return err
		}
		p.Targets = captured(groups)
		for i, t := range p.Targets {
			if old, kept := had.Target(t.PolicyID); kept {
				p.Targets[i] = old
			}
		}
	}
	for _, t := range p.Targets {
		if _, err := p.Scaled(t, t.Original()); err != nil {
			return fault.Wrap("targets", err)
		}
	}
	return nil
}
