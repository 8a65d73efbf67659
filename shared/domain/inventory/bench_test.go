package inventory

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/teams"
	"lamplighter.dev/shared/testkit/apitest"
)

// many is how many resources the benchmarks have.
const many = 100_000

// filled is an organization with many resources. It is made once: the benchmarks that share it change nothing.
var filled *fixture

func fill(b *testing.B) *fixture {
	b.Helper()
	if filled != nil {
		return filled
	}
	s := newFixture(lasting{b})
	begin := time.Now()
	s.discover(b, many)
	b.Logf("wrote %d resources in %v", many, time.Since(begin))
	filled = s
	return s
}

// lasting is the benchmark that made the shared fixture. The other benchmarks of the process use the fixture too, so
// it is not cleaned up at the end of that benchmark.
type lasting struct{ testing.TB }

// Cleanup does nothing.
func (lasting) Cleanup(func()) {}

// Context never ends.
func (lasting) Context() context.Context { return context.Background() }

// discover writes n resources in batches, as a scan does.
func (s *fixture) discover(tb testing.TB, n int) {
	tb.Helper()
	sc := s.scan("job_1")
	for from := 0; from < n; from += MaxBatch {
		s.upsert(sc, instances(from, min(n, from+MaxBatch))...)
	}
	s.finish(sc)
}

func benchmarkFind(b *testing.B, l List, want int) {
	b.Helper()
	s := fill(b)
	l.Sight = SeeEverything()
	if got, _, err := s.store.FindPage(s.ctx, testOrg, l); err != nil || len(got) != want {
		b.Fatalf("%d of %d: %v", len(got), want, err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.store.FindPage(s.ctx, testOrg, l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPage1(b *testing.B) { benchmarkFind(b, List{Limit: 20}, 20) }

func BenchmarkPage5000ByName(b *testing.B) {
	benchmarkFind(b, List{By: "name", Skip: 4999 * 20, Limit: 20}, 20)
}

func BenchmarkPage5000ByStatusDescending(b *testing.B) {
	benchmarkFind(b, List{By: "status", Descending: true, Skip: 4999 * 20, Limit: 20}, 20)
}

func BenchmarkSearchThatFindsNothing(b *testing.B) {
	benchmarkFind(b, List{Filter: Filter{Search: "Nowhere to be found"}, Limit: 20}, 0)
}

func BenchmarkSearchForATag(b *testing.B) {
	benchmarkFind(b, List{Filter: Filter{Search: "owner=person-499"}, Limit: 20}, 20)
}

// BenchmarkPageInScope reads a page for a caller with a grant on a team that owns a tenth of everything.
func BenchmarkPageInScope(b *testing.B) {
	s := fill(b)
	found, err := s.store.FindResources(s.ctx, testOrg, List{Filter: everything, Limit: many / 10})
	if err != nil {
		b.Fatal(err)
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = found[i].ID
	}
	team := s.own(teams.Team{ID: "team_1", Name: "team"}, ids)
	defer func() {
		if err := s.teams().Delete(s.ctx, testOrg, team, Disown(testOrg, team.ID)...); err != nil {
			b.Fatal(err)
		}
	}()
	l := List{Filter: Filter{Sight: scopesOf("team_1")}, Limit: 20}
	b.ReportAllocs()
	for b.Loop() {
		if got, err := s.store.FindResources(s.ctx, testOrg, l); err != nil || len(got) != 20 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkFirstRead reads the first page in a process with an empty cache: chunks are read, decoded and sorted.
func BenchmarkFirstRead(b *testing.B) {
	s := fill(b)
	b.ReportAllocs()
	for b.Loop() {
		got, err := NewStore(s.Table, s.Clock).FindResources(s.ctx, testOrg, List{Filter: everything, Limit: 20})
		if err != nil || len(got) != 20 {
			b.Fatal(len(got), err)
		}
	}
}

// BenchmarkRescan upserts a batch of 1,000 unchanged resources.
func BenchmarkRescan(b *testing.B) {
	s := fill(b)
	batch := instances(0, MaxBatch)
	b.ReportAllocs()
	for b.Loop() {
		c, err := s.store.UpsertScanned(s.ctx, testOrg,
			Batch{Scan: s.scan("job_2"), At: s.Clock.Now(), Resources: batch})
		if err != nil || c[0].Unchanged != MaxBatch {
			b.Fatal(c, err)
		}
	}
}

// BenchmarkDiscovery writes all resources into an empty inventory: seconds per run, and bytes of the index in memory
// and in the store for each resource.
func BenchmarkDiscovery(b *testing.B) {
	for b.Loop() {
		s := newFixture(b)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.discover(b, many)
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/many, "heap-B/resource")
		b.ReportMetric(float64(s.stored())/many, "stored-B/resource")
		b.ReportMetric(float64(resident(b))/1e6, "resident-MB")
		runtime.KeepAlive(s)
	}
}

// stored returns how many bytes the index has in the store.
func (s *fixture) stored() int {
	s.Helper()
	sum, pks := 0, []string{index.PK(testOrg)}
	for n := 0; n < len(pks); n++ {
		page, err := s.Table.Query(s.ctx, table.Query{PK: pks[n], Limit: 10_000})
		s.Must(err)
		for _, it := range page.Items {
			sum += len(it.Data)
		}
		if n == 0 {
			pks = append(pks, apitest.Value(ChunkPartitions(testOrg, page.Items))(s)...)
		}
	}
	return sum
}

// resident returns the memory of the process in bytes, without the pages of the store's file. It returns 0 on systems
// that do not report it.
func resident(b *testing.B) int {
	b.Helper()
	stat, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages, shared int
	if _, err = fmt.Sscan(string(stat), &size, &pages, &shared); err != nil {
		b.Fatal("statm", strconv.Quote(string(stat)), err)
	}
	b.ReportMetric(float64(shared*os.Getpagesize())/1e6, "file-MB")
	return (pages - shared) * os.Getpagesize()
}

// BenchmarkSummary counts all resources with their facets, and sees the running ones.
func BenchmarkSummary(b *testing.B) {
	s := fill(b)
	f := Filter{Statuses: []string{"running"}, Sight: SeeEverything()}
	b.ReportAllocs()
	for b.Loop() {
		seen := 0
		sum, err := s.store.SummarizeRunning(s.ctx, testOrg, f, func(string) { seen++ })
		if err != nil || sum.Total != seen {
			b.Fatal(sum.Total, seen, err)
		}
	}
}
