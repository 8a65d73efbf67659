// Package tabletest holds every engine of shared/table to one behaviour, and hands other packages' tests a fresh store.
package tabletest

import (
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/table"
)

// New opens a fresh embedded store on the machine's clock, without syncing, that is closed when the test ends.
func New(t testing.TB) *table.Embedded {
	t.Helper()
	return NewAt(t, clock.System{})
}

// NewAt is New on the clock c. The store never waits on it; call Sweep to remove what has expired.
func NewAt(t testing.TB, c clock.Clock) *table.Embedded {
	t.Helper()
	return Open(t, filepath.Join(t.TempDir(), "store.db"), c)
}

// Open opens the embedded store at path, for tests that close a store and open it again.
func Open(t testing.TB, path string, c clock.Clock) *table.Embedded {
	t.Helper()
	e, err := table.Open(path, table.Options{NoSync: true, Clock: c, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
