package evaluation

import (
	"context"
	"errors"
	"time"

	"lamplighter.dev/shared/domain/eventhold"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
)

// endEvents carries out what overrides and schedules wanted of targets while event readiness plans held them, of the holds that have ended. One
// that fails does not keep the others from it. It takes one round trip where none has ended.
func (s *Store) endEvents(ctx context.Context, org string) error {
	held, err := eventhold.Read(ctx, s.p.Table, org)
	if err != nil || len(held.Ended()) == 0 {
		return err
	}
	live, err := override.ReadLive(ctx, s.p.Table, org)
	if err != nil {
		return err
	}
	now := s.p.Clock.Now()
	holding, err := live.Holding(ctx, s.inventory, org, now)
	if err != nil {
		return err
	}
	var errs []error
	for field, h := range held.Ended() {
		e := eventEnd{org: org, field: field, Hold: h, at: now, holding: holding}
		errs = append(errs, fault.Wrap("end the hold of "+h.PlanID+" on "+h.UID, s.endEvent(ctx, e)))
	}
	return errors.Join(errs...)
}

// eventEnd is a hold that has ended, and what is known of the organisation then.
type eventEnd struct {
	org, field string
	eventhold.Hold
	at      time.Time
	holding override.Holding
}

// endEvent queues what is wanted of a target whose hold has ended, once, and takes the hold off the list in the same transaction.
func (s *Store) endEvent(ctx context.Context, e eventEnd) error {
	orders, err := s.afterEvent(ctx, e)
	if err != nil {
		return err
	}
	off := eventhold.Forget(e.org, e.field)
	queued, err := execution.QueueOrders(ctx, s.p.Table, e.org, orders, off)
	if err != nil {
		return err
	}
	s.start(ctx, e.org, queued)
	if len(queued) > 0 {
		return nil
	}
	_, err = s.p.Table.Write(ctx, off)
	return err
}

// afterEvent returns the order that is wanted of a target whose hold has ended: by the override that holds it, else by the last firing that
// acts, if that was due during the hold. What was wanted before the hold is not asked for again.
func (s *Store) afterEvent(ctx context.Context, e eventEnd) ([]execution.Order, error) {
	t, err := s.targetOf(ctx, e.org, e.UID)
	if err != nil || len(t.Members) == 0 {
		return nil, err
	}
	var order execution.Order
	if o, held := e.holding[t.Members[0].ResourceID]; held {
		order = t.orders(t.Members, execution.Order{
			Verb: o.Action.Verb(), Reason: execution.ReasonOverride, ChangedBy: execution.ChangedBy("override", string(o.Action)),
		})[0]
	} else {
		w, some, err := s.wantedSince(ctx, e, t.Members)
		if err != nil || !some {
			return nil, err
		}
		order = *newOrder(w.Timetable.Schedule, w.Cron, t.Group)
		order.Members = t.Members
	}
	order.Cause, order.At = "event end "+e.field, e.EndedAt
	return []execution.Order{order}, nil
}

// wantedSince returns what schedules want of members at the end of a hold, where that was due during it.
func (s *Store) wantedSince(ctx context.Context, e eventEnd, members []inventory.Member) (scheduling.Want, bool, error) {
	by, err := s.attached(ctx, e.org, members, scheduling.Span{From: e.at, To: e.at})
	if err != nil {
		return scheduling.Want{}, false, err
	}
	w, some := scheduling.Wanted(e.at, by[members[0].ResourceID])
	return w, some && !w.At.Before(e.Since.Truncate(time.Minute)), nil
}

// targetOf returns the resource of a UID as a target; one without members when it is gone.
func (s *Store) targetOf(ctx context.Context, org, uid string) (Target, error) {
	found, err := s.inventory.ByUIDs(ctx, org, []string{uid}, inventory.SeeEverything())
	if err != nil || len(found) == 0 {
		return Target{}, err
	}
	return s.ResourceTarget(ctx, org, found[0].ID)
}
