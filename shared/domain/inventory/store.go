package inventory

import (
	"context"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Store reads and writes the inventories of organizations.
type Store struct {
	table table.Store
	clock clock.Clock
	index *index.Store
}

// New returns the Store of p, always the same one, so that the functions of a process share the indexes in memory.
func New(p *platform.Platform) *Store {
	return platform.Shared(p, func(p *platform.Platform) *Store { return NewStore(p.Table, p.Clock) })
}

// NewStore makes a Store whose indexes in memory are its own.
func NewStore(t table.Store, c clock.Clock) *Store {
	return &Store{table: t, clock: c, index: index.NewStore(t, c)}
}

// CompactIndex folds the deltas of the index into its chunks if there are many. Workers call it after they wrote
// deltas; an API request never does. Concurrent calls are safe, and a killed call loses nothing.
func (s *Store) CompactIndex(ctx context.Context, org string) error { return s.index.Compact(ctx, org) }
