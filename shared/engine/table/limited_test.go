package table_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// dynamoLimits are the limits of DynamoDB.
var dynamoLimits = table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: 20 * time.Millisecond}

func TestLimitedContract(t *testing.T) {
	tabletest.Run(t, func(t *testing.T) table.Store {
		t.Helper()
		// a case of the contract writes one item 2,400 times
		l := table.Limits{ReadUnits: 12_000, WriteUnits: 4000, Hold: time.Millisecond}
		return table.NewLimitedStore(tabletest.New(t), clock.System{}, l)
	})
}

// limitedTest runs test in a bubble of virtual time, with an empty store with DynamoDB's limits.
func limitedTest(t *testing.T, test func(*testing.T, *table.LimitedStore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		test(t, table.NewLimitedStore(tabletest.New(t), clock.System{}, dynamoLimits))
	})
}

// smallItem is an item of one write unit.
func smallItem(pk, sk string) table.Item {
	return table.Item{Key: table.Key{PK: pk, SK: sk}, Data: []byte(`{"a":1}`)}
}

// mustWrite puts an item.
func mustWrite(t *testing.T, s table.Store, it table.Item) {
	t.Helper()
	if _, err := s.Write(t.Context(), table.Put(it)); err != nil {
		t.Fatal(err)
	}
}

// inParallel calls do n times concurrently, and returns the errors.
func inParallel(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errs
}

func TestLimitedStore_GivesAPartitionKeyItsUnitsASecond(t *testing.T) {
	write := func(s table.Store, pk string) func(t *testing.T, i int) {
		return func(t *testing.T, i int) { t.Helper(); mustWrite(t, s, smallItem(pk, strconv.Itoa(i))) }
	}
	for _, c := range []struct {
		name   string
		calls  int
		call   func(table.Store) func(*testing.T, int)
		least  time.Duration
		most   time.Duration
		spread bool
	}{
		{"one second's writes at once", 1000, func(s table.Store) func(*testing.T, int) {
			return write(s, "p")
		}, 0, 0, false},
		{"three seconds' writes, of which one was saved", 3000, func(s table.Store) func(*testing.T, int) {
			return write(s, "p")
		}, 1900 * time.Millisecond, 2500 * time.Millisecond, false},
		{"two seconds' reads, of which one was saved", 6000, func(s table.Store) func(*testing.T, int) {
			return func(t *testing.T, _ int) {
				t.Helper()
				if _, err := s.Query(t.Context(), table.Query{PK: "p", Limit: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}, 900 * time.Millisecond, 1500 * time.Millisecond, false},
		{"writes over four keys", 4000, func(s table.Store) func(*testing.T, int) {
			return func(t *testing.T, i int) { t.Helper(); write(s, "p"+strconv.Itoa(i%4))(t, i) }
		}, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
				t.Helper()
				call, start := c.call(s), time.Now()
				for i := range c.calls {
					call(t, i)
				}
				if took := time.Since(start); took < c.least || took > c.most {
					t.Errorf("%d calls took %v, want %v to %v", c.calls, took, c.least, c.most)
				}
				if r := s.Report(); (r.Throttled > 0) != (c.least > 0) || r.Conflicts > 0 || r.GivenUp > 0 {
					t.Errorf("refused: %+v", r)
				}
			})
		})
	}
}

