package executor

import (
	"context"
	"sync"

	"lamplighter.dev/shared/engine/table"
)

// before is a store that has something done right before one of its calls. Calls that come meanwhile wait.
type before struct {
	table.Store
	mu           sync.Mutex
	call         int
	do           func()
	plain, again func()
}

func (s *before) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
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
