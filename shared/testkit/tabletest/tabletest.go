// Package tabletest holds every engine of shared/engine/table to one behaviour, and hands other packages' tests a fresh store.
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

// Store is an embedded store of a test's, held to DynamoDB's limits when Limits says so.
type Store struct {
	table.Store
	embedded *table.Embedded
}

// Close is Embedded's.
func (s *Store) Close() error { return s.embedded.Close() }

// Sweep is Embedded's.
func (s *Store) Sweep(ctx context.Context) (int, error) { return s.embedded.Sweep(ctx) }

// New opens a fresh embedded store on the machine's clock, without syncing, that is closed when the test ends.
func New(tb testing.TB) *Store {
	tb.Helper()
	return NewAt(tb, clock.System{})
}

// NewAt is New on the clock c. The store never waits on it; call Sweep to remove what has expired.
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

// NewUnlimited returns a store that is not held to Limits: for what is there before a test begins, which is written faster than
// DynamoDB takes it.
func NewUnlimited(tb testing.TB) table.Store {
	tb.Helper()
	return New(tb).embedded
}

// limitsVariable makes the stores of tests as limited as DynamoDB's: `make test-limits` sets it to 1.
const limitsVariable = "LAMPLIGHTER_TEST_LIMITS"

// Limits are those of DynamoDB, with transactions that take 2 ms; nil unless the tests are run on limited stores.
func Limits() *table.Limits {
	if os.Getenv(limitsVariable) != "1" {
		return nil
	}
	return &table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: 2 * time.Millisecond}
}

// Limited returns s held to Limits, if there are any. It waits on the machine's clock, whatever the test's is.
func Limited(s table.Store) table.Store {
	l := Limits()
	if l == nil {
		return s
	}
	return table.NewLimitedStore(s, clock.System{}, *l)
}
