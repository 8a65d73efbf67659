package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const day = 24 * time.Hour

var words = ratelimit.Backoff{
	Name: "words", Free: 3, PerYear: 20,
	Delays: []time.Duration{time.Minute, 4 * time.Minute, 9 * time.Minute},
}

// guessAt counts a guess and returns how long it would have to wait instead.
func guessAt(t *testing.T, s table.Store, at time.Time, b ratelimit.Backoff) (ratelimit.Guess, time.Duration) {
	t.Helper()
	g, wait, err := b.Take(t.Context(), s, at, "ada")
	if err != nil {
		t.Fatal(err)
	}
	return g, wait
}

// startOfSomeDay returns midnight UTC after the time of the clock of tests.
func startOfSomeDay(c interface{ Now() time.Time }) time.Time { return c.Now().Truncate(day).Add(day) }

func TestBackoff_DelaysGrowToTheLastOne(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	at := startOfSomeDay(c)
	for i, delay := range []time.Duration{
		0, 0, 0, time.Minute, 4 * time.Minute, 9 * time.Minute, 9 * time.Minute,
	} {
		if delay > 0 {
			if _, wait := guessAt(t, p.Table, at.Add(delay-time.Second), words); wait != time.Second {
				t.Errorf("guess %d a second early: wait %s", i+1, wait)
			}
		}
		at = at.Add(delay)
		if _, wait := guessAt(t, p.Table, at, words); wait != 0 {
			t.Errorf("guess %d after %s: wait %s", i+1, delay, wait)
		}
	}
	if _, wait := guessAt(t, p.Table, at.Truncate(day).Add(day), words); wait != 0 {
		t.Errorf("the first of the next day: wait %s", wait)
	}
}

func TestBackoff_WaitingTakesNothing(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	at := startOfSomeDay(c)
	for range 3 {
		guessAt(t, p.Table, at, words)
	}
	for range 1000 {
		if _, wait := guessAt(t, p.Table, at.Add(59*time.Second), words); wait != time.Second {
			t.Fatalf("wait %s", wait)
		}
	}
	if _, wait := guessAt(t, p.Table, at.Add(time.Minute), words); wait != 0 {
		t.Errorf("a minute after the last guess that was made: wait %s", wait)
	}
}

func TestBackoff_ADayHasALimit(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	daily := ratelimit.Backoff{Name: "daily", PerDay: 5, PerYear: 100}
	noon := startOfSomeDay(c).Add(12 * time.Hour)
	for range 5 {
		if _, wait := guessAt(t, p.Table, noon, daily); wait != 0 {
			t.Fatalf("wait %s", wait)
		}
	}
	if _, wait := guessAt(t, p.Table, noon, daily); wait != 12*time.Hour {
		t.Errorf("wait %s, until midnight are 12h", wait)
	}
	if wait, err := daily.Wait(t.Context(), p.Table, noon, "ada"); err != nil || wait != 12*time.Hour {
		t.Errorf("who only asks hears %s, %v", wait, err)
	}
	if _, wait, err := daily.Take(t.Context(), p.Table, noon, "eve"); err != nil || wait != 0 {
		t.Errorf("somebody else: %s, %v", wait, err)
	}
}

// However slowly somebody guesses, no 365 days have more guesses than the limit of a year.
func TestBackoff_NoYearHasMoreThanItsLimit(t *testing.T) {
	for _, every := range []time.Duration{time.Hour, 18*day + 5*time.Hour, 19 * day} {
		t.Run(fmt.Sprint("a guess every ", every), func(t *testing.T) {
			p, c := apitest.NewPlatform(t)
			var made []time.Time
			begin := startOfSomeDay(c)
			for at := begin; at.Before(begin.Add(3 * 366 * day)); at = at.Add(max(every, 6*time.Hour)) {
				c.Advance(at.Sub(c.Now())) // items expire by the clock of the store
				if _, wait := guessAt(t, p.Table, at, words); wait == 0 {
					made = append(made, at)
				}
			}
			for i := words.PerYear; i < len(made); i++ {
				if span := made[i].Sub(made[i-words.PerYear]); span < 365*day {
					t.Fatalf("%d guesses within %s", words.PerYear+1, span)
				}
			}
			if len(made) < 2*words.PerYear {
				t.Errorf("%d guesses in three years: old ones are not forgotten", len(made))
			}
		})
	}
}

func TestBackoff_TheWaitOfAYearIsTrue(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	at := startOfSomeDay(c)
	for range words.PerYear {
		guessAt(t, p.Table, at, words)
		at = at.Add(day)
	}
	_, wait := guessAt(t, p.Table, at, words)
	c.Advance(at.Add(wait).Sub(c.Now()))
	if _, early := guessAt(t, p.Table, c.Now().Add(-time.Second), words); early != time.Second {
		t.Errorf("a second before the wait of %s ends: %s", wait, early)
	}
	if _, late := guessAt(t, p.Table, c.Now(), words); late != 0 {
		t.Errorf("after it: %s", late)
	}
}

func TestBackoff_ConcurrentGuessesGetNoMoreThanSequentialOnes(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	at := startOfSomeDay(c)
	var made atomic.Int64
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, wait, err := words.Take(t.Context(), p.Table, at, "ada"); err != nil {
				t.Error(err)
			} else if wait == 0 {
				made.Add(1)
			}
		})
	}
	wg.Wait()
	if made.Load() != int64(words.Free) {
		t.Errorf("%d of 50 were made, where %d belong", made.Load(), words.Free)
	}
}

func TestBackoff_AReturnedGuessCountsForNothing(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	at := startOfSomeDay(c)
	for range 3 {
		guessAt(t, p.Table, at, words)
	}
	for i := range 10 { // right ones, without a wait between them
		g, wait := guessAt(t, p.Table, at.Add(time.Hour), words)
		if wait != 0 {
			t.Fatalf("right guess %d: wait %s", i+1, wait)
		}
		if err := g.Return(t.Context(), p.Table); err != nil {
			t.Fatal(err)
		}
	}
	first, _ := guessAt(t, p.Table, at.Add(2*time.Hour), words)
	guessAt(t, p.Table, at.Add(2*time.Hour+4*time.Minute), words) // somebody else meanwhile
	if err := first.Return(t.Context(), p.Table); err != nil {
		t.Fatal(err)
	}
	if _, wait := guessAt(t, p.Table, at.Add(2*time.Hour+4*time.Minute), words); wait != 4*time.Minute {
		t.Errorf("wait %s: after one wrong guess above the free ones it is 4m", wait)
	}
}

func TestBackoff_AStoreThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		harm   table.Harm
		made   bool
		failed bool
	}{
		"down: the guess is made, and told": {table.FailBefore, true, true},
		"throttled: it waits":               {table.Throttle, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := apitest.NewPlatform(t)
			s := table.NewFaultyStore(p.Table, c, table.Injection{Harm: tt.harm, PK: ratelimit.Prefix})
			g, wait, err := words.Take(t.Context(), s, c.Now(), "ada")
			if (wait == 0) != tt.made || (err != nil) != tt.failed {
				t.Errorf("wait %s, %v", wait, err)
			}
			if err = g.Return(t.Context(), s); err != nil {
				t.Errorf("nothing was taken: %v", err)
			}
		})
	}
}

func TestDescribeWait(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"a minute": time.Second, "2 minutes": time.Minute + time.Second, "14 minutes": 14 * time.Minute,
		"2 hours": 90*time.Minute + time.Second, "47 hours": 47 * time.Hour, "3 days": 49 * time.Hour,
		"212 days": 212 * day,
	} {
		if got := ratelimit.DescribeWait(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}
