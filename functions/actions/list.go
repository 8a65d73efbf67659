package actions

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// filter is the query of GET /actions.
type filter struct {
	rest.Page
	rest.Window
	Status         []string `query:"status" enum:"pending,running,succeeded,failed" maxItems:"50" doc:"Only with one of these statuses"`
	Type           string   `query:"type" enum:"start,stop"`
	ResourceUID    string   `query:"resource_uid" maxLength:"1024" doc:"Only on this resource"`
	CloudAccountID []string `query:"cloud_account_id" maxItems:"50" doc:"Only in these cloud accounts, by our ids"`
	BulkActionID   string   `query:"bulk_action_id" maxLength:"64" doc:"Only of this bulk action"`
}

func (f *filter) isOpen() bool {
	return len(f.Status) == 0 && f.Type == "" && f.ResourceUID == "" && len(f.CloudAccountID) == 0 &&
		f.BulkActionID == "" && f.Open()
}

func (f *filter) meets(a execution.Action) bool {
	return rest.Among(f.Status, string(a.Status)) && (f.Type == "" || f.Type == string(a.Action)) &&
		(f.ResourceUID == "" || f.ResourceUID == a.ResourceUID) && rest.Among(f.CloudAccountID, a.CloudAccountID) &&
		(f.BulkActionID == "" || f.BulkActionID == a.BulkActionID)
}

// query selects the actions created within the filter's time, newest first. The actions of a bulk action are younger
// than it.
func (f *filter) query() table.Query {
	q := table.Query{Reverse: true}
	if f.From.IsZero() && id.IsValid("bulk", f.BulkActionID) {
		q.From = id.LowestAt("act", id.TimeOf(f.BulkActionID))
	}
	if !f.From.IsZero() {
		q.From = id.LowestAt("act", f.From.Time)
	}
	if !f.To.IsZero() {
		q.To = id.LowestAt("act", f.To.Time)
	}
	return q
}

func (s *service) listActions(ctx context.Context, in *filter) (rest.List[Action], error) {
	org := identity.CallerOrg(ctx)
	reach, err := s.resourceSets(ctx, reading)
	if err != nil {
		return rest.List[Action]{}, err
	}
	r := rest.Reading[execution.Action]{Store: s.p.Table, Page: in.Page, Over: execution.ActionPKs(org)}
	var got rest.List[execution.Action]
	if in.isOpen() && reach[0].All() {
		got, err = readCounted(ctx, r, in.query(), func() (int, error) {
			return execution.ReadTotal(ctx, r.Store, org, execution.ActionList)
		})
	} else {
		got, err = r.Filtered(ctx, in.query(), func(a execution.Action) bool {
			return in.meets(a) && reach[0].HasUID(a.ResourceUID)
		})
	}
	if err != nil {
		return rest.List[Action]{}, err
	}
	return showNamed(ctx, s, got, func(a execution.Action) string { return a.ResourceUID }, showAction)
}

// readCounted reads a page of a list whose length is counted, in two waves of round trips.
func readCounted[T any](ctx context.Context, r rest.Reading[T], q table.Query, count func() (int, error)) (rest.List[T],
	error,
) {
	total, err := count()
	if err != nil {
		return rest.List[T]{}, err
	}
	return r.Counted(ctx, q, total)
}
