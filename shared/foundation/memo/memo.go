// Package memo caches the result of a function of a text. Authorization uses it for the items that describe a caller:
// they are read from the store for every request and rarely change. A cached result belongs to the exact text, so it
// cannot be out of date.
package memo

import (
	"crypto/sha256"
	"sync"
)

// maxEntries is how many results a Memo holds.
const maxEntries = 1024

// Memo caches the results of work. It is safe for concurrent use. It stores only the SHA-256 of each text, so that a
// secret in the text does not stay in memory. When it holds maxEntries results, it drops all of them.
type Memo[V any] struct {
	work func(text []byte) (V, error)

	mu sync.RWMutex
	m  map[[sha256.Size]byte]V
}

// New returns a Memo of work. The function must return equal results for equal texts. Callers share the results and
// must not change them.
func New[V any](work func(text []byte) (V, error)) *Memo[V] {
	return &Memo[V]{work: work, m: map[[sha256.Size]byte]V{}}
}

// Of returns the result of work for text. It does not cache errors.
func (m *Memo[V]) Of(text []byte) (V, error) {
	sum := sha256.Sum256(text)
	m.mu.RLock()
	v, ok := m.m[sum]
	m.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := m.work(text)
	if err == nil {
		m.put(sum, v)
	}
	return v, err
}

func (m *Memo[V]) put(sum [sha256.Size]byte, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.m) >= maxEntries {
		clear(m.m)
	}
	m.m[sum] = v
}
