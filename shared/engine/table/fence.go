package table

import (
	"context"
	"errors"

	"lamplighter.dev/shared/foundation/fault"
)

// ErrFence is in the chain of the error for a key that the context may not touch. It is a defect of the caller's code,
// never a client's mistake, so its kind is Internal.
var ErrFence = errors.New("key outside the fence")

// Fenced confines s to the partitions that each call's context permits (WithTenant, Within). A context that permits none
// is refused everything. The refusal comes before anything leaves the process, so a mistake in a key fails closed. The
// feed crosses all tenants and therefore needs Within(ctx, OutboxSuffix).
func Fenced(s Store) Store { return fence{s} }

// fence is the middleware.
type fence struct{ next Store }

// pass refuses the first key that ctx may not touch.
func pass(ctx context.Context, pks ...string) error {
	for _, pk := range pks {
		if !permitted(ctx, pk) {
			return fault.Cause(fault.Internal, ErrFence, "the partition %.80q is not permitted here", pk)
		}
	}
	return nil
}

// passWrites is pass for writes.
func passWrites(ctx context.Context, ws []Write) error {
	for i := range ws {
		if err := pass(ctx, ws[i].Item.PK); err != nil {
			return err
		}
	}
	return nil
}

// Get reads one permitted item.
func (f fence) Get(ctx context.Context, k Key) (Item, error) {
	if err := pass(ctx, k.PK); err != nil {
		return Item{}, err
	}
	return f.next.Get(ctx, k)
}

// BatchGet reads many permitted items.
func (f fence) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	for _, k := range keys {
		if err := pass(ctx, k.PK); err != nil {
			return nil, err
		}
	}
	return f.next.BatchGet(ctx, keys...)
}

// Query reads a page of a permitted partition.
func (f fence) Query(ctx context.Context, q Query) (Page, error) {
	if err := pass(ctx, q.PK); err != nil {
		return Page{}, err
	}
	return f.next.Query(ctx, q)
}

// Write writes a permitted item.
func (f fence) Write(ctx context.Context, w Write) (Item, error) {
	if err := pass(ctx, w.Item.PK); err != nil {
		return Item{}, err
	}
	return f.next.Write(ctx, w)
}

// BatchWrite writes many permitted items.
func (f fence) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := passWrites(ctx, ws); err != nil {
		return err
	}
	return f.next.BatchWrite(ctx, ws...)
}

// Transact writes permitted items, all or none.
func (f fence) Transact(ctx context.Context, ws ...Write) error {
	if err := passWrites(ctx, ws); err != nil {
		return err
	}
	return f.next.Transact(ctx, ws...)
}

// Feed reads the feed of all tenants.
func (f fence) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	if err := pass(ctx, OutboxSuffix); err != nil {
		return Feed{}, err
	}
	return f.next.Feed(ctx, cursor, limit)
}
