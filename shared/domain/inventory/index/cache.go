package index

import (
	"container/list"
	"math"
	"runtime/debug"
	"sync"
)

// localBytes limits the indexes in memory of a process without a memory limit.
const localBytes = 128 << 20

// cacheBytes returns the memory limit for the indexes of all organizations together: a third of the process's memory
// limit (shared/api/platform tells the runtime), so that the collector and a request have room. The index of the
// organization in use is always kept, regardless of its size.
func cacheBytes() int {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return localBytes
	}
	return int(limit / 3)
}

// cache keeps the indexes that were used last.
type cache struct {
	mu   sync.Mutex
	max  int // bytes
	orgs map[string]*list.Element
	used *list.List // of *cached, the last used first
}

// cached is the index of one organization. The goroutine that updates the index holds loading, which guards st; the
// cache's lock guards bytes.
type cached struct {
	org     string
	loading sync.Mutex
	st      *State
	bytes   int
}

func newCache(bytes int) *cache {
	return &cache{max: bytes, orgs: map[string]*list.Element{}, used: list.New()}
}

// cachedIndex returns the index of an organization, or an empty one if it is not in the cache.
func (c *cache) cachedIndex(org string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.orgs[org]; ok {
		c.used.MoveToFront(e)
		return e.Value.(*cached)
	}
	one := &cached{org: org, st: newState()}
	c.orgs[org] = c.used.PushFront(one)
	return one
}

// count records the size of one index, in bytes, before or after it is loaded. It drops the least recently used other
// indexes until all are within the limit.
func (c *cache) count(one *cached, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	one.bytes = bytes
	total := bytes
	for e := c.used.Front(); e != nil; {
		next, other := e.Next(), e.Value.(*cached)
		if other != one {
			total += other.bytes
			if total > c.max {
				c.used.Remove(e)
				delete(c.orgs, other.org)
			}
		}
		e = next
	}
}
