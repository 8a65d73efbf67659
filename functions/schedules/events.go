package schedules

import (
	"context"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// coming are the statuses of plans that will hold their targets in their window.
var coming = []readiness.Status{readiness.Scheduling, readiness.Scheduled, readiness.ScalingUp}

// readEvents returns the times when event readiness plans hold resources, now and in the windows of scheduled plans,
// by resource UID. It takes two round trips, and one or two more if plans are scheduled.
func (s *service) readEvents(ctx context.Context) (map[string][]scheduling.Event, error) {
	held, err := scheduling.ReadEventHolds(ctx, s.p.Table, identity.CallerOrg(ctx))
	if err != nil {
		return nil, err
	}
	out := map[string][]scheduling.Event{}
	for uid, h := range held.All() {
		out[uid] = append(out[uid],
			scheduling.Event{PlanID: h.PlanID, Span: scheduling.Span{From: h.Since, To: h.Until}})
	}
	plans, err := s.comingPlans(ctx)
	if err != nil || len(plans) == 0 {
		return out, err
	}
	return out, s.addWindows(ctx, plans, out)
}

// comingPlans returns the plans that will hold their targets. It reads at most readiness.MostPlans plans.
func (s *service) comingPlans(ctx context.Context) ([]readiness.Plan, error) {
	var out []readiness.Plan
	q := readiness.All(identity.CallerOrg(ctx))
	for q.Limit = readiness.MostPlans; ; {
		plans, next, err := table.ReadPage[readiness.Plan](ctx, s.p.Table, q)
		if err != nil {
			return nil, fault.Wrap("read event readiness plans", err)
		}
		for _, p := range plans {
			if slices.Contains(coming, p.Status) {
				out = append(out, p)
			}
		}
		if q.Cursor = next; next == "" {
			return out, nil
		}
	}
}

// addWindows adds the windows of plans to the events of their targets.
func (s *service) addWindows(ctx context.Context, plans []readiness.Plan, events map[string][]scheduling.Event) error {
	var ids []string
	for i := range plans {
		ids = append(ids, plans[i].PolicyIDs()...)
	}
	slices.Sort(ids)
	policies, err := readiness.NewPolicyStore(s.p.Table, s.p.Clock).GetMany(ctx, identity.CallerOrg(ctx),
		slices.Compact(ids)...)
	if err != nil {
		return err
	}
	for i := range plans {
		for _, policyID := range plans[i].PolicyIDs() {
			uid := policies[policyID].Target.UID
			events[uid] = append(events[uid], scheduling.Event{
				PlanID: plans[i].ID, Span: scheduling.Span{From: plans[i].ScaleUpAt(), To: plans[i].ScaleDownAt()},
			})
		}
	}
	return nil
}
