package evaluation

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// endEvents queues the actions that overrides and schedules wanted of targets while event readiness plans held them,
// for the holds that have ended. A hold that fails does not stop the others. It takes one round trip if no hold has
// ended.
func (s *Store) endEvents(ctx context.Context, org string) error {
	held, err := scheduling.ReadEventHolds(ctx, s.p.Table, org)
	if err != nil || len(held.Ended()) == 0 {
		return err
	}
	live, err := override.ReadLive(ctx, s.p.Table, org)
	if err != nil {
		return err
	}
	holding, err := live.Holding(ctx, s.inventory, org, s.p.Clock.Now())
	if err != nil {
		return err
	}
	var errs []error
	ordered := map[string]bool{}
	for field, h := range held.Ended() {
		e := eventEnd{org: org, field: field, EventHold: h, list: held, holding: holding, ordered: ordered}
		errs = append(errs, fault.Wrap("end the hold of "+h.PlanID+" on "+h.UID, s.endEvent(ctx, e)))
	}
	return errors.Join(errs...)
}

// eventEnd is a hold that has ended, with the facts about the organization at that time.
type eventEnd struct {
	org, field string
	scheduling.EventHold
	list    scheduling.EventHolds
	holding override.Holding
	ordered map[string]bool // the UIDs of resources that another hold of this pass has an order for
}

// endEvent queues the desired actions for a target whose hold has ended, and for the resources that enclose it, once.
// The transaction of the last order removes the hold from the list. A resource that another plan holds by now waits
// for the end of that hold.
func (s *Store) endEvent(ctx context.Context, e eventEnd) error {
	var orders []execution.Order
	again := false
	for _, uid := range append([]string{e.UID}, e.Enclosing...) {
		if _, held := e.list.Of(uid); held {
			again = true
			continue
		}
		if e.ordered[uid] {
			continue
		}
		order, some, err := s.afterEvent(ctx, e, uid)
		if err != nil {
			return err
		}
		if some {
			orders, e.ordered[uid] = append(orders, order), true
		}
	}
	return s.queueAfterEvent(ctx, e, orders, again)
}

// queueAfterEvent queues the orders of the end of a hold, each once. The hold stays on the list if again is true.
func (s *Store) queueAfterEvent(ctx context.Context, e eventEnd, orders []execution.Order, again bool) error {
	off, last := e.list.Forget(e.org, e.field), len(orders)-1
	for i := range orders {
		var extra []table.Write
		if i == last && !again {
			extra = []table.Write{off}
		}
		queued, err := execution.QueueOrders(ctx, s.p.Table, e.org, orders[i:i+1], extra...)
		if err != nil {
			return err
		}
		s.start(ctx, e.org, queued)
		if i == last && len(queued) > 0 {
			return nil
		}
	}
	if again {
		return nil
	}
	_, err := s.p.Table.Write(ctx, off)
	return err
}

// afterEvent returns the order for a resource after a hold: from the override that holds it, else from the last firing
// that acts. That firing counts if it was due during the hold, or if the hold prevented a stop. Other firings from
// before the hold are not repeated.
func (s *Store) afterEvent(ctx context.Context, e eventEnd, uid string) (order execution.Order, some bool, err error) {
	t, err := s.targetOf(ctx, e.org, uid)
	if err != nil || len(t.Members) == 0 {
		return order, false, err
	}
	if o, held := e.holding[t.Members[0].ResourceID]; held {
		order = t.orders(t.Members, execution.Order{
			Verb: o.Action.Verb(), Reason: execution.ReasonOverride,
			ChangedBy: execution.ChangedBy("override", string(o.Action)),
		})[0]
	} else if order, some, err = s.wantedAfter(ctx, e, t); err != nil || !some {
		return order, false, err
	}
	if order.Cause, order.At = "event end "+e.field, e.EndedAt; uid != e.UID {
		order.Cause += " " + uid
	}
	return order, true, nil
}

// wantedAfter returns the order that schedules want of a target at the end of a hold, if it was due during the hold or
// is owed. If the schedules want nothing, it returns the stop that the end of a wake link owes.
func (s *Store) wantedAfter(ctx context.Context, e eventEnd, t Target) (order execution.Order, some bool, err error) {
	owed, isOwed := e.list.Owed(e.EventHold, t.Members[0].UID)
	by, err := s.attached(ctx, e.org, t.Members, scheduling.Span{From: e.EndedAt, To: e.EndedAt})
	if err != nil {
		return order, false, err
	}
	w, wanted := scheduling.Wanted(e.EndedAt, by[t.Members[0].ResourceID])
	switch {
	case wanted && (isOwed || !w.At.Before(e.Since.Truncate(time.Minute))):
		order = *newOrder(w.Timetable.Schedule, w.Cron, t.Group)
	case !wanted && owed.Promised:
		order = execution.Order{
			Verb: cloud.Stop, Reason: execution.ReasonOverrideExpired,
			ChangedBy:     execution.ChangedBy("override_expired", string(override.ForceOn)),
			FailurePolicy: fallback(t.Group.FailurePolicy),
		}
	default:
		return order, false, nil
	}
	order.Members = t.Members
	return order, true, nil
}

// targetOf returns the resource of a UID as a target. The target has no members if the resource is gone.
func (s *Store) targetOf(ctx context.Context, org, uid string) (Target, error) {
	found, err := s.inventory.ByUIDs(ctx, org, []string{uid}, inventory.SeeEverything())
	if err != nil || len(found) == 0 {
		return Target{}, err
	}
	return s.ResourceTarget(ctx, org, found[0].ID)
}
