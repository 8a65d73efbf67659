// Package memo remembers what was worked out of a text, for texts that come again and again, such as the rows that say who
// a caller is: those are read from the store for every request, and nearly always hold what they held before. As an answer
// belongs to the exact text, it cannot be out of date.
package memo

import (
	"crypto/sha256"
	"sync"
)

// most is how many answers are remembered.
const most = 1024

// Memo answers what its work gives for a text. It is safe for use by many goroutines. It knows texts by their SHA-256 only,
// so that no secret in one stays in memory, and remembers at most 1,024: when it is full it forgets all of them, which
// costs working them out again, and no more.
type Memo[V any] struct {
	work func(text []byte) (V, error)

	mu sync.RWMutex
	m  map[[sha256.Size]byte]V
}

// New makes a memo of work, which must give the same for the same text. Its answers are shared: nobody may change them.
func New[V any](work func(text []byte) (V, error)) *Memo[V] {
	return &Memo[V]{work: work, m: map[[sha256.Size]byte]V{}}
}

// Of returns what work gives for text. An error is not remembered.
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
	if len(m.m) >= most {
		clear(m.m)
	}
	m.m[sum] = v
}
