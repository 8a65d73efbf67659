package inventory

import (
	"sync"

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

// New makes a Store with a cache of its own. Functions use Of, so that a process has one cache.
func New(t table.Store, c clock.Clock) *Store {
	return &Store{table: t, clock: c, cache: newCache(cacheRows)}
}
