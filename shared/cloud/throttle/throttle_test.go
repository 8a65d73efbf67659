package throttle_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/cloud/throttle"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// provider is an API that enforces a limit as AWS documents it: a bucket that is refilled every second, counted by
// call.
type provider struct {
	mu             sync.Mutex
	limit          throttle.Limit
	tokens         float64
	at             time.Time
	taken, refused int
}

func (p *provider) call(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.at.IsZero() {
		p.at, p.tokens = now, p.limit.Burst
	}
	whole := now.Sub(p.at).Truncate(time.Second)
	p.at, p.tokens = p.at.Add(whole), min(p.limit.Burst, p.tokens+whole.Seconds()*p.limit.PerSecond)
	if p.tokens < float64(n) {
		p.refused++
		return false
	}
	p.tokens -= float64(n)
	p.taken += n
	return true
}

var describe = throttle.Key{Account: "111122223333", Region: "eu-west-1", API: "ec2:DescribeInstances"}

func limits(l throttle.Limit) map[string]throttle.Limit { return map[string]throttle.Limit{"ec2": l} }

// ask calls until the context ends, and reports each answer to the limiter.
func ask(ctx context.Context, l *throttle.Limiter, p *provider) {
	for l.Wait(ctx, describe, 1) == nil {
		if p.call(1) {
			l.Answered(describe)
		} else {
			l.Throttled(describe, 0)
		}
		_ = clock.System{}.Sleep(ctx, 50*time.Millisecond) // that a call takes
	}
}

func newStore(t *testing.T) table.Store {
	t.Helper()
	if tabletest.Limits() != nil {
		t.Skip("limits its store itself")
	}
	return apitest.PlatformAt(t, clock.System{}).Table
}

// Twelve processes with four callers each, for two minutes, against the bucket of EC2's describes.
func TestLimiter_OfManyProcessesUsesAnAccountsLimitAndHardlyExceedsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, p := newStore(t), &provider{limit: throttle.Limit{PerSecond: 20, Burst: 100}}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		for range 12 {
			l := throttle.New(throttle.Options{
				Clock: clock.System{}, Store: store,
				Limits: limits(throttle.Limit{PerSecond: 19, Burst: 60}),
			})
			for range 4 {
				wg.Go(func() { ask(ctx, l, p) })
			}
		}
		wg.Wait()
		most := 100 + 20*120
		t.Logf("%d calls of %d that the limit allows, %d refused", p.taken, most, p.refused)
		if p.taken < most*9/10 {
			t.Errorf("%d calls; want at least nine in ten of %d", p.taken, most)
		}
		if p.refused > p.taken*3/100 {
			t.Errorf("%d refused of %d; want at most 3 in a hundred", p.refused, p.taken)
		}
	})
}

// The provider grants half of its documented rate, because the customer's own tools use the rest.
func TestLimiter_SlowsDownToWhatTheProviderTakesAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, p := newStore(t), &provider{limit: throttle.Limit{PerSecond: 6, Burst: 20}}
		l := throttle.New(throttle.Options{
			Clock: clock.System{}, Store: store,
			Limits: limits(throttle.Limit{PerSecond: 19, Burst: 60}),
		})
		during := func(d time.Duration) (taken, refused int) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			taken, refused = p.taken, p.refused
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { ask(ctx, l, p) })
			}
			wg.Wait()
			return p.taken - taken, p.refused - refused
		}
		during(30 * time.Second)
		taken, refused := during(2 * time.Minute)
		t.Logf("%d taken, %d refused of a provider that takes 720", taken, refused)
		if taken < 720*6/10 || refused > taken/10 {
			t.Errorf("%d taken and %d refused; want most of 720, and few refusals", taken, refused)
		}
		p.limit = throttle.Limit{PerSecond: 20, Burst: 100}
		during(30 * time.Second)
		if taken, refused = during(30 * time.Second); taken < 30*17 || refused > taken/50 {
			t.Errorf("after the provider has recovered: %d taken and %d refused in 30 s; want nearly 570", taken,
				refused)
		}
	})
}

// counted counts the writes to a store, and fails when it is told to.
type counted struct {
	table.Store
	writes int
	down   bool
}

func (c *counted) Write(ctx context.Context, w table.Write) (table.Item, error) {
	c.writes++
	if c.down {
		return table.Item{}, table.ErrDown
	}
	return c.Store.Write(ctx, w)
}

func TestLimiter_AsksTheStoreOnlyBeyondWhatAProcessMayTakeFreely(t *testing.T) {
	for name, tt := range map[string]struct{ calls, least, most int }{
		"three calls":     {3, 0, 0},
		"ten calls":       {10, 1, 5},
		"a hundred calls": {100, 10, 40},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &counted{Store: newStore(t)}
				l := throttle.New(throttle.Options{
					Clock: clock.System{}, Store: s,
					Limits: limits(throttle.Limit{PerSecond: 19, Burst: 60}),
				})
				for range tt.calls {
					if err := l.Wait(t.Context(), describe, 1); err != nil {
						t.Fatal(err)
					}
				}
				if s.writes < tt.least || s.writes > tt.most {
					t.Errorf("%d writes; want %d to %d", s.writes, tt.least, tt.most)
				}
			})
		})
	}
}

