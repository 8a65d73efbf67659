package executor

import (
	"context"

	"lamplighter.dev/shared/engine/table"
)

// before is a store that has something done right before one of its calls.
type before struct {
	table.Store
	call         int
	do           func()
	plain, again func()
}

func (s *before) count() {
	if s.call == 0 {
		return
	}
	if s.call--; s.call == 0 {
		s.plain()
		s.do()
		s.again()
	}
}

func (s *before) Get(ctx context.Context, k table.Key) (table.Item, error) {
	s.count()
	return s.Store.Get(ctx, k)
}

func (s *before) BatchGet(ctx context.Context, keys ...table.Key) (map[table.Key]table.Item, error) {
	s.count()
	return s.Store.BatchGet(ctx, keys...)
}

func (s *before) Query(ctx context.Context, q table.Query) (table.Page, error) {
	s.count()
	return s.Store.Query(ctx, q)
}

func (s *before) Write(ctx context.Context, w table.Write) (table.Item, error) {
	s.count()
	return s.Store.Write(ctx, w)
}

func (s *before) BatchWrite(ctx context.Context, ws ...table.Write) error {
	s.count()
	return s.Store.BatchWrite(ctx, ws...)
}

func (s *before) Transact(ctx context.Context, ws ...table.Write) error {
	s.count()
	return s.Store.Transact(ctx, ws...)
}
