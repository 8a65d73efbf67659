package auditlogs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Window is the query that bounds rows by time. It is exported so that the framework looks into it where it is embedded.
type Window struct {
	From time.Time `query:"from" doc:"At or after, RFC 3339"`
	To   time.Time `query:"to" doc:"Before, RFC 3339"`
}

func (w *Window) open() bool { return w.From.IsZero() && w.To.IsZero() }

// query selects the rows of an organization within the window, oldest first.
func (w *Window) query(org string) table.Query {
	q := table.Query{PK: audit.PlaceOf(org).PK}
	q.From, q.To = audit.Window(w.From, w.To)
	return q
}

type listInput struct {
	rest.Page
	Window
	Action       string   `query:"action" maxLength:"128" doc:"Only this operationId"`
	Email        string   `query:"email" maxLength:"320" doc:"Only what this person did"`
	ResourceType string   `query:"resource_type" maxLength:"128" doc:"Only what is about this kind of thing"`
	Include      []string `query:"include" enum:"platform,scheduling,cost,provisioning,deployments" maxItems:"5" doc:"Only these categories, behind commas; all when left out"`
}

// filtered tells whether rows have to be looked at.
func (in *listInput) filtered() bool {
	return in.Action != "" || in.Email != "" || in.ResourceType != "" || len(in.Include) > 0
}

func (in *listInput) meets(r audit.Row) bool {
	return (in.Action == "" || in.Action == r.Action) &&
		(in.Email == "" || strings.EqualFold(in.Email, r.Actor)) &&
		(in.ResourceType == "" || in.ResourceType == r.ResourceType) &&
		(len(in.Include) == 0 || slices.Contains(in.Include, string(r.Category)))
}

func (s *service) list(ctx context.Context, in *listInput) (rest.List[audit.Row], error) {
	org := identity.From(ctx).Org
	q := in.query(org)
	q.Reverse = true
	r := rest.Reading[audit.Row]{Store: s.p.Table, Page: in.Page}
	if in.filtered() {
		return shown(r.Filtered(ctx, q, in.meets))
	}
	total, err := s.total(ctx, org, in.Window)
	if err != nil {
		return rest.List[audit.Row]{}, err
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

// total is how many rows there are in the window. They are numbered without gaps, so the first and the last tell.
func (s *service) total(ctx context.Context, org string, w Window) (int, error) {
	if w.open() {
		h, err := table.Read[audit.Head](ctx, s.p.Table, audit.PlaceOf(org).Head)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return 0, fmt.Errorf("read end of the audit log of %s: %w", org, err)
		}
		return int(h.Seq), nil
	}
	q := w.query(org)
	first, err := s.seq(ctx, q)
	if err != nil || first == 0 {
		return 0, err
	}
	q.Reverse = true
	last, err := s.seq(ctx, q)
	return int(last - first + 1), err
}

// seq is the number of the first row that q finds, 0 for none.
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
