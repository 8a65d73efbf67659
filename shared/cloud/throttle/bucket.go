package throttle

import (
	"math/rand/v2"
	"sync"
	"time"
)

// How a bucket adapts: a refusal halves its speed, down to slowest; each second with an answer adds raise of the full
// one.
const (
	slowest = 1.0 / 16
	raise   = 1.0 / 20
	round   = time.Second // refusals within it are one
	quiet   = time.Second // nothing is sent after a refusal that names no time, and up to half as long again
)

// The tokens that a process may take without asking the others: few enough that many processes together stay below the
// margin that providers leave above their limits, and enough for the usual work of a process.
const (
	freeShare  = 1.0 / 20  // of the burst
	freeLeast  = 3         // calls at least
	freeReturn = 1.0 / 500 // of the rate
)

// bucket is one process's share of an account's bucket: its free tokens, and the slots that it has leased.
type bucket struct {
	key   Key
	limit Limit
	turn  chan struct{} // held by who leases: a channel, for a mutex must not be held during a call to the store

	mu     sync.Mutex
	used   time.Time // guarded by the limiter
	free   float64
	filled time.Time // when free was counted
	lease  lease
	spoken int64     // until when all slots are spoken for, as last known, in Unix microseconds
	speed  float64   // 1 is the limit's
	cut    time.Time // when it was slowed down last
	raised time.Time // when it was made faster last
	until  time.Time // nothing is sent before
	alone  time.Time // the store is not asked before: it did not answer
	batch  int       // slots of the last lease
	leased time.Time // when it was
}

// lease are slots that this process alone may use: left of them, the first one at next, each every after the one
// before.
type lease struct {
	left    int
	next    time.Time
	every   time.Duration
	expires time.Time
}

func newBucket(k Key, limit Limit, now time.Time) *bucket {
	limit.Burst = max(limit.Burst, 1)
	b := &bucket{key: k, limit: limit, turn: make(chan struct{}, 1), filled: now, speed: 1}
	b.free = b.mostFree()
	return b
}

func (b *bucket) mostFree() float64 {
	return min(b.limit.Burst, max(freeLeast, b.limit.Burst*freeShare))
}

// every is how far apart slots are at the bucket's speed.
func (b *bucket) every() time.Duration {
	return time.Duration(float64(time.Second) / (b.limit.PerSecond * b.speed))
}

// spend takes n tokens of the process's share. at is the time from which they count; ok is false when the share is too
// small.
func (b *bucket) spend(now time.Time, n int) (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = min(b.mostFree(), b.free+now.Sub(b.filled).Seconds()*b.limit.PerSecond*freeReturn)
	b.filled = now
	at = now
	if b.until.After(at) {
		at = b.until
	}
	if b.speed == 1 && b.free >= float64(n) { // a throttled bucket leaves spare tokens to other processes
		b.free -= float64(n)
		return at, true
	}
	if b.lease.left < n || now.After(b.lease.expires) {
		return at, false
	}
	last := b.lease.next.Add(time.Duration(n-1) * b.lease.every)
	b.lease.left, b.lease.next = b.lease.left-n, last.Add(b.lease.every)
	if last.After(at) {
		at = last
	}
	return at, true
}

// keep keeps n slots from the time on that they count, in Unix microseconds.
func (b *bucket) keep(now time.Time, n int, from int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	every := b.every()
	first := time.UnixMicro(from).Add(every - b.tolerance()).UTC()
	if b.until.After(first) {
		first = b.until // else all that was leased in a pause would go at its end
	}
	end := first.Add(time.Duration(n) * every)
	if end.Before(now) {
		end = now
	}
	b.lease = lease{left: n, next: first, every: every, expires: end.Add(round)}
	b.batch, b.leased = n, now
}

// tolerance is by how much slots may be used early: that is the burst. A bucket that is throttled has none to give.
func (b *bucket) tolerance() time.Duration {
	if b.speed < 1 {
		return b.every()
	}
	return b.burst()
}

// burst is how long the bucket takes to fill at the limit's rate.
func (b *bucket) burst() time.Duration {
	return time.Duration(b.limit.Burst / b.limit.PerSecond * float64(time.Second))
}

// demand is how many slots to lease for n: more, up to a quarter of a second's, while leases are used up at once, so
// that who goes on asking does not go to the store each time.
func (b *bucket) demand(now time.Time, n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.leased) > 2*time.Second {
		return n
	}
	return max(n, min(2*b.batch, int(b.limit.PerSecond*b.speed/4)))
}

func (b *bucket) slow(now time.Time, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if after <= 0 {
		after = quiet + rand.N(quiet/2) //nolint:gosec // spreads load, keeps no secret
	}
	if until := now.Add(after); until.After(b.until) {
		b.until = until
	}
	if now.Sub(b.cut) < round {
		return
	}
	b.speed, b.cut, b.raised = max(b.speed/2, slowest), now, b.until
	b.lease = lease{} // slots of the speed before
}

func (b *bucket) pause(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.until) {
		b.until = until
	}
}

func (b *bucket) recover(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.speed < 1 && now.Sub(b.raised) >= round {
		b.speed, b.raised = min(1, b.speed+raise), now
	}
}

// The shortest and the longest wait before a refused call is repeated.
const (
	shortest = 2 * time.Second
	longest  = 30 * time.Second
)

// rest is how long it is until some more of n tokens count: all, or as many as are worth coming back for.
func (b *bucket) rest(now time.Time, n int) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	paused := b.until.Sub(now)
	return min(max(time.Duration(n)*b.every(), paused, shortest), max(longest, paused))
}
