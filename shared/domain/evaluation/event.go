package evaluation

import (
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
)

// eventsOn returns the event readiness plan that currently holds the resource of a UID, or nil.
func eventsOn(held scheduling.EventHolds, uid string) []scheduling.Event {
	h, there := held.Of(uid)
	if !there {
		return nil
	}
	return []scheduling.Event{{PlanID: h.PlanID, Span: scheduling.Span{From: h.Since, To: h.Until}, Now: true}}
}

// EventAgainst returns the hold of an event readiness plan that prevents a verb on the target, and the UID of the held
// resource.
func (t Target) EventAgainst(verb cloud.Verb) (h scheduling.EventHold, uid string, held bool) {
	if verb != cloud.Stop {
		return h, "", false
	}
	for _, m := range t.Members {
		if h, held = t.Events.Of(m.UID); held {
			return h, m.UID, true
		}
	}
	return h, "", false
}

// checkEvents returns fault.Conflict, with the plan's name, for an override without force that would stop a target of
// an active event readiness plan.
func (t Target) checkEvents(o override.Override) error {
	h, uid, held := t.EventAgainst(o.Action.Verb())
	if !held || o.Force {
		return nil
	}
	return execution.ErrHeldByEvent(o.Action.Verb(), uid, h)
}