func TestLimitedStore_ChargesWhatTheMeterCounts(t *testing.T) {
	k := table.Key{PK: "p", SK: "1"}
	// 97 write units, 25 read units
	big := table.Item{Key: k, Data: []byte(`{"a":"` + strings.Repeat("x", 99_000) + `"}`)}
	for _, c := range []struct {
		name string
		call func(context.Context, table.Store) error
		want table.Units
	}{
		{"a get", func(ctx context.Context, s table.Store) error {
			_, err := s.Get(ctx, k)
			return err
		}, table.Units{Read: 25}},
		{"a query", func(ctx context.Context, s table.Store) error {
			_, err := s.Query(ctx, table.Query{PK: "p", Limit: 1})
			return err
		}, table.Units{Read: 25}},
		{"an update, by the larger of before and after", func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, table.Update(k, []table.Change{table.Set("a", 1)}))
			return err
		}, table.Units{Write: 97}},
		{"a write whose condition failed", func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, table.Delete(k, table.Absent()))
			if fault.Is(err, fault.Conflict) {
				return nil
			}
			return fmt.Errorf("got %w", err)
		}, table.Units{Write: 97}},
		{"a transaction twice", func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, table.Check(k, table.Exists()), table.Put(smallItem("q", "1")))
		}, table.Units{Write: 194}},
		{"a batch get with an absent item", func(ctx context.Context, s table.Store) error {
			_, err := s.BatchGet(ctx, k, table.Key{PK: "p", SK: "2"})
			return err
		}, table.Units{Read: 26}},
		{"a batch write", func(ctx context.Context, s table.Store) error {
			return s.BatchWrite(ctx, table.Delete(k), table.Put(smallItem("p", "2")))
		}, table.Units{Write: 98}},
		{"nothing for a call refused as malformed", func(ctx context.Context, s table.Store) error {
			if _, err := s.Write(ctx, table.Put(table.Item{Key: k, Data: []byte(`[]`)})); !fault.Is(err,
				fault.Invalid) {
				return fmt.Errorf("got %w", err)
			}
			return nil
		}, table.Units{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inner := tabletest.New(t)
			mustWrite(t, inner, big)
			l := table.NewLimitedStore(inner, clock.NewManual(time.Unix(1000, 0)),
				table.Limits{ReadUnits: 3000, WriteUnits: 1000})
			ctx, m := table.WithPartitionMeter(t.Context())
			if err := c.call(ctx, l); err != nil {
				t.Fatal(err)
			}
			if got := m.Partitions()["p"]; got != c.want && c.want != (table.Units{}) {
				t.Errorf("the meter counted %+v, want %+v", got, c.want)
			}
			if got := l.Report().Peaks["p"]; got != c.want && c.want != (table.Units{}) {
				t.Errorf("the partition was charged %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestLimitedStore_ThrottlesAfterACallOnCredit(t *testing.T) {
	limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
		t.Helper()
		var ws []table.Write
		for i := range 10 {
			ws = append(ws,
				table.Put(table.Item{
					Key:  table.Key{PK: "p", SK: strconv.Itoa(i)},
					Data: []byte(`{"a":"` + strings.Repeat("x", 61_000) + `"}`),
				}))
		}
		// 1,200 units: those of a fifth of a second more than available
		if err := s.Transact(t.Context(), ws...); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		mustWrite(t, s, smallItem("p", "x"))
		if took := time.Since(start); took < 150*time.Millisecond || s.Report().Throttled == 0 {
			t.Errorf("the next write waited %v after %d refusals, want a fifth of a second", took, s.Report().Throttled)
		}
	})
}

func TestLimitedStore_RefusesWhatATransactionHolds(t *testing.T) {
	held := smallItem("p", "held")
	for _, c := range []struct {
		name      string
		call      func(context.Context, table.Store) error
		conflicts bool
	}{
		{"a single write", func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, table.Delete(held.Key))
			return err
		}, true},
		{"a transaction", func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, table.Put(held))
		}, true},
		{"a check in a transaction", func(ctx context.Context, s table.Store) error {
			return s.Transact(ctx, table.Put(smallItem("p", "other")), table.Check(held.Key, table.Exists()))
		}, true},
		{"a batch write", func(ctx context.Context, s table.Store) error {
			return s.BatchWrite(ctx, table.Put(held))
		}, true},
		{"no write of another item", func(ctx context.Context, s table.Store) error {
			_, err := s.Write(ctx, table.Put(smallItem("p", "other")))
			return err
		}, false},
		{"no get", func(ctx context.Context, s table.Store) error {
			_, err := s.Get(ctx, held.Key)
			return err
		}, false},
		{"no batch get", func(ctx context.Context, s table.Store) error {
			_, err := s.BatchGet(ctx, held.Key)
			return err
		}, false},
		{"no query", func(ctx context.Context, s table.Store) error {
			_, err := s.Query(ctx, table.Query{PK: "p", Limit: 1})
			return err
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
				t.Helper()
				mustWrite(t, s, held)
				done := make(chan error)
				go func() {
					done <- s.Transact(t.Context(), table.Check(held.Key, table.Exists()),
						table.Put(smallItem("q", "1")))
				}()
				synctest.Wait()
				if err := c.call(t.Context(), s); err != nil {
					t.Error(err)
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
				if r := s.Report(); (r.Conflicts > 0) != c.conflicts || r.GivenUp > 0 || r.Throttled > 0 {
					t.Errorf("refused: %+v", r)
				}
			})
		})
	}
}

