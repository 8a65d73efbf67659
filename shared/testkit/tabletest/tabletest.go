// Package tabletest tests that every engine of shared/engine/table behaves the same, and provides stores for the tests
// of other packages.
package tabletest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// Store is an embedded store for a test, limited like DynamoDB if Limits says so.
type Store struct {
	table.Store
	embedded *table.Embedded
}

// Close closes the embedded store.
func (s *Store) Close() error { return s.embedded.Close() }

// Sweep removes expired items from the embedded store.
func (s *Store) Sweep(ctx context.Context) (int, error) { return s.embedded.Sweep(ctx) }

// New opens a new embedded store with the machine's clock and without syncing. It is closed when the test ends.
func New(tb testing.TB) *Store {
	tb.Helper()
	return NewAt(tb, clock.System{})
}

// NewAt is New with the clock c. The store does not remove expired items by itself; call Sweep.
func NewAt(tb testing.TB, c clock.Clock) *Store {
	tb.Helper()
	return Open(tb, filepath.Join(tb.TempDir(), "store.db"), c)
}

// Open opens the embedded store at path, for tests that close a store and open it again.
func Open(tb testing.TB, path string, c clock.Clock) *Store {
	tb.Helper()
	e, err := table.Open(path, table.Options{NoSync: true, Clock: c, SweepEvery: -1})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return &Store{Limited(e), e}
}

// NewUnlimited returns a store without Limits, for preparing data faster than DynamoDB accepts it.
func NewUnlimited(tb testing.TB) table.Store {
	tb.Helper()
	return New(tb).embedded
}

// limitsVariable makes the stores of tests as limited as DynamoDB: `make test-limits` sets it to 1.
const limitsVariable = "LAMPLIGHTER_TEST_LIMITS"

// Limits are those of DynamoDB, with transactions of 2 ms; nil unless the tests run with limited stores.
func Limits() *table.Limits {
	if os.Getenv(limitsVariable) != "1" {
		return nil
	}
	return &table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: 2 * time.Millisecond}
}

// Limited returns s with Limits, if there are any. It waits on the machine's clock, not on that of the test.
func Limited(s table.Store) table.Store {
	l := Limits()
	if l == nil {
		return s
	}
	return table.NewLimitedStore(s, clock.System{}, *l)
}
