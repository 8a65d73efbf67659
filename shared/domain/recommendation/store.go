package recommendation

import (
	"container/list"
	"context"
	"math"
	"runtime/debug"
	"sync"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// Store reads and writes the recommendations of organizations.
type Store struct {
	table     table.PatientStore // patient: an evaluation that is cut short costs the next one
	clock     clock.Clock
	inventory *inventory.Store
	cache     *cache
}

// New returns the Store of p, always the same one, so that the functions of a process share the columns in memory.
func New(p *platform.Platform) *Store {
	inv := inventory.New(p)
	return platform.Shared(p, func(p *platform.Platform) *Store {
		return &Store{table.NewPatientStore(p.Table), p.Clock, inv, newCache(cacheBytes())}
	})
}

// Read reads a row, or fault.NotFound. A candidate is not found.
func (s *Store) Read(ctx context.Context, org, recID string) (Row, error) {
	missing := fault.New(fault.NotFound, "recommendation %.64q does not exist", recID)
	k, ok := Key(org, recID)
	if !ok {
		return Row{}, missing
	}
	r, err := table.Read[Row](ctx, s.table, k)
	if fault.Is(err, fault.NotFound) || err == nil && r.Status == Candidate {
		return Row{}, missing
	}
	return r, fault.Wrap("read recommendation "+recID, err)
}

// ReadRows reads rows by their ids: one round trip for a hundred. Missing ones are left out.
func (s *Store) ReadRows(ctx context.Context, org string, ids []string) (map[string]Row, error) {
	keys := make([]table.Key, 0, len(ids))
	for _, id := range ids {
		if k, ok := Key(org, id); ok {
			keys = append(keys, k)
		}
	}
	got, err := s.table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fault.Wrap("read recommendations of "+org, err)
	}
	out := make(map[string]Row, len(got))
	for k, it := range got {
		if out[k.SK], err = table.Decode[Row](it); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// localBytes limits the columns in memory of a process without a memory limit.
const localBytes = 64 << 20

// cacheBytes returns the memory limit of the columns of all organizations together: a sixth of the process's memory
// limit. The index of the inventory takes a third.
func cacheBytes() int {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return localBytes
	}
	return int(limit / 6)
}

// cache keeps the columns that were used last.
type cache struct {
	mu   sync.Mutex
	max  int // bytes
	orgs map[string]*list.Element
	used *list.List // of *cached, the last used first
}

// cached is the columns of one organization. The goroutine that updates them holds loading.
type cached struct {
	org     string
	loading sync.Mutex
	columns *Columns
	bytes   int // guarded by the lock of the cache
}

func newCache(bytes int) *cache {
	return &cache{max: bytes, orgs: map[string]*list.Element{}, used: list.New()}
}

// of returns the columns of an organization, empty ones if they are not in the cache.
func (c *cache) of(org string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.orgs[org]; ok {
		c.used.MoveToFront(e)
		return e.Value.(*cached)
	}
	one := &cached{org: org, columns: newColumns(org)}
	c.orgs[org] = c.used.PushFront(one)
	return one
}

// count records the size of one organization's columns, and drops those of others until all are within the limit. The
// columns in use are always kept.
func (c *cache) count(one *cached, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.bytes = bytes
	total := bytes
	for e := c.used.Front(); e != nil; {
		next, other := e.Next(), e.Value.(*cached)
		if other != one {
			if total += other.bytes; total > c.max {
				c.used.Remove(e)
				delete(c.orgs, other.org)
				total -= other.bytes
			}
		}
		e = next
	}
}
