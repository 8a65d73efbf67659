package auditlogs

import (
	"context"
	"fmt"
	"strings"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
)

// withinWindow selects the rows of an organization within the window, oldest first.
func withinWindow(org string, w rest.Window) table.Query {
	q := table.Query{PK: audit.PlaceOf(org).PK}
	q.From, q.To = audit.WindowKeys(w.From.Time, w.To.Time)
	return q
}

type listInput struct {
	rest.Page
	rest.Window
	Action       []string `query:"action" maxItems:"50" doc:"Only these operationIds"`
	Email        string   `query:"email" maxLength:"320" doc:"The person who made the request"`
	ResourceType []string `query:"resource_type" maxItems:"50" doc:"The kinds of the changed records"`
	Target       []string `query:"target" maxItems:"50" doc:"The changed records: their ids, or the names of those without"`
	Include      []string `query:"include" enum:"platform,scheduling,cost,provisioning,deployments" maxItems:"5" doc:"The categories; default: all"`
}

// hasFilter reports whether rows must be read to be filtered.
func (in *listInput) hasFilter() bool {
	return len(in.Action) > 0 || in.Email != "" || len(in.ResourceType) > 0 || len(in.Target) > 0 ||
		len(in.Include) > 0
}

func (in *listInput) matches(r audit.Row) bool {
	return rest.Among(in.Action, r.Action) && rest.Among(in.ResourceType, r.ResourceType) &&
		rest.Among(in.Target, r.Target) && rest.Among(in.Include, string(r.Category)) &&
		(in.Email == "" || strings.EqualFold(in.Email, r.Actor))
}

func (s *service) listRows(ctx context.Context, in *listInput) (rest.List[audit.Row], error) {
	org := identity.CallerOrg(ctx)
	linked, err := s.linkWaiting(ctx, org)
	if err != nil {
		return rest.List[audit.Row]{}, err
	}
	q := withinWindow(org, in.Window)
	q.Reverse = true
	r := rest.Reading[audit.Row]{Store: s.p.Table, Page: in.Page}
	if in.hasFilter() {
		return withoutWithheld(r.Filtered(ctx, q, in.matches))
	}
	total := int(linked.Head.Seq)
	if !in.Open() {
		if total, err = s.totalWithin(ctx, org, in.Window); err != nil {
			return rest.List[audit.Row]{}, err
		}
	}
	return withoutWithheld(r.Counted(ctx, q, total))
}

// withoutWithheld returns the rows that their organization may read.
func withoutWithheld(l rest.List[audit.Row], err error) (rest.List[audit.Row], error) {
	for i := range l.Items {
		l.Items[i] = l.Items[i].Shown()
	}
	return l, err
}

// totalWithin returns the number of rows in the window. The rows are numbered without gaps, so the first and the last
// row are enough.
func (s *service) totalWithin(ctx context.Context, org string, w rest.Window) (int, error) {
	q := withinWindow(org, w)
	first, err := s.firstSeq(ctx, q)
	if err != nil || first == 0 {
		return 0, err
	}
	q.Reverse = true
	last, err := s.firstSeq(ctx, q)
	return int(last - first + 1), err
}

// firstSeq returns the number of the first row that q finds, or 0 if there is none.
func (s *service) firstSeq(ctx context.Context, q table.Query) (int64, error) {
	q.Limit = 1
	page, err := s.p.Table.Query(ctx, q)
	if err != nil {
		return 0, fmt.Errorf("query %s: %w", q.PK, err)
	}
	if len(page.Items) == 0 {
		return 0, nil
	}
	row, err := table.Decode[audit.Row](page.Items[0])
	return row.Seq, err
}
