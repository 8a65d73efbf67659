package workflow_test

import (
	"context"
	"sync/atomic"

	"lamplighter.dev/shared/engine/table"
)

// roundTrips counts the calls of a store.
type roundTrips struct {
	table.Store
	writes, reads atomic.Int64
}

func (r *roundTrips) Get(ctx context.Context, k table.Key) (table.Item, error) {
	r.reads.Add(1)
	return r.Store.Get(ctx, k)
}

func (r *roundTrips) Query(ctx context.Context, q table.Query) (table.Page, error) {
	r.reads.Add(1)
	return r.Store.Query(ctx, q)
}

func (r *roundTrips) Write(ctx context.Context, w table.Write) (table.Item, error) {
	r.writes.Add(1)
	return r.Store.Write(ctx, w)
}

func (r *roundTrips) BatchWrite(ctx context.Context, ws ...table.Write) error {
	r.writes.Add(1)
	return r.Store.BatchWrite(ctx, ws...)
}

func (r *roundTrips) Transact(ctx context.Context, ws ...table.Write) error {
	r.writes.Add(1)
	return r.Store.Transact(ctx, ws...)
}
