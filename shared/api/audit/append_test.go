package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

const org = "org_01k00000000000000000000000"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// anywhere returns a context that permits every partition, as no request may have.
func anywhere(tb testing.TB) context.Context {
	tb.Helper()
	return table.Within(tb.Context(), "")
}

// newRow returns a row as shared/api/rest passes it.
func newRow(action string) Row {
	return Row{
		Actor: "ada@example.com", UserID: "usr_1", Action: action, Method: "POST", Path: "/teams", Status: 200,
		IP: "192.0.2.1",
	}
}

// logOf returns the log of another process with the same store.
func logOf(s table.Store, c clock.Clock) *Log {
	return NewLog(Options{Store: s, Clock: c, Secret: []byte("of the tests")})
}

// leaveEntries leaves n entries.
func leaveEntries(tb testing.TB, l *Log, n int, between func()) {
	tb.Helper()
	for i := range n {
		if _, err := l.Append(tb.Context(), org, newRow(fmt.Sprint("action", i+1))); err != nil {
			tb.Fatal(err)
		}
		between()
	}
}

// mustLink links all waiting entries, and fails the test on an error.
func mustLink(tb testing.TB, l *Log) Linked {
	tb.Helper()
	got, err := l.Link(tb.Context(), PlaceOf(org), endless)
	if err != nil || got.Waiting != 0 {
		tb.Fatalf("%+v %v", got, err)
	}
	return got
}

func endless() bool { return false }

// mustHold requires that the chain of an organization is valid and has n rows.
func mustHold(t *testing.T, s table.Store, n int64) {
	t.Helper()
	v, err := VerifyChain(anywhere(t), s, PlaceOf(org), nil, never)
	if err != nil || !v.Holds || !v.Complete || v.Rows != n || v.LastSeq != n || n > 0 && v.FirstSeq != 1 {
		t.Fatalf("%+v, %+v, %v; want %d rows", v, v.BrokenAt, err, n)
	}
}

func never(int64) bool { return false }

// chained returns the actions of the chain in order.
func chained(t *testing.T, s table.Store) []string {
	t.Helper()
	var out []string
	for _, r := range rowsOf(t, s) {
		out = append(out, r.Action)
	}
	return out
}

func rowsOf(t *testing.T, s table.Store) []Row {
	t.Helper()
	var out []Row
	q := table.Query{PK: PlaceOf(org).PK, Limit: 1000}
	for {
		rows, next, err := table.ReadPage[Row](anywhere(t), s, q)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, rows...)
		if q.Cursor = next; next == "" {
			return out
		}
	}
}

// A thousand changes of one organization in a second, by fifty processes, on a store that throttles and conflicts like
// DynamoDB: each is recorded with its change, none is refused, and the chain is valid.
func TestAThousandChangesASecondOfOneOrganization(t *testing.T) {
	for _, hold := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(hold.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { thousandChanges(t, hold) })
		})
	}
}

func thousandChanges(t *testing.T, hold time.Duration) {
	t.Helper()
	store := tabletest.New(t)
	limited := table.NewLimitedStore(store, clock.System{}, table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: hold})
	began := time.Now()
	var all sync.WaitGroup
	for p := range 50 {
		fenced := table.Fenced(limited)
		l := logOf(fenced, clock.System{})
		for i := range 20 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 50 * time.Millisecond)
				makeChange(t, l, fenced, fmt.Sprintf("process%dchange%d", p, i))
			})
		}
	}
	all.Wait()
	changed := time.Since(began)
	if changed > 3*time.Second {
		t.Errorf("a thousand changes took %s", changed)
	}
	began = time.Now()
	got, err := logOf(table.Fenced(limited), clock.System{}).Link(t.Context(), PlaceOf(org), endless)
	if err != nil || got.Rows != 1000 || got.Waiting != 0 || time.Since(began) > 8*time.Second {
		t.Errorf("after %s %+v %v", time.Since(began), got, err)
	}
	r := limited.Report()
	t.Logf("hold %s: changed within %s, linked within %s, %d conflicts, %d throttled, %d given up",
		hold, changed, time.Since(began), r.Conflicts, r.Throttled, r.GivenUp)
	mustHold(t, table.Fenced(store), 1000)
	seen := map[string]bool{}
	for _, r := range rowsOf(t, table.Fenced(store)) {
		if seen[r.Action] || r.Status != 200 {
			t.Errorf("%s comes twice, or as it was under way: %d", r.Action, r.Status)
		}
		seen[r.Action] = true
	}
}

