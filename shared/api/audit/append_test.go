package audit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/foundation/clock"
)

const org = "org_01k00000000000000000000000"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// anywhere lets a test read every partition, as no request may.
func anywhere(t *testing.T) context.Context {
	t.Helper()
	return table.Within(t.Context(), "")
}

// row returns a row as shared/api/rest hands it in.
func row(action string) Row {
	return Row{Actor: "ada@example.com", UserID: "usr_1", Action: action, Method: "POST", Path: "/teams", Status: 200, IP: "192.0.2.1"}
}

// mustHold wants the chain of an organization to hold, and to have n rows.
func mustHold(t *testing.T, s table.Store, n int64) {
	t.Helper()
	v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
	if err != nil || !v.Holds || !v.Complete || v.Rows != n || v.LastSeq != n || n > 0 && v.FirstSeq != 1 {
		t.Fatalf("%+v, %+v, %v; want %d rows", v, v.BrokenAt, err, n)
	}
}

func never(int64) bool { return false }

func TestFiftyRacersInThreeProcessesMakeOneChain(t *testing.T) {
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	processes := []*Log{NewLog(store, c), NewLog(store, c), NewLog(store, c)}
	seen, all := sync.Map{}, sync.WaitGroup{}
	for i := range 50 {
		all.Go(func() {
			got, err := processes[i%3].Append(t.Context(), org, row(fmt.Sprint("race", i)))
			if err != nil {
				t.Error(err)
			}
			if other, twice := seen.LoadOrStore(got.Seq, got.Action); twice {
				t.Errorf("%v and %s both got number %d", other, got.Action, got.Seq)
			}
		})
	}
	all.Wait()
	mustHold(t, store, 50)
}

// gated holds transactions back until its gate is open, and counts them.
type gated struct {
	table.Store
	gate  chan struct{}
	calls atomic.Int64
}

func (g *gated) Transact(ctx context.Context, ws ...table.Write) error {
	g.calls.Add(1)
	<-g.gate
	return g.Store.Transact(ctx, ws...)
}

func TestRowsThatComeMeanwhileShareATransaction(t *testing.T) { synctest.Test(t, shareATransaction) }

func shareATransaction(t *testing.T) {
	g := &gated{Store: table.Fenced(tabletest.New(t)), gate: make(chan struct{})}
	l := NewLog(g, clock.System{})
	var all sync.WaitGroup
	for i := range 120 {
		all.Go(func() {
			if _, err := l.Append(t.Context(), org, row(fmt.Sprint("one", i))); err != nil {
				t.Error(err)
			}
		})
	}
	synctest.Wait() // one transaction is under way, and who comes meanwhile waits
	close(g.gate)
	all.Wait()
	if n := g.calls.Load(); n > 3 { // the one that was under way, and two for at most 119 rows
		t.Errorf("120 rows took %d transactions", n)
	}
	mustHold(t, g, 120)
}

func TestARowCostsOneRoundTripWhereTheEndIsKnown(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	here, there := NewLog(store, clock.System{}), NewLog(store, clock.System{})
	for _, step := range []struct {
		name  string
		log   *Log
		trips int
	}{
		{"the first row of all", here, 1},
		{"the next of the same process", here, 1},
		{"the first of another process", there, 2},
		{"its second", there, 1},
		{"the first process again, which was overtaken", here, 2},
		{"and again", here, 1},
	} {
		ctx, meter := table.WithMeter(t.Context())
		if _, err := step.log.Append(ctx, org, row("trip")); err != nil {
			t.Fatal(err)
		}
		if got := meter.Usage().RoundTrips; got != step.trips {
			t.Errorf("%s: %d round trips, want %d", step.name, got, step.trips)
		}
	}
	mustHold(t, store, 6)
}

// interposed lets something happen after a transaction and loses the reply to it.
type interposed struct {
	table.Store
	after func() // once
}

func (s *interposed) Transact(ctx context.Context, ws ...table.Write) error {
	err := s.Store.Transact(ctx, ws...)
	if s.after != nil {
		after := s.after
		s.after = nil
		after()
		return table.ErrLost
	}
	return err
}

// A reply that is lost leaves open whether the row is written (check 78).
func TestALostReplyNeitherDoublesNorLosesARow(t *testing.T) {
	for name, others := range map[string]int{
		"and nobody else writes":              0,
		"and another process writes one":      1,
		"and another process writes a dozen":  12,
		"and another process writes hundreds": 300,
	} {
		t.Run(name, func(t *testing.T) {
			store := table.Fenced(tabletest.New(t))
			elsewhere := NewLog(store, clock.System{})
			s := &interposed{Store: store}
			l := NewLog(s, clock.System{})
			if _, err := l.Append(t.Context(), org, row("before")); err != nil {
				t.Fatal(err)
			}
			s.after = func() {
				for i := range others {
					if _, err := elsewhere.Append(t.Context(), org, row(fmt.Sprint("other", i))); err != nil {
						t.Error(err)
					}
				}
			}
			got, err := l.Append(t.Context(), org, row("lost"))
			if err != nil || got.Seq != 2 || got.Action != "lost" {
				t.Fatalf("%+v %v", got, err)
			}
			if _, err := l.Append(t.Context(), org, row("after")); err != nil {
				t.Fatal(err)
			}
			mustHold(t, store, int64(3+others))
		})
	}
}

