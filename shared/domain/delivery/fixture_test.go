package delivery_test

import (
	"context"

	"lamplighter.dev/shared/engine/table"
)

// between is a store in which somebody else does something just before the first transaction.
type between struct {
	table.Store
	do func()
}

func (b between) Transact(ctx context.Context, ws ...table.Write) error {
	b.do()
	return b.Store.Transact(ctx, ws...)
}
