package index_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/indextest"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// maxRow is how many bytes a row may take in memory: with them 500,000 fit into a function of 512 MB.
const maxRow = 250

// TestAnIndexTakesWhatItSays compares the size that an index reports with the growth of the heap, including everything
// that is built on demand.
func TestAnIndexTakesWhatItSays(t *testing.T) {
	race.SkipSequential(t)
	for _, c := range []struct {
		name       string
		orgs, rows int
	}{{"one large organization", 1, 100_000}, {"many of a thousand", 40, 1000}, {"many of a few", 200, 5}} {
		t.Run(c.name, func(t *testing.T) {
			stored := tabletest.NewUnlimited(t)
			for n := range c.orgs {
				indextest.Fill(t, stored, org(n), c.rows)
			}
			before := heap()
			s, said := index.NewStore(stored, clock.System{}), 0
			for n := range c.orgs {
				said += open(t, s, org(n))
			}
			took := heap() - before
			t.Logf("%d bytes a row; said %.1f MB, took %.1f MB", took/(c.orgs*c.rows), float64(said)/1e6,
				float64(took)/1e6)
			if off := float64(said)/float64(took) - 1; off < -0.15 || off > 0.15 {
				t.Errorf("it says %d bytes and takes %d: %+.0f %%", said, took, 100*off)
			}
			if c.orgs == 1 && took > c.rows*maxRow {
				t.Errorf("%d bytes a row; %d are allowed", took/c.rows, maxRow)
			}
			runtime.KeepAlive(s)
		})
	}
}

func org(n int) string { return fmt.Sprintf("org_%d", n) }

// open reads an index, builds everything that is built on demand, and returns the size that the index reports, in
// bytes.
func open(t *testing.T, s *index.Store, org string) int {
	t.Helper()
	v, err := s.Open(table.WithOrg(context.Background(), org), org)
	if err != nil {
		t.Fatal(err)
	}
	v.State.RLockByID()()
	for _, which := range []int{index.NameOrder, index.StatusOrder} {
		v.State.RLockOrdered(which)()
	}
	v.State.RLock()
	defer v.State.RUnlock()
	return v.State.Bytes()
}

// heap returns how many bytes are in use after everything was collected.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