// makeChange makes a change like a request: one transaction, and its result at the end.
func makeChange(t *testing.T, l *Log, s table.Store, name string) {
	t.Helper()
	ctx, e := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow(name)})
	err := s.Transact(ctx,
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK(org) + "ACT#" + name, SK: name}}, table.Absent()))
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if _, err := e.Finish(ctx, Request{Org: org, Row: newRow(name), Answered: []byte(`{"id":"act_1"}`)}); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

func TestAnEntryCostsNoRoundTripWhereTheChangeSaysItAll(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	l := logOf(store, clock.System{})
	key := table.Key{PK: table.OrgPK(org) + "TEAM", SK: "team_1"}
	for _, c := range []struct {
		name  string
		do    func(context.Context) error
		final bool
		trips int
	}{
		{"nothing is changed", func(context.Context) error { return nil }, false, 1},
		{"a transaction", func(ctx context.Context) error {
			return store.Transact(ctx, table.Put(table.Item{Key: key}))
		}, false, 2},
		{"a transaction that says it all", func(ctx context.Context) error {
			return store.Transact(ctx, table.Put(table.Item{Key: key}))
		}, true, 1},
		{"a put", func(ctx context.Context) error {
			_, err := store.Write(ctx, table.Put(table.Item{Key: key}))
			return err
		}, true, 1},
		{"an update, which tells the item", func(ctx context.Context) error {
			it, err := store.Write(ctx, table.Update(key, []table.Change{table.Set("n", 1)}))
			if err == nil && string(it.Data) != `{"n":1}` {
				err = fmt.Errorf("it is %s", it.Data)
			}
			return err
		}, true, 2},
		{"a batch", func(ctx context.Context) error {
			return store.BatchWrite(ctx, table.Put(table.Item{Key: key}))
		}, true, 2},
	} {
		ctx, meter := table.WithMeter(table.WithOrg(t.Context(), org))
		ctx, e := l.Begin(ctx, Request{Org: org, Row: newRow(c.name)})
		NoteChange(ctx, Change{Final: c.final})
		if err := c.do(ctx); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if _, err := e.Finish(ctx, Request{Org: org, Row: newRow(c.name)}); err != nil {
			t.Fatal(err)
		}
		if got := meter.Usage().RoundTrips; got != c.trips {
			t.Errorf("%s: %d round trips, want %d", c.name, got, c.trips)
		}
	}
	mustLink(t, l)
	mustHold(t, store, 6)
}

// If a process dies between its change and its answer, the change is recorded, with an unknown status.
func TestAChangeWhoseProcessDiedIsOnRecord(t *testing.T) {
	c := clock.NewManual(noon)
	store := table.Fenced(tabletest.NewAt(t, c))
	l := logOf(store, c)
	ctx, _ := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow("killed")})
	NoteChange(ctx, Change{Target: "team_1"})
	if err := store.Transact(ctx,
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK(org) + "TEAM", SK: "team_1"}})); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Link(t.Context(), PlaceOf(org), endless); err != nil || got.Waiting != 1 || got.Rows != 0 {
		t.Errorf("while it may still be answered: %+v %v", got, err)
	}
	c.Advance(lost + time.Second)
	mustLink(t, logOf(store, c))
	mustHold(t, store, 1)
	if r := rowsOf(t, store)[0]; r.Action != "killed" || r.Status != 0 || r.Target != "team_1" {
		t.Errorf("%+v", r)
	}
}

// If the store fails one call in any way, the change and its row are stored once, and the caller is told so.
func TestWhateverTheStoreDoesOnceARowIsWrittenOnce(t *testing.T) {
	for name, harm := range map[string]table.Harm{
		"the call never arrives": table.FailBefore, "the reply is lost": table.FailAfter,
		"the store is throttled": table.Throttle,
	} {
		for call := 1; call <= 24; call++ {
			t.Run(fmt.Sprintf("%s, call %d", name, call), func(t *testing.T) {
				store := table.Fenced(tabletest.New(t))
				f := table.NewFaultyStore(store, clock.System{}, table.Injection{Harm: harm, Call: call})
				for i := range 3 {
					l := logOf(f, clock.System{})
					if _, err := l.Append(t.Context(), org, newRow(fmt.Sprint("row", i))); err != nil {
						t.Fatal(err)
					}
					for range 3 { // a reader retries
						if _, err := l.Link(t.Context(), PlaceOf(org), endless); err == nil {
							break
						}
					}
				}
				mustLink(t, logOf(store, clock.System{}))
				mustHold(t, store, 3)
			})
		}
	}
}

// interposed makes something happen after a call, and loses the reply of that call.
type interposed struct {
	table.Store
	after func() // called once
}

