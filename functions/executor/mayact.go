package executor

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/scheduling"
)

// leaveOut ends those of the actions about to be asked for that may not act on their resources any more, by the rules of
// scheduling.Subject.MayAct. It is called right before each request to a provider, so when an order and each of its chunks begin. One
// round trip where nothing is held, one or two more where something is, and for the calendars of a schedule.
func (r *run) leaveOut(ctx context.Context) error {
	if len(r.ready) == 0 {
		return nil
	}
	in, err := r.intent(ctx)
	if err != nil {
		return err
	}
	standing, err := r.e.schedules.ReadStanding(ctx, r.in.Org)
	if err != nil {
		return err
	}
	if standing.IsEmpty() && in.Timetable == nil && in.Cause != scheduling.ByOverride {
		return nil
	}
	ids, err := r.resourceIDs(ctx)
	if err != nil {
		return err
	}
	kept := r.ready[:0:0]
	for _, a := range r.ready {
		var s scheduling.Subject
		standing.Apply(ids[a.ResourceUID], &s)
		in.Force = a.Force
		if skip := s.MayAct(in); skip.Reason != scheduling.Acts {
			r.endLeftOut(a, skip)
			continue
		}
		kept = append(kept, a)
	}
	r.ready = kept
	return nil
}

// intent returns what the actions of the run want now. All have one verb and one cause: they are of one bulk action, or one alone.
func (r *run) intent(ctx context.Context) (scheduling.Intent, error) {
	in := scheduling.Intent{Verb: r.ready[0].Action, Cause: causeOf(r.bulk), At: r.e.p.Clock.Now()}
	if in.Cause != scheduling.BySchedule || r.bulk.Plan.ScheduleID == "" {
		return in, nil
	}
	var err error
	in.Timetable, err = r.e.schedules.ReadAsking(ctx, r.in.Org, r.bulk.Plan.ScheduleID, in.At)
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
func (r *run) resourceIDs(ctx context.Context) (map[string]string, error) {
	found, err := r.e.inventory.ByUIDs(ctx, r.in.Org, uids(r.ready), inventory.SeeEverything())
	if err != nil {
		return nil, fmt.Errorf("read %d resources of %s: %w", len(r.ready), r.in.Org, err)
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
		Action: *a, Status: execution.Failed, State: r.states[a.ResourceUID].Status, LeftOut: true, Changed: a.Progress.Changed,
		Message: fmt.Sprintf("left out (%s): %s", skip.Reason, skip.Detail), At: r.now,
	})
}
