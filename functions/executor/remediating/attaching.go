package remediating

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// attaching attaches a schedule to a resource, and detaches it to undo that. The schedule starts and stops the
// resource from then on.
type attaching struct{ subject }

var _ change = (*attaching)(nil)

func (s *attaching) scheduleID() string { return s.t.Parameters[remediation.ScheduleParameter] }

func (s *attaching) plan(ctx context.Context, listed inventory.Listed) (p remediation.Plan, native json.RawMessage,
	err error,
) {
	sch, err := s.r.Schedules.ReadSchedule(ctx, s.org, s.scheduleID())
	switch {
	case fault.Is(err, fault.NotFound):
		return p, nil, fault.New(fault.Invalid,
			"parameters.%s: %.64q does not exist; GET /schedules lists the schedules",
			remediation.ScheduleParameter, s.scheduleID())
	case err != nil:
		return p, nil, err
	case !sch.Enabled:
		return p, nil, fault.New(fault.Invalid, "parameters.%s: schedule %s is disabled; enable it first",
			remediation.ScheduleParameter, sch.ID)
	case slices.Contains(listed.ScheduleIDs, sch.ID):
		return p, nil, fault.New(fault.Conflict, "schedule %s is attached to its resource already", sch.ID)
	}
	after := append(slices.Clone(listed.ScheduleIDs), sch.ID)
	slices.Sort(after)
	return remediation.Plan{
		Calls: []string{fmt.Sprintf("attach %s %s to schedule %s (%s: %s)", s.t.ResourceType, s.t.ResourceUID, sch.ID,
			sch.Name, cronsText(&sch))},
		Before: map[string]string{"schedules": strings.Join(listed.ScheduleIDs, ", ")},
		After:  map[string]string{"schedules": strings.Join(after, ", ")},
		Limits: []string{"a resource that the schedule has stopped stays stopped until somebody starts it"},
	}, nil, nil
}

// cronsText describes when a schedule acts.
func cronsText(sch *scheduling.Schedule) string {
	lines := make([]string, len(sch.Crons))
	for i, c := range sch.Crons {
		lines[i] = fmt.Sprintf("%s at %s", c.Action, c.Expression)
	}
	return strings.Join(lines, "; ") + "; " + sch.Timezone
}

func (s *attaching) attachment() scheduling.Attachment {
	return scheduling.Attachment{
		ScheduleID: s.scheduleID(), ResourceID: s.t.ResourceID, CloudAccountID: s.t.CloudAccountID,
		CreatedAt: s.t.CalledAt,
	}
}

func (s *attaching) mark(*remediation.Target) []table.Write { return nil }

func (s *attaching) call(ctx context.Context) error {
	return s.r.Schedules.Attach(ctx, s.org, s.attachment())
}

// find reads the attachment, and whether it is the workflow's own.
func (s *attaching) find(ctx context.Context) (there, own bool, err error) {
	a, err := s.r.Schedules.ReadAttachment(ctx, s.org, s.scheduleID(), s.t.ResourceID)
	if fault.Is(err, fault.NotFound) {
		return false, false, nil
	}
	return err == nil, err == nil && a.CreatedAt.Equal(s.t.CalledAt), err
}

func (s *attaching) look(ctx context.Context) (progress, error) {
	there, own, err := s.find(ctx)
	switch {
	case err != nil || own:
		return progress{reached: own}, err
	case there:
		return progress{broken: "somebody else has attached the schedule", unchanged: true}, nil
	case !s.t.ReachedAt.IsZero():
		return progress{broken: "validation: somebody has detached the schedule", unchanged: true}, nil
	}
	return progress{}, s.call(ctx)
}

func (s *attaching) markUndo(*remediation.Target) []table.Write { return nil }

func (s *attaching) undo(ctx context.Context, _ remediation.Capture) error {
	err := s.r.Schedules.Detach(ctx, s.org, s.attachment())
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

func (s *attaching) back(ctx context.Context, c remediation.Capture) (progress, error) {
	there, own, err := s.find(ctx)
	switch {
	case err != nil || !there:
		return progress{reached: err == nil}, err
	case !own:
		return progress{broken: "somebody else has attached the schedule again: detach it by hand"}, nil
	case s.t.UndoneAt.IsZero():
		return progress{}, nil
	}
	return progress{}, s.undo(ctx, c)
}
