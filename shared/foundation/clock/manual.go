package clock

import (
	"context"
	"sync"
	"time"
)

// Manual is a clock that moves only when it is told to.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	waiters map[chan struct{}]time.Time
}

// NewManual starts a clock at now.
func NewManual(now time.Time) *Manual {
	return &Manual{now: now.UTC(), waiters: map[chan struct{}]time.Time{}}
}

// Now is the time the clock was moved to last.
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// Sleep waits until the clock has been moved d ahead.
func (m *Manual) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	ch := make(chan struct{})
	m.mu.Lock()
	m.waiters[ch] = m.now.Add(d)
	m.mu.Unlock()
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		m.mu.Lock()
		delete(m.waiters, ch)
		m.mu.Unlock()
		return ctx.Err()
	}
}

// Advance moves the clock ahead by d and wakes who waited for it.
func (m *Manual) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
	for ch, at := range m.waiters {
		if !at.After(m.now) {
			delete(m.waiters, ch)
			close(ch)
		}
	}
}

// Waiting tells how many sleepers wait for the clock, for tests that must not move it too early.
func (m *Manual) Waiting() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiters)
}

var (
	_ Clock = System{}
	_ Clock = (*Manual)(nil)
)
