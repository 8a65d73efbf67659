package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// leaveOut ends the ready actions that may no longer act on their resources, by the rules of
// scheduling.Subject.MayAct. It is called right before each request to a provider, so when an order and each of its
// chunks begin. It takes the round trips of skipsOf.
func (r *run) leaveOut(ctx context.Context) error {
	skips, err := r.e.skipsOf(ctx, r.in.Org, r.bulk, r.ready)
	if err != nil || len(skips) == 0 {
		return err
	}
	kept := r.ready[:0:0]
	for _, a := range r.ready {
		if skip, out := skips[a.ID]; out {
			r.endLeftOut(a, skip)
			continue
		}
		kept = append(kept, a)
	}
	r.ready = kept
	return nil
}

// skipsOf returns, by action ID, why actions of one bulk action, or a single action, may not act on their resources
// now. Actions that may act have no entry. It takes one round trip if nothing holds the resources, otherwise one or
// two more, plus one for the calendars of a schedule.
func (e *Executor) skipsOf(
	ctx context.Context, org string, b execution.Bulk, actions []*execution.Action,
) (map[string]scheduling.Skip, error) {
	if len(actions) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	in, err := e.currentIntent(ctx, org, b, actions[0].Action)
	if err != nil {
		return nil, err
	}
	standing, err := e.schedules.ReadStanding(ctx, org)
	if err != nil {
		return nil, err
	}
	if standing.IsEmpty() && in.Timetable == nil && in.Cause != scheduling.ByOverride {
		return nil, nil //nolint:nilnil // nothing is in the way
	}
	ids, err := e.resourceIDs(ctx, org, actions)
	if err != nil {
		return nil, err
	}
	out := map[string]scheduling.Skip{}
	for _, a := range actions {
		var s scheduling.Subject
		standing.Apply(ids[a.ResourceUID], &s)
		in.Force = a.Force
		if skip := s.MayAct(in); skip.Reason != scheduling.Acts {
			out[a.ID] = skip
		}
	}
	return out, nil
}

// currentIntent returns the verb and cause of the actions of a bulk action, or of a single action, at this time. All
// its actions have the same verb and cause.
func (e *Executor) currentIntent(ctx context.Context, org string, b execution.Bulk, verb cloud.Verb) (scheduling.Intent,
	error,
) {
	in := scheduling.Intent{Verb: verb, Cause: causeOf(b), At: e.p.Clock.Now()}
	if in.Cause != scheduling.BySchedule || b.Plan.ScheduleID == "" {
		return in, nil
	}
	var err error
	in.Timetable, err = e.schedules.ReadAsking(ctx, org, b.Plan.ScheduleID, in.At)
	return in, err
}

// causeOf returns the cause of a bulk action. The zero bulk action stands for a single action, which is always
// requested by hand. The reason of an action proves nothing: a request by hand may carry any text.
func causeOf(b execution.Bulk) scheduling.Cause {
	if !b.Ordered() {
		return scheduling.ByHand
	}
	switch b.Plan.Reason {
	case execution.ReasonOverride:
		return scheduling.ByOverride
	case execution.ReasonOverrideExpired:
		return scheduling.ByOverrideEnd
	default:
		return scheduling.BySchedule
	}
}

// resourceIDs returns the resource IDs of the ready actions, by their native IDs.
func (e *Executor) resourceIDs(ctx context.Context, org string, actions []*execution.Action) (map[string]string,
	error,
) {
	found, err := e.inventory.ByUIDs(ctx, org, resourceUIDs(actions), inventory.SeeEverything())
	if err != nil {
		return nil, fmt.Errorf("read %d resources of %s: %w", len(actions), org, err)
	}
	out := make(map[string]string, len(found))
	for _, res := range found {
		out[res.UID] = res.ID
	}
	return out, nil
}

// endLeftOut ends an action that was not requested from the provider.
func (r *run) endLeftOut(a *execution.Action, skip scheduling.Skip) {
	r.ended = append(r.ended, execution.Outcome{
		Action: *a, Status: execution.Failed, State: r.states[a.ResourceUID].Status, LeftOut: true,
		Changed: a.Progress.Changed,
		Message: fmt.Sprintf("left out (%s): %s", skip.Reason, skip.Detail), At: r.now,
	})
}
