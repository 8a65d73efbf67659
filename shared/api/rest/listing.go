package rest

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// Looked is how many items a filtered list reads.
const Looked = 10_000

// Reading reads a page of a long list of T from a partition in the order of the list: with a known total, or filtered
// with a limited number of reads.
type Reading[T any] struct {
	Store table.Store
	Page  Page
	Over  []string // the partitions of the list; empty if it is that of the query
}

// Counted reads the page of a query that finds total items.
func (r Reading[T]) Counted(ctx context.Context, q table.Query, total int) (List[T], error) {
	out := PageOf[T](nil, r.Page)
	out.Total = total
	if r.Page.Skip() >= total {
		return out, nil
	}
	q.Skip = r.Page.Skip()
	var err error
	out.Items, err = readNext[T](ctx, r.merge(q), r.Page.Limit)
	return out, err
}

// merge returns the items of the query from all partitions of the list.
func (r Reading[T]) merge(q table.Query) *table.Merge {
	if len(r.Over) == 0 {
		return table.NewMerge(r.Store, q, q.PK)
	}
	return table.NewMerge(r.Store, q, r.Over...)
}

// readNext reads the next n items, or fewer at the end.
func readNext[T any](ctx context.Context, m *table.Merge, n int) ([]T, error) {
	items, err := m.Next(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("read a list: %w", err)
	}
	return table.DecodeAll[T](items)
}

// lookedAtOnce is how many items a filtered list reads at a time.
const lookedAtOnce = 1000

// Filtered reads up to Looked items of the query, and keeps those that meet the filter.
func (r Reading[T]) Filtered(ctx context.Context, q table.Query, meets func(T) bool) (List[T], error) {
	out, m := PageOf[T](nil, r.Page), r.merge(q)
	for range Looked / lookedAtOnce {
		items, err := readNext[T](ctx, m, lookedAtOnce)
		if err != nil {
			return out, err
		}
		for _, v := range items {
			if meets(v) {
				out.Add(v)
			}
		}
		if len(items) < lookedAtOnce {
			break
		}
	}
	return out, nil
}