func TestWhateverTheStoreDoesOnceARowIsWrittenOnce(t *testing.T) {
	for name, harm := range map[string]table.Harm{
		"the call never arrives": table.FailBefore, "the reply is lost": table.FailAfter, "the store is throttled": table.Throttle,
	} {
		for call := 1; call <= 4; call++ {
			t.Run(fmt.Sprintf("%s, call %d", name, call), func(t *testing.T) {
				store := table.Fenced(tabletest.New(t))
				f := table.NewFaultyStore(store, clock.System{}, table.Injection{Harm: harm, Call: call})
				for i := range 5 {
					if _, err := NewLog(f, clock.System{}).Append(t.Context(), org, row(fmt.Sprint("row", i))); err != nil {
						t.Fatal(err)
					}
				}
				mustHold(t, store, 5)
			})
		}
	}
}

func TestAStoreThatIsDownIsAnErrorAndTheChainGoesOnAfterwards(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	f := table.NewFaultyStore(store, clock.System{}, table.Injection{Harm: table.FailBefore})
	l := NewLog(f, clock.System{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	c := l.enter(PlaceOf(org))
	e := &entry{row: row("down"), done: make(chan struct{})}
	if err := c.append(table.Within(ctx, ""), e); !errors.Is(err, table.ErrDown) {
		t.Fatalf("%v, want ErrDown", err)
	}
	l.leave(c)
	f.RemoveFaults()
	if _, err := l.Append(t.Context(), org, row("up")); err != nil {
		t.Fatal(err)
	}
	mustHold(t, store, 1)
}

// broken panics in its first transaction.
type broken struct {
	table.Store
	once sync.Once
}

func (b *broken) Transact(ctx context.Context, ws ...table.Write) error {
	b.once.Do(func() { panic("of the store") })
	return b.Store.Transact(ctx, ws...)
}

func TestAPanicOfTheStoreDoesNotLockTheChain(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	l := NewLog(&broken{Store: store}, clock.System{})
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = l.Append(t.Context(), org, row("panic"))
	}()
	if _, err := l.Append(t.Context(), org, row("next")); err != nil {
		t.Fatal(err)
	}
	mustHold(t, store, 1)
}

func TestAClientThatGoesAwayDoesNotKeepItsChangeOffTheRecord(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewLog(store, clock.System{}).Append(ctx, org, row("gone")); err != nil {
		t.Fatal(err)
	}
	mustHold(t, store, 1)
}

// Processes whose clocks differ by five minutes keep one order (check 83).
func TestTimeNeverGoesBackAlongAChain(t *testing.T) {
	ahead, behind := clock.NewManual(noon.Add(5*time.Minute)), clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, behind))
	a, b := NewLog(store, ahead), NewLog(store, behind)
	for i := range 6 {
		l := []*Log{a, b}[i%2]
		got, err := l.Append(t.Context(), org, row("skewed"))
		if err != nil || !got.At.Equal(noon.Add(5*time.Minute)) {
			t.Fatalf("row %d at %s, %v", i, got.At, err)
		}
	}
	behind.Advance(10 * time.Minute)
	if got, err := b.Append(t.Context(), org, row("later")); err != nil || !got.At.Equal(noon.Add(10*time.Minute)) {
		t.Errorf("%s %v", got.At, err)
	}
	mustHold(t, store, 7)
}

func TestRowsOfNoOrganizationGoToTheInstallation(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	l := NewLog(store, clock.System{})
	for i := range 64 {
		r := row("signUp")
		r.IP = fmt.Sprintf("192.0.2.%d", i)
		if _, err := l.Append(t.Context(), "", r); err != nil {
			t.Fatal(err)
		}
	}
	rows, used := int64(0), 0
	for _, at := range SystemPlaces() {
		v, err := VerifyChain(anywhere(t), store, at, nil, never)
		if err != nil || !v.Holds {
			t.Fatalf("%s: %+v %v", at.PK, v, err)
		}
		if rows += v.Rows; v.Rows > 0 {
			used++
		}
	}
	if rows != 64 || used < systemChains/2 {
		t.Errorf("%d rows in %d chains", rows, used)
	}
	mustHold(t, store, 0)
}

func TestEndsOfChainsAreForgottenBeforeTheyAreTooMany(t *testing.T) {
	l := NewLog(table.Fenced(tabletest.New(t)), clock.System{})
	for i := range 2*maxChains + 1 {
		l.leave(l.enter(PlaceOf(fmt.Sprint("org_", i))))
	}
	if len(l.chains) > maxChains {
		t.Errorf("%d chains are remembered", len(l.chains))
	}
}

func BenchmarkAppend(b *testing.B) {
	l := NewLog(table.Fenced(tabletest.New(b)), clock.System{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(b.Context(), org, row("bench")); err != nil {
			b.Fatal(err)
		}
	}
}
