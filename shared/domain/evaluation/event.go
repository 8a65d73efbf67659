package evaluation

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/eventhold"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
)

// eventsOn returns the event readiness plan that holds the resource of a UID now; none where no plan does.
func eventsOn(held eventhold.List, uid string) []scheduling.Event {
	h, there := held.Of(uid)
	if !there {
		return nil
	}
	return []scheduling.Event{{PlanID: h.PlanID, Span: scheduling.Span{From: h.Since, To: h.Until}, Now: true}}
}

// EventAgainst returns the hold of an event readiness plan that is against a verb on the target, and the UID of the resource that it holds.
func (t Target) EventAgainst(verb cloud.Verb) (h eventhold.Hold, uid string, held bool) {
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

// checkEvents refuses an override without force that would stop a target of an active event readiness plan: fault.Conflict naming the plan.
func (t Target) checkEvents(o override.Override) error {
	h, uid, held := t.EventAgainst(o.Action.Verb())
	if !held || o.Force {
		return nil
	}
	return execution.ErrHeldByEvent(o.Action.Verb(), uid, h)
}

// owedWrites returns the write that has stops be done after events which the end of an override orders, and which are left out as plans hold the
// targets; none where there are no such stops.
func (t Target) owedWrites(org string, o override.Override, orders []execution.Order, at time.Time) []table.Write {
	var owed []eventhold.Hold
	for _, order := range orders {
		for _, m := range order.Members {
			h, held := t.Events.Of(m.UID)
			if held && h.UID == m.UID && order.Verb == cloud.Stop && !o.Force {
				owed = append(owed, h)
			}
		}
	}
	if len(owed) == 0 {
		return nil
	}
	return []table.Write{eventhold.Owe(org, owed, at)}
}
