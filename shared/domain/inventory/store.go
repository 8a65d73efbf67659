package inventory

import (
	"sync"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Store reads and writes the inventories of organizations.
type Store struct {
	table table.Store
	clock clock.Clock
	cache *cache

	compacting sync.Map // organizations that this process is compacting
}

// New returns the Store of p, always the same one, so that the functions of a process share one cache.
func New(p *platform.Platform) *Store {
	return platform.Shared(p, func(p *platform.Platform) *Store { return NewStore(p.Table, p.Clock) })
}

// NewStore makes a Store with a cache of its own.
func NewStore(t table.Store, c clock.Clock) *Store {
	return &Store{table: t, clock: c, cache: newCache(cacheRows)}
}
