package schedules

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/evaluation"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) firingOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listScheduleFirings", Method: http.MethodGet, Path: schedulePath + "/firings", Policy: reading,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound}, Summary: "List the past firings of a schedule",
		Description: "Newest first; the last 90 days and at most the newest 10,000. A line says when a cron was " +
			"due and evaluated, the bulk actions that it ordered, and the resources that it skipped, with the " +
			"reason: override, calendar, contradiction (a start of the same minute wins), read_only_account, " +
			"disconnected_account, unschedulable, superseded (after an outage only the last action of a resource " +
			"is carried out). A resource already in the desired state gets an action, too; it ends at once, " +
			"without an attempt. Lines of kind drift name resources that run although the schedule has stopped " +
			"them; drift_enforced those that were stopped again after graceMinutes, because the schedule says " +
			"enforce. A firing that reaches no resource has no line.",
	}, s.listFirings)
}

// PastFiring is a line of the log of a schedule.
type PastFiring struct {
	Kind          string            `json:"kind" enum:"firing,drift,drift_enforced"`
	CronID        string            `json:"cronID" doc:"The cron that was due, or that stopped the drifting resources"`
	Action        cloud.Verb        `json:"action" enum:"start,stop"`
	At            time.Time         `json:"at" doc:"The minute when it was due; for drift, when it was found"`
	EvaluatedAt   time.Time         `json:"evaluatedAt" doc:"When it was carried out: later than at after an outage"`
	Resources     int               `json:"resources" doc:"Number of ordered or drifting resources"`
	BulkActionIDs []string          `json:"bulkActionIDs" doc:"See GET /actions/bulk/{bulkActionID}"`
	SkippedCount  int               `json:"skippedCount"`
	Skipped       []SkippedResource `json:"skipped" doc:"At most 50 of the skipped or drifting resources"`
}

// SkippedResource is a resource that a firing has skipped, and why.
type SkippedResource struct {
	ResourceID  string `json:"resourceID" doc:"Our id"`
	ResourceUID string `json:"resourceUID" doc:"Native identifier"`
	Reason      string `json:"reason" example:"override"`
	Detail      string `json:"detail"`
}

func (s *service) listFirings(ctx context.Context, in *struct {
	ScheduleID string `path:"scheduleID" maxLength:"64"`
	rest.Page
},
) (rest.List[PastFiring], error) {
	org := identity.CallerOrg(ctx)
	missing := fault.New(fault.NotFound, "schedule %.64q does not exist", in.ScheduleID)
	if !id.IsValid("sch", in.ScheduleID) {
		return rest.List[PastFiring]{}, missing
	}
	_, err := s.p.Table.Get(ctx, scheduling.ScheduleKey(org, in.ScheduleID))
	if fault.Is(err, fault.NotFound) {
		return rest.List[PastFiring]{}, missing
	}
	if err != nil {
		return rest.List[PastFiring]{}, fmt.Errorf("read schedule %s: %w", in.ScheduleID, err)
	}
	r := rest.Reading[evaluation.Entry]{Store: s.p.Table, Page: in.Page}
	all, err := r.Filtered(ctx, evaluation.EntriesOf(org, in.ScheduleID), func(evaluation.Entry) bool { return true })
	return rest.MapItems(all, shownFiring), err
}

func shownFiring(e evaluation.Entry) PastFiring {
	out := PastFiring{
		Kind: e.Kind, CronID: e.CronID, Action: e.Action, At: e.At, EvaluatedAt: e.EvaluatedAt, Resources: e.Acted,
		BulkActionIDs: append([]string{}, e.BulkActionIDs...), Skipped: make([]SkippedResource, len(e.Skipped)),
	}
	for _, n := range e.Skips {
		out.SkippedCount += n
	}
	for i, k := range e.Skipped {
		out.Skipped[i] = SkippedResource{k.ResourceID, k.ResourceUID, string(k.Reason), k.Detail}
	}
	return out
}
