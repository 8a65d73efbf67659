package actions

import (
	"context"
	"fmt"
	"time"

	"lamplighter.dev/shared/execution"
	"lamplighter.dev/shared/id"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/rest"
	"lamplighter.dev/shared/table"
)

// looked is how many items a filtered list looks at.
const looked = 10_000

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
	r := reading[execution.Action]{s.p.Table, in.Page}
	var got rest.List[execution.Action]
	var err error
	if in.open() {
		got, err = r.counted(ctx, in.query(org), counter{execution.CountKey(org, "ACT"), "all"})
	} else {
		got, err = r.filtered(ctx, in.query(org), in.meets)
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

// reading reads one page of a list of T.
type reading[T any] struct {
	store table.Store
	page  rest.Page
}

// counted reads the page of a partition whose length is counted: two round trips, whichever page it is.
func (r reading[T]) counted(ctx context.Context, q table.Query, c counter) (rest.List[T], error) {
	out := rest.List[T]{Page: r.page.Page, Limit: r.page.Limit}
	got, err := r.store.BatchGet(ctx, c.key)
	if err != nil {
		return out, fmt.Errorf("read count of %s: %w", q.PK, err)
	}
	if it, ok := got[c.key]; ok {
		counts, err := table.Decode[map[string]int](it)
		if err != nil {
			return out, err
		}
		out.Total = counts[c.field]
	}
	if r.page.Skip() >= out.Total {
		return out, nil
	}
	q.Skip, q.Limit = r.page.Skip(), r.page.Limit
	out.Items, err = r.gather(ctx, q)
	return out, err
}

// gather reads q.Limit items, over as many pages as the store makes of them.
func (r reading[T]) gather(ctx context.Context, q table.Query) ([]T, error) {
	out := make([]T, 0, q.Limit)
	for want := q.Limit; len(out) < want; {
		q.Limit = want - len(out)
		page, err := r.store.Query(ctx, q)
		if err != nil {
			return nil, fmt.Errorf("query %s: %w", q.PK, err)
		}
		items, err := table.DecodeAll[T](page.Items)
		if err != nil {
			return nil, err
		}
		if out = append(out, items...); page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	return out, nil
}

// filtered reads the newest items of a partition and keeps those that meet the filter: a bounded look.
func (r reading[T]) filtered(ctx context.Context, q table.Query, meets func(T) bool) (rest.List[T], error) {
	out := rest.List[T]{Page: r.page.Page, Limit: r.page.Limit}
	q.Limit = 1000
	for seen := 0; seen < looked; {
		page, err := r.store.Query(ctx, q)
		if err != nil {
			return out, fmt.Errorf("query %s: %w", q.PK, err)
		}
		items, err := table.DecodeAll[T](page.Items)
		if err != nil {
			return out, err
		}
		for _, v := range items {
			if !meets(v) {
				continue
			}
			if out.Total >= r.page.Skip() && len(out.Items) < r.page.Limit {
				out.Items = append(out.Items, v)
			}
			out.Total++
		}
		if seen += len(items); page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	return out, nil
}