func (s *interposed) lose(err error) error {
	if s.after == nil {
		return err
	}
	after := s.after
	s.after = nil
	after()
	return table.ErrLost
}

func (s *interposed) Write(ctx context.Context, w table.Write) (table.Item, error) {
	it, err := s.Store.Write(ctx, w)
	return it, s.lose(err)
}

func (s *interposed) Transact(ctx context.Context, ws ...table.Write) error {
	return s.lose(s.Store.Transact(ctx, ws...))
}

// The reply to an entry is lost, and another process links the entry before it is stored again (check 78).
func TestALostReplyNeitherDoublesNorLosesARow(t *testing.T) {
	for name, others := range map[string]int{
		"and nobody else writes":              0,
		"and another process writes one":      1,
		"and another process writes hundreds": 300,
	} {
		t.Run(name, func(t *testing.T) {
			store := table.Fenced(tabletest.New(t))
			elsewhere := logOf(store, clock.System{})
			s := &interposed{Store: store}
			l := logOf(s, clock.System{})
			s.after = func() {
				leaveEntries(t, elsewhere, others, func() {})
				mustLink(t, elsewhere)
			}
			if _, err := l.Append(t.Context(), org, newRow("lost")); err != nil {
				t.Fatal(err)
			}
			leaveEntries(t, l, 1, func() {})
			mustLink(t, l)
			mustHold(t, store, int64(2+others))
			if n := strings.Count(strings.Join(chained(t, store), " "), "lost"); n != 1 {
				t.Errorf("it is there %d times", n)
			}
		})
	}
}

// The entry that was stored with a change is complete, and linked before the answer is known; then it is stored again.
func TestWhatWasLinkedBeforeItsEndComesOnce(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	l := logOf(store, clock.System{})
	ctx, e := l.Begin(table.WithOrg(t.Context(), org), Request{Org: org, Row: newRow("quick")})
	NoteChange(ctx, Change{Target: "team_1", Final: true})
	if err := store.Transact(ctx,
		table.Put(table.Item{Key: table.Key{PK: table.OrgPK(org) + "TEAM", SK: "team_1"}})); err != nil {
		t.Fatal(err)
	}
	mustLink(t, l)
	failed := newRow("quick")
	failed.Status = 500
	if _, err := e.Finish(ctx, Request{Org: org, Row: failed}); err != nil {
		t.Fatal(err)
	}
	mustLink(t, l)
	mustHold(t, store, 1)
}

func TestAStoreThatIsDownIsAnErrorAndTheChainGoesOnAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := table.Fenced(tabletest.New(t))
		f := table.NewFaultyStore(store, clock.System{}, table.Injection{Harm: table.FailBefore})
		l := logOf(f, clock.System{})
		if _, err := l.Append(t.Context(), org, newRow("down")); !errors.Is(err, table.ErrDown) {
			t.Fatalf("%v, want ErrDown", err)
		}
		f.RemoveFaults()
		leaveEntries(t, l, 1, func() {})
		mustLink(t, l)
		mustHold(t, store, 1)
	})
}

func TestAClientThatGoesAwayDoesNotKeepItsChangeOffTheRecord(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := logOf(store, clock.System{})
	if _, err := l.Append(ctx, org, newRow("gone")); err != nil {
		t.Fatal(err)
	}
	mustLink(t, l)
	mustHold(t, store, 1)
}

func TestRowsOfNoOrganizationGoToTheInstallation(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	l := logOf(store, clock.System{})
	for i := range 64 {
		r := newRow("signUp")
		r.IP = fmt.Sprintf("192.0.2.%d", i)
		if _, err := l.Append(t.Context(), "", r); err != nil {
			t.Fatal(err)
		}
	}
	rows, used := int64(0), 0
	for _, at := range SystemPlaces() {
		if _, err := l.Link(t.Context(), at, endless); err != nil {
			t.Fatal(err)
		}
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

func TestChainsAreForgottenBeforeTheyAreTooMany(t *testing.T) {
	l := logOf(table.Fenced(tabletest.New(t)), clock.System{})
	for i := range 2*maxChains + 1 {
		l.leave(l.enter(PlaceOf(fmt.Sprint("org_", i))))
	}
	if len(l.chains) > maxChains {
		t.Errorf("%d chains are remembered", len(l.chains))
	}
}

func BenchmarkAppend(b *testing.B) {
	l := logOf(table.Fenced(tabletest.New(b)), clock.System{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(b.Context(), org, newRow("bench")); err != nil {
			b.Fatal(err)
		}
	}
}
