// Package tabletest holds every engine of shared/engine/table to one behaviour, and hands other packages' tests a fresh store.
package tabletest

import (
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// New opens a fresh embedded store on the machine's clock, without syncing, that is closed when the test ends.
func New(tb testing.TB) *table.Embedded {
	tb.Helper()
	return NewAt(tb, clock.System{})
}

// NewAt is New on the clock c. The store never waits on it; call Sweep to remove what has expired.
func NewAt(tb testing.TB, c clock.Clock) *table.Embedded {
	tb.Helper()
	return Open(tb, filepath.Join(tb.TempDir(), "store.db"), c)
}

// Open opens the embedded store at path, for tests that close a store and open it again.
func Open(tb testing.TB, path string, c clock.Clock) *table.Embedded {
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
	return e
}
