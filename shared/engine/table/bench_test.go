package table_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

// pad makes items about 250 bytes large, as in the measurements that the engine is compared with.
var pad = strings.Repeat("x", 200)

// newRows returns puts of n items of a partition.
func newRows(pk string, n int) []table.Write {
	ws := make([]table.Write, n)
	for i := range ws {
		ws[i] = newRow(pk, i)
	}
	return ws
}

// newRow returns a put of one item.
func newRow(pk string, i int) table.Write {
	k := table.Key{PK: pk, SK: fmt.Sprintf("%08d", i)}
	return table.Put(table.Item{Key: k, Data: fmt.Appendf(nil, `{"i":%d,"name":"item","pad":"%s"}`, i, pad)})
}

// openLoaded returns a store with 20,000 items in 100 partitions.
func openLoaded(b *testing.B, o table.Options) *table.Embedded {
	b.Helper()
	o.SweepEvery = -1
	s, err := table.Open(filepath.Join(b.TempDir(), "store.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for p := range 100 {
		if err := s.BatchWrite(b.Context(), newRows(fmt.Sprintf("p%02d", p), 200)...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	return s
}

// loadedKey returns the key of one of the loaded items.
func loadedKey(i int) table.Key {
	return table.Key{PK: fmt.Sprintf("p%02d", i*7919%100), SK: fmt.Sprintf("%08d", i*104729%200)}
}

func BenchmarkPut(b *testing.B) {
	s := openLoaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if _, err := s.Write(b.Context(), newRow("new", i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := openLoaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if _, err := s.Get(b.Context(), loadedKey(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery20(b *testing.B) {
	s := openLoaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if p, err := s.Query(b.Context(), table.Query{PK: loadedKey(i).PK, Limit: 20}); err != nil ||
			len(p.Items) != 20 {
			b.Fatal(len(p.Items), err)
		}
	}
}

func BenchmarkConditionalUpdate(b *testing.B) {
	s := openLoaded(b, table.Options{NoSync: true})
	for i := range b.N {
		w := table.Update(loadedKey(i), []table.Change{table.Add("n", 1)},
			table.Any(table.Lacks("n"), table.GreaterEqual("n", 0)))
		if _, err := s.Write(b.Context(), w); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSynced runs 16 callers on a store that syncs every commit.
func BenchmarkSynced(b *testing.B) {
	for name, call := range map[string]func(*testing.B, *table.Embedded, int) error{
		"put": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Write(b.Context(), newRow("new", i))
			return err
		},
		"get": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Get(b.Context(), loadedKey(i))
			return err
		},
		"query20": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Query(b.Context(), table.Query{PK: loadedKey(i).PK, Limit: 20})
			return err
		},
		"update": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Write(b.Context(),
				table.Update(loadedKey(i), []table.Change{table.Add("n", 1)}, table.Exists()))
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := openLoaded(b, table.Options{})
			var next atomic.Int64
			b.SetParallelism(8) // times GOMAXPROCS: 16 on two processors
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := call(b, s, int(next.Add(1))); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

func BenchmarkLoad100k(b *testing.B) {
	ws := newRows("load", 100_000)
	for b.Loop() {
		s, err := table.Open(filepath.Join(b.TempDir(), "store.db"), table.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.BatchWrite(b.Context(), ws...); err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
}

// BenchmarkSkip100k reads the page after 99,980 items.
func BenchmarkSkip100k(b *testing.B) {
	s := openLoaded(b, table.Options{NoSync: true})
	if err := s.BatchWrite(b.Context(), newRows("load", 100_000)...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p, err := s.Query(b.Context(), table.Query{PK: "load", Skip: 99_980, Limit: 20}); err != nil ||
			len(p.Items) != 20 {
			b.Fatal(len(p.Items), err)
		}
	}
}

// BenchmarkOpen opens a store with 100,000 items after a Close and after a kill.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	s, err := table.Open(path, table.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.BatchWrite(b.Context(), newRows("load", 100_000)...); err != nil {
		b.Fatal(err)
	}
	killed, err := os.ReadFile(path) //nolint:gosec // the benchmark's own file
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("closed", func(b *testing.B) { openAndClose(b, path) })
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("killed", func(b *testing.B) { openAndClose(b, path) })
}

// openAndClose opens and closes a store.
func openAndClose(b *testing.B, path string) {
	b.Helper()
	for b.Loop() {
		s, err := table.Open(path, table.Options{})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
