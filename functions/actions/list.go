package actions

import (
	"context"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
)

// filter is the query of GET /actions.
type filter struct {
	rest.Page
	Status         execution.Status `query:"status" enum:"pending,running,succeeded,failed"`
	Type           string           `query:"type" enum:"start,stop"`
	ResourceUID    string           `query:"resource_uid" maxLength:"1024"`
	CloudAccountID string           `query:"cloud_account_id" maxLength:"64"`
	From           time.Time        `query:"from" doc:"Created at or after, RFC 3339"`
	To             time.Time        `query:"to" doc:"Created before, RFC 3339"`
}

func (f *filter) open() bool {
	return f.Status == "" && f.Type == "" && f.ResourceUID == "" && f.CloudAccountID == "" && f.From.IsZero() && f.To.IsZero()
}

func (f *filter) meets(a execution.Action) bool {
	return (f.Status == "" || f.Status == a.Status) && (f.Type == "" || f.Type == string(a.Action)) &&
		(f.ResourceUID == "" || f.ResourceUID == a.ResourceUID) &&
		(f.CloudAccountID == "" || f.CloudAccountID == a.CloudAccountID)
}

// query selects the actions made within the filter's time, newest first.
func (f *filter) query(org string) table.Query {
	q := table.Query{PK: execution.ActionPK(org), Reverse: true}
	if !f.From.IsZero() {
		q.From = id.Floor("act", f.From)
	}
	if !f.To.IsZero() {
		q.To = id.Floor("act", f.To)
	}
	return q
}

func (s *service) list(ctx context.Context, in *filter) (rest.List[execution.Action], error) {
	org := identity.From(ctx).Org
	reach, err := s.reach(ctx, reading)
	if err != nil {
		return rest.List[execution.Action]{}, err
	}
	r := rest.Reading[execution.Action]{Store: s.p.Table, Page: in.Page}
	var got rest.List[execution.Action]
	if in.open() && reach[0].All() {
		got, err = counted(ctx, r, in.query(org), counter{execution.CountKey(org, "ACT"), "all"})
	} else {
		got, err = r.Filtered(ctx, in.query(org), func(a execution.Action) bool {
			return in.meets(a) && reach[0].HasUID(a.ResourceUID)
		})
	}
	for i := range got.Items {
		got.Items[i] = got.Items[i].Public()
	}
	return got, err
}

// counter names a running total.
type counter struct {
	key   table.Key
	field string
}

// counted reads the page of a partition whose length is counted: two round trips, whichever page it is.
func counted[T any](ctx context.Context, r rest.Reading[T], q table.Query, c counter) (rest.List[T], error) {
	total, err := rest.Count(ctx, r.Store, c.key, c.field)
	if err != nil {
		return rest.List[T]{}, err
	}
	return r.Counted(ctx, q, total)
}
