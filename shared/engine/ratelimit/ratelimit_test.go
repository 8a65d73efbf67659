package ratelimit_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

var codes = ratelimit.Rule{Name: "codes", Max: 5, Per: time.Hour}

func takeUse(t *testing.T, s table.Store, now time.Time, r ratelimit.Rule, who string) bool {
	t.Helper()
	ok, err := ratelimit.TakeUse(context.Background(), s, now, r, who)
	if err != nil {
		t.Fatal(err)
	}
	return ok
}

func TestOfManyRacersExactlyMaxPass(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			if ok, err := ratelimit.TakeUse(context.Background(), p.Table, c.Now(), codes, "ada"); err != nil {
				t.Error(err)
			} else if ok {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	if passed.Load() != codes.Max {
		t.Errorf("%d of 200 passed, where %d belong", passed.Load(), codes.Max)
	}
}

func TestAWindow(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	began := c.Now().Truncate(time.Hour)
	for range codes.Max {
		if !takeUse(t, p.Table, began.Add(time.Hour-time.Nanosecond), codes, "ada") {
			t.Fatal("refused below the limit")
		}
	}
	for name, tt := range map[string]struct {
		at   time.Time
		rule ratelimit.Rule
		who  string
		want bool
	}{
		"is used up at its end":            {began.Add(time.Hour - time.Nanosecond), codes, "ada", false},
		"is used up at its begin":          {began, codes, "ada", false},
		"is another one an hour later":     {began.Add(time.Hour), codes, "ada", true},
		"is another one for somebody else": {began, codes, "eve", true},
		"is another one under another rule": {
			began,
			ratelimit.Rule{Name: "invitations", Max: 5, Per: time.Hour},
			"ada", true,
		},
		"takes anything for who": {began, codes, strings.Repeat("#ORG#", 1000), true},
		"is not shared by a name and a hash": {
			began,
			ratelimit.Rule{Name: "codes#ada", Max: 5, Per: time.Hour},
			"",
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := takeUse(t, p.Table, tt.at, tt.rule, tt.who); got != tt.want {
				t.Errorf("passes: %v", got)
			}
		})
	}
}

func TestACountIsForgotten(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	w := ratelimit.CountWrite(c.Now(), codes, "ada")
	if !strings.HasPrefix(w.Item.PK, ratelimit.Prefix+"codes#") || strings.Contains(w.Item.PK, "ada") {
		t.Errorf("the key is %s", w.Item.PK)
	}
	takeUse(t, p.Table, c.Now(), codes, "ada")
	ctx := table.Within(context.Background(), ratelimit.Prefix)
	it, err := p.Table.Get(ctx, w.Item.Key)
	end := c.Now().Truncate(time.Hour).Add(time.Hour)
	if err != nil || it.Expires.Before(end) || it.Expires.After(end.Add(time.Hour)) {
		t.Fatalf("%+v, %v", it, err)
	}
	c.Advance(2 * time.Hour)
	if _, err := p.Table.Get(ctx, w.Item.Key); !fault.Is(err, fault.NotFound) {
		t.Errorf("it is still there: %v", err)
	}
}

func TestACounterThatFails(t *testing.T) {
	for name, tt := range map[string]struct {
		harm   table.Harm
		ok     bool
		failed bool
	}{
		"throttled: who floods is refused": {table.Throttle, false, false},
		"down: it passes, and is told":     {table.FailBefore, true, true},
		"lost reply: it passes, and told":  {table.FailAfter, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, c := apitest.NewPlatform(t)
			s := table.NewFaultyStore(p.Table, c, table.Injection{Harm: tt.harm, PK: ratelimit.Prefix})
			ok, err := ratelimit.TakeUse(context.Background(), s, c.Now(), codes, "ada")
			if ok != tt.ok || (err != nil) != tt.failed {
				t.Errorf("passes: %v, %v", ok, err)
			}
		})
	}
}

func TestARuleThatIsNoneLetsNothingPass(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	for _, r := range []ratelimit.Rule{{Name: "none", Max: 0, Per: time.Hour}, {Name: "never", Max: 1}} {
		if ok, err := ratelimit.TakeUse(context.Background(), p.Table, c.Now(), r, "ada"); ok || err == nil {
			t.Errorf("%s passes: %v, %v", r.Name, ok, err)
		}
	}
}

// In a transaction, the limited change is only made while the limit is not reached.
func TestCountingInATransaction(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	ctx := table.Within(context.Background(), ratelimit.Prefix, "THING#")
	once := ratelimit.Rule{Name: "once", Max: 1, Per: time.Minute}
	for i, want := range []bool{true, false} {
		k := table.Key{PK: "THING#" + string(rune('a'+i)), SK: "T"}
		err := p.Table.Transact(ctx, ratelimit.CountWrite(c.Now(), once, "ada"),
			table.Put(table.Item{Key: k, Data: []byte(`{}`)}))
		if (err == nil) != want {
			t.Errorf("turn %d: %v", i, err)
		}
		if _, err := p.Table.Get(ctx, k); (err == nil) != want {
			t.Errorf("turn %d: the thing: %v", i, err)
		}
	}
}

func TestWhatIsGivenBackCanBeTakenAgain(t *testing.T) {
	p, c := apitest.NewPlatform(t)
	began := c.Now()
	giveBack := func() {
		if err := ratelimit.ReturnUse(t.Context(), p.Table, began, codes, "ada"); err != nil {
			t.Fatal(err)
		}
	}
	giveBack() // nothing was taken, so nothing is given back
	for range codes.Max {
		takeUse(t, p.Table, began, codes, "ada")
	}
	giveBack()
	for _, want := range []bool{true, false} {
		if got := takeUse(t, p.Table, began, codes, "ada"); got != want {
			t.Errorf("passes: %v, want %v", got, want)
		}
	}
	c.Advance(2 * time.Hour)
	giveBack() // the window is over, and its count deleted
	if !takeUse(t, p.Table, c.Now(), codes, "ada") {
		t.Error("the next window is not whole")
	}
}

func BenchmarkTake(b *testing.B) {
	p, c := apitest.NewPlatform(b)
	many := ratelimit.Rule{Name: "many", Max: 1 << 40, Per: time.Hour}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := ratelimit.TakeUse(context.Background(), p.Table, c.Now(), many, "ada"); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
