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

// within selects the rows of an organization within the window, oldest first.
func within(org string, w rest.Window) table.Query {
	q := table.Query{PK: audit.PlaceOf(org).PK}
	q.From, q.To = audit.WindowKeys(w.From.Time, w.To.Time)
	return q
}

type listInput struct {
	rest.Page
	rest.Window
	Action       []string `query:"action" maxItems:"50" doc:"Only these operationIds"`
	Email        string   `query:"email" maxLength:"320" doc:"Only what this person did"`
	ResourceType []string `query:"resource_type" maxItems:"50" doc:"Only what is about these kinds of things"`
	Include      []string `query:"include" enum:"platform,scheduling,cost,provisioning,deployments" maxItems:"5" doc:"Only these categories; all when left out"`
}

// filtered reports whether rows have to be looked at.
func (in *listInput) filtered() bool {
	return len(in.Action) > 0 || in.Email != "" || len(in.ResourceType) > 0 || len(in.Include) > 0
}

func (in *listInput) meets(r audit.Row) bool {
	return rest.Among(in.Action, r.Action) && rest.Among(in.ResourceType, r.ResourceType) &&
		rest.Among(in.Include, string(r.Category)) && (in.Email == "" || strings.EqualFold(in.Email, r.Actor))
}

func (s *service) listRows(ctx context.Context, in *listInput) (rest.List[audit.Row], error) {
	org := identity.CallerOrg(ctx)
	linked, err := s.link(ctx, org)
	if err != nil {
		return rest.List[audit.Row]{}, err
	}
	q := within(org, in.Window)
	q.Reverse = true
	r := rest.Reading[audit.Row]{Store: s.p.Table, Page: in.Page}
	if in.filtered() {
		return shown(r.Filtered(ctx, q, in.meets))
	}
	total := int(linked.Head.Seq)
	if !in.Open() {
		if total, err = s.totalWithin(ctx, org, in.Window); err != nil {
			return rest.List[audit.Row]{}, err
		}
	}
	return shown(r.Counted(ctx, q, total))
}

// shown are rows as their organization may read them.
func shown(l rest.List[audit.Row], err error) (rest.List[audit.Row], error) {
	for i := range l.Items {
		l.Items[i] = l.Items[i].Shown()
	}
	return l, err
}

// totalWithin returns how many rows there are in the window. They are numbered without gaps, so the first and the last tell.
func (s *service) totalWithin(ctx context.Context, org string, w rest.Window) (int, error) {
	q := within(org, w)
	first, err := s.seq(ctx, q)
	if err != nil || first == 0 {
		return 0, err
	}
	q.Reverse = true
	last, err := s.seq(ctx, q)
	return int(last - first + 1), err
}

// seq returns the number of the first row that q finds, 0 for none.
func (s *service) seq(ctx context.Context, q table.Query) (int64, error) {
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
