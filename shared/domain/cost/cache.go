package cost

import (
	"container/list"
	"math"
	"runtime/debug"
	"sync"

	"lamplighter.dev/shared/engine/table"
)

// localBytes limits the cached chunks of a process without a memory limit.
const localBytes = 64 << 20

// cacheBytes returns the size of the cache: a quarter of the process's memory limit.
func cacheBytes() int {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return localBytes
	}
	return int(limit / 4)
}

// cache keeps the most recently used chunks, decompressed. Chunks never change, so the cache is never stale.
type cache struct {
	mu    sync.Mutex
	max   int // bytes
	bytes int
	at    map[table.Key]*list.Element
	used  *list.List // of cached, the last used first
}

type cached struct {
	key     table.Key
	content []byte
}

func newCache(bytes int) *cache {
	return &cache{max: bytes, at: map[table.Key]*list.Element{}, used: list.New()}
}

func (c *cache) get(k table.Key) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[k]
	if !ok {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(cached).content
}

// put caches a chunk and evicts the least recently used ones. It does not cache a chunk that is larger than a quarter
// of the cache.
func (c *cache) put(k table.Key, content []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, had := c.at[k]; had || len(content) > c.max/4 {
		return
	}
	c.at[k] = c.used.PushFront(cached{k, content})
	for c.bytes += len(content); c.bytes > c.max; {
		last := c.used.Back()
		old := c.used.Remove(last).(cached)
		delete(c.at, old.key)
		c.bytes -= len(old.content)
	}
}
