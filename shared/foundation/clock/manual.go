package clock

import (
	"context"
	"sync"
	"time"
)

// Manual is a clock for tests. It moves only when Advance is called.
type Manual struct {
	mu      sync.Mutex
	now     time.Time
	waiters map[chan struct{}]time.Time
	came    chan struct{} // closed when another sleeper arrives
}

// NewManual starts a clock at now.
func NewManual(now time.Time) *Manual {
	return &Manual{now: now.UTC(), waiters: map[chan struct{}]time.Time{}, came: make(chan struct{})}
}

// Now returns the time the clock was moved to last.
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
	close(m.came)
	m.came = make(chan struct{})
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

// Advance moves the clock ahead by d and wakes the sleepers whose time has come.
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

// SleeperCount returns how many sleepers wait for the clock.
func (m *Manual) SleeperCount() int {
	n, _ := m.waiting()
	return n
}

// AwaitSleepers waits until at least n sleepers wait for the clock, so that a test does not move it too early. It
// returns the error of ctx if ctx ends first.
func (m *Manual) AwaitSleepers(ctx context.Context, n int) error {
	for {
		waiting, came := m.waiting()
		if waiting >= n {
			return nil
		}
		select {
		case <-came:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// waiting returns the number of sleepers, and a channel that is closed when another one arrives.
func (m *Manual) waiting() (n int, came <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiters), m.came
}

var (
	_ Clock = System{}
	_ Clock = (*Manual)(nil)
)