func TestLimitedStore_LetsGoOfATransactionWhoseContextEnds(t *testing.T) {
	limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if err := s.Transact(ctx, table.Put(smallItem("p", "1"))); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		mustWrite(t, s, smallItem("p", "1"))
		if r := s.Report(); r.Conflicts > 0 || r.Peaks["p"].Write != 2 { // of the transaction, which returned them
			t.Errorf("%+v", r)
		}
	})
}

func TestLimitedStore_GivesUpAsDynamoDBDoes(t *testing.T) {
	t.Run("a conflict that does not end", func(t *testing.T) {
		limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
			t.Helper()
			hot := smallItem("p", "hot")
			errs := inParallel(150, func(i int) error {
				return s.Transact(t.Context(), table.Put(hot), table.Put(smallItem("q"+strconv.Itoa(i), "1")))
			})
			lost := 0
			for _, err := range errs {
				if err == nil {
					continue
				}
				lost++
				if !errors.Is(err, table.ErrConflicted) || !fault.Is(err, fault.Unavailable) ||
					!strings.Contains(err.Error(), "p hot") {
					t.Fatalf("got %v, want a conflict that names the item", err)
				}
			}
			if r := s.Report(); lost == 0 || r.GivenUp != lost || r.Conflicts < 8*lost {
				t.Errorf("%d calls failed, reported %+v", lost, r)
			}
		})
	})
	t.Run("a partition key that is asked for too much", func(t *testing.T) {
		limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
			t.Helper()
			errs := inParallel(9000, func(i int) error {
				_, err := s.Write(t.Context(), table.Put(smallItem("p", strconv.Itoa(i))))
				return err
			})
			lost := 0
			for _, err := range errs {
				if err == nil {
					continue
				}
				lost++
				if !errors.Is(err, table.ErrThrottled) || !fault.Is(err, fault.Unavailable) {
					t.Fatalf("got %v, want it throttled", err)
				}
			}
			if r := s.Report(); lost == 0 || r.GivenUp != lost || r.Throttled < 8*lost {
				t.Errorf("%d calls failed, reported %+v", lost, r)
			}
		})
	})
}

func TestLimitedStore_BatchesGoOnWithWhatWasLeft(t *testing.T) {
	limitedTest(t, func(t *testing.T, s *table.LimitedStore) {
		t.Helper()
		var ws []table.Write
		var keys []table.Key
		for i := range 4000 {
			it := smallItem("p", strconv.Itoa(i))
			ws, keys = append(ws, table.Put(it)), append(keys, it.Key)
		}
		start := time.Now()
		if err := s.BatchWrite(t.Context(), ws...); err != nil {
			t.Fatal(err)
		}
		wrote := time.Since(start)
		if wrote < 2900*time.Millisecond || wrote > 4*time.Second {
			t.Errorf("4,000 writes took %v, want three seconds", wrote)
		}
		ctx, m := table.WithPartitionMeter(t.Context())
		items, err := s.BatchGet(ctx, keys...)
		if err != nil || len(items) != 4000 || m.Usage().ReadUnits != 4000 {
			t.Errorf("%d items came back for %+v, %v", len(items), m.Usage(), err)
		}
		if r := s.Report(); r.GivenUp > 0 || r.Peaks["p"].Write < 1000 || r.Peaks["p"].Read < 3000 {
			t.Errorf("%+v", r)
		}
	})
}
