package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// leaveOut ends those of the actions about to be asked for that may not act on their resources any more, by the rules of
// scheduling.Subject.MayAct. It is called right before each request to a provider, so when an order and each of its chunks begin. It takes the
// round trips of skipsOf.
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

// skipsOf returns why actions of one bulk action, or a single action, may not act on their resources now, by the IDs of the actions; those that may
// are missing. One round trip where nothing is held, one or two more where something is, and for the calendars of a schedule.
func (e *Executor) skipsOf(
	ctx context.Context, org string, b execution.Bulk, actions []*execution.Action, //nolint:revive // whose, of which, and what
) (map[string]scheduling.Skip, error) {
	if len(actions) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	in, err := e.intent(ctx, org, b, actions[0].Action)
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

// intent returns what actions of a bulk action, or a single action, want now. All have one verb and one cause.
func (e *Executor) intent(ctx context.Context, org string, b execution.Bulk, verb cloud.Verb) (scheduling.Intent, error) { //nolint:revive // see skipsOf
	in := scheduling.Intent{Verb: verb, Cause: causeOf(b), At: e.p.Clock.Now()}
	if in.Cause != scheduling.BySchedule || b.Plan.ScheduleID == "" {
		return in, nil
	}
	var err error
	in.Timetable, err = e.schedules.ReadAsking(ctx, org, b.Plan.ScheduleID, in.At)
	return in, err
}

// causeOf returns who asks for a bulk action; the zero bulk action is a single action, which is always asked for by hand. The reason of an action
// is no evidence: by hand it may be any text.
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

// resourceIDs returns our ids of the resources about to be acted on, by their native ids.
func (e *Executor) resourceIDs(ctx context.Context, org string, actions []*execution.Action) (map[string]string,
	error) {
	found, err := e.inventory.ByUIDs(ctx, org, uids(actions), inventory.SeeEverything())
	if err != nil {
		return nil, fmt.Errorf("read %d resources of %s: %w", len(actions), org, err)
	}
	out := make(map[string]string, len(found))
	for _, res := range found {
		out[res.UID] = res.ID
	}
	return out, nil
}

// endLeftOut ends an action that is not asked for.
func (r *run) endLeftOut(a *execution.Action, skip scheduling.Skip) {
	r.ended = append(r.ended, execution.Outcome{
		Action: *a, Status: execution.Failed, State: r.states[a.ResourceUID].Status, LeftOut: true,
		Changed: a.Progress.Changed,
		Message: fmt.Sprintf("left out (%s): %s", skip.Reason, skip.Detail), At: r.now,
	})
}