func TestLimiter_GoesOnAloneWhenTheStoreFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counted{Store: newStore(t), down: true}
		l := throttle.New(throttle.Options{
			Clock: clock.System{}, Store: s,
			Limits: limits(throttle.Limit{PerSecond: 10, Burst: 20}),
		})
		began := time.Now()
		for range 123 {
			if err := l.Wait(t.Context(), describe, 1); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took < 9*time.Second || took > 11*time.Second {
			t.Errorf("123 calls took %s; a burst of 20, 3 freely and 10 a second are 10 s", took)
		}
		if s.writes > 4 {
			t.Errorf("a store that is down was asked %d times in 10 s; want once each 5 s", s.writes)
		}
	})
}

// The stop of ids: as many at once as count, and the rest is worth to ask for later.
func TestLimiter_TakesOfManyIDsWhatCountsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, ids := newStore(t), throttle.Key{Account: "1", Region: "r", API: "ec2:StopInstances#ids"}
		o := throttle.Options{
			Clock: clock.System{}, Store: store,
			Limits: map[string]throttle.Limit{ids.API: {PerSecond: 20, Burst: 1000}},
		}
		one, other := throttle.New(o), throttle.New(o)
		if got, wait := one.Take(t.Context(), ids, 700); got != 700 || wait != 0 {
			t.Errorf("one gets %d of 700, and is to wait %s", got, wait)
		}
		if got, wait := other.Take(t.Context(), ids, 500); got != 300 || wait < 5*time.Second || wait > 30*time.Second {
			t.Errorf("the other gets %d of 500, and is to wait %s; want the 300 that are left, and some seconds", got,
				wait)
		}
		time.Sleep(10 * time.Second)
		if got, _ := one.Take(t.Context(), ids, 500); got < 190 || got > 200 {
			t.Errorf("ten seconds later one gets %d; want the 200 that came back", got)
		}
		one.Throttled(ids, 7*time.Second)
		if got, wait := one.Take(t.Context(), ids, 30); got != 0 || wait < 7*time.Second {
			t.Errorf("throttled, it gets %d and is to wait %s; want none for 7 s", got, wait)
		}
	})
}

func TestLimiter_KeepsAccountsRegionsAndAPIsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := throttle.New(throttle.Options{Clock: clock.System{}, Store: newStore(t), Limits: map[string]throttle.Limit{
			"ec2": {PerSecond: 1, Burst: 3}, "ec2:StopInstances": {PerSecond: 1, Burst: 3}, "": {},
		}})
		l.Throttled(describe, time.Hour)
		for name, k := range map[string]throttle.Key{
			"another account": {Account: "2", Region: describe.Region, API: describe.API},
			"another region":  {Account: describe.Account, Region: "us-east-1", API: describe.API},
			"a call with its own limit": {
				Account: describe.Account, Region: describe.Region,
				API: "ec2:StopInstances",
			},
			"a service that has no limit": {
				Account: describe.Account, Region: describe.Region,
				API: "rds:DescribeDBInstances",
			},
		} {
			began := time.Now()
			if err := l.Wait(t.Context(), k, 1); err != nil || time.Since(began) > 0 {
				t.Errorf("%s waits %s: %v", name, time.Since(began), err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if l.Wait(ctx, throttle.Key{Account: describe.Account, Region: describe.Region, API: "ec2:DescribeRegions"},
			1) == nil {
			t.Error("a call that shares the throttled bucket does not wait")
		}
	})
}

func TestLimiter_APauseEndsAndSlowsNothingDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := throttle.New(throttle.Options{
			Clock:  clock.System{},
			Limits: limits(throttle.Limit{PerSecond: 10, Burst: 20}),
		})
		l.Pause(describe, 5*time.Second)
		began := time.Now()
		for range 55 {
			if err := l.Wait(t.Context(), describe, 1); err != nil {
				t.Fatal(err)
			}
		}
		if d := time.Since(began); d < 8*time.Second || d > 11*time.Second {
			t.Errorf("55 calls took %s; want 5 s, and then a burst of 20 and 10 a second", d)
		}
		began = time.Now()
		l.Pause(describe, time.Hour)
		if err := l.Wait(t.Context(), describe, 1); err != nil || time.Since(began) > 65*time.Second {
			t.Errorf("after %s: %v; want no more than a minute kept", time.Since(began), err)
		}
	})
}

func TestLimiter_LeavesRowsThatExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		l := throttle.New(throttle.Options{
			Clock: clock.System{}, Store: store,
			Limits: limits(throttle.Limit{PerSecond: 10, Burst: 20}),
		})
		for range 30 {
			if err := l.Wait(t.Context(), describe, 1); err != nil {
				t.Fatal(err)
			}
		}
		key := table.Key{PK: throttle.Prefix + "111122223333#eu-west-1#ec2", SK: "N"}
		it, err := store.Get(table.Within(t.Context(), throttle.Prefix), key)
		if left := time.Until(it.Expires); err != nil || left < time.Minute || left > time.Hour {
			t.Fatalf("the row expires in %s: %v", left, err)
		}
	})
}
