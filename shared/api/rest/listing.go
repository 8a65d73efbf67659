package rest

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// Looked is how many items a filtered list looks at.
const Looked = 10_000

// Reading reads a page of a long list of T, as every group does that keeps one partition in the order in which it is read:
// with a known total, or filtered by a bounded look.
type Reading[T any] struct {
	Store table.Store
	Page  Page
}

// Count reads a running total, a field of the item under k; 0 when there is none.
func Count(ctx context.Context, s table.Store, k table.Key, field string) (int, error) {
	got, err := s.BatchGet(ctx, k)
	if err != nil {
		return 0, fmt.Errorf("read count %s of %s: %w", field, k.PK, err)
	}
	it, ok := got[k]
	if !ok {
		return 0, nil
	}
	counts, err := table.Decode[map[string]int](it)
	return counts[field], err
}

// Counted reads the page of a query that finds total items.
func (r Reading[T]) Counted(ctx context.Context, q table.Query, total int) (List[T], error) {
	out := PageOf[T](nil, r.Page)
	out.Total = total
	if r.Page.Skip() >= total {
		return out, nil
	}
	q.Skip, q.Limit = r.Page.Skip(), r.Page.Limit
	var err error
	out.Items, err = r.gather(ctx, q)
	return out, err
}

// gather reads q.Limit items, over as many pages as the store makes of them.
func (r Reading[T]) gather(ctx context.Context, q table.Query) ([]T, error) {
	out := make([]T, 0, q.Limit)
	for want := q.Limit; len(out) < want; {
		q.Limit = want - len(out)
		items, next, err := table.ReadPage[T](ctx, r.Store, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, items...); next == "" {
			break
		}
		q.Cursor = next
	}
	return out, nil
}

// Filtered reads the first items that the query finds and keeps those that meet the filter: a bounded look.
func (r Reading[T]) Filtered(ctx context.Context, q table.Query, meets func(T) bool) (List[T], error) {
	out := PageOf[T](nil, r.Page)
	q.Limit = 1000
	for seen := 0; seen < Looked; {
		items, next, err := table.ReadPage[T](ctx, r.Store, q)
		if err != nil {
			return out, err
		}
		for _, v := range items {
			if meets(v) {
				out.Add(v)
			}
		}
		if seen += len(items); next == "" {
			break
		}
		q.Cursor = next
	}
	return out, nil
}
