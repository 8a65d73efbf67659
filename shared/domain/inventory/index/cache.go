package index

import (
	"container/list"
	"sync"
)

// cacheRows bounds how many rows of all organizations a process keeps in memory: at some 400 bytes a row, half of what a
// small function has. The organization in use is kept whatever its size.
const cacheRows = 250_000

// cache keeps the indexes that were used last.
type cache struct {
	mu   sync.Mutex
	max  int
	orgs map[string]*list.Element
	used *list.List // of *cached, the last used first
}

// cached is the index of one organization. Loading is held by who brings it up to date, and guards st; rows is guarded
// by the cache.
type cached struct {
	org     string
	loading sync.Mutex
	st      *State
	rows    int
}

func newCache(rows int) *cache {
	return &cache{max: rows, orgs: map[string]*list.Element{}, used: list.New()}
}

// cachedIndex returns the index of an organization, an empty one when it is not kept.
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

// evictBeyondBound counts the rows of one, whose loading lock is held, and lets go of the indexes that were not used for longest.
func (c *cache) evictBeyondBound(one *cached) {
	one.st.RLock()
	rows := len(one.st.rows)
	one.st.RUnlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	one.rows = rows
	total := 0
	for e := c.used.Front(); e != nil; {
		next, other := e.Next(), e.Value.(*cached)
		total += other.rows
		if total > c.max && e != c.used.Front() {
			c.used.Remove(e)
			delete(c.orgs, other.org)
		}
		e = next
	}
}
