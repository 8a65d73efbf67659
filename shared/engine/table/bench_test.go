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

// pad brings items to about 250 bytes, as in the measurements that the engine is held against.
var pad = strings.Repeat("x", 200)

// rows are puts of n items of a partition.
func rows(pk string, n int) []table.Write {
	ws := make([]table.Write, n)
	for i := range ws {
		ws[i] = row(pk, i)
	}
	return ws
}

// row returns a put of one item.
func row(pk string, i int) table.Write {
	k := table.Key{PK: pk, SK: fmt.Sprintf("%08d", i)}
	return table.Put(table.Item{Key: k, Data: fmt.Appendf(nil, `{"i":%d,"name":"item","pad":"%s"}`, i, pad)})
}

// loaded returns a store of 20,000 items in 100 partitions.
func loaded(b *testing.B, o table.Options) *table.Embedded {
	b.Helper()
	o.SweepEvery = -1
	s, err := table.Open(filepath.Join(b.TempDir(), "store.db"), o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for p := range 100 {
		if err := s.BatchWrite(b.Context(), rows(fmt.Sprintf("p%02d", p), 200)...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	return s
}

// somewhere returns the key of one of the loaded items.
func somewhere(i int) table.Key {
	return table.Key{PK: fmt.Sprintf("p%02d", i*7919%100), SK: fmt.Sprintf("%08d", i*104729%200)}
}

func BenchmarkPut(b *testing.B) {
	s := loaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if _, err := s.Write(b.Context(), row("new", i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := loaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if _, err := s.Get(b.Context(), somewhere(i)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQuery20(b *testing.B) {
	s := loaded(b, table.Options{NoSync: true})
	for i := range b.N {
		if p, err := s.Query(b.Context(), table.Query{PK: somewhere(i).PK, Limit: 20}); err != nil ||
			len(p.Items) != 20 {
			b.Fatal(len(p.Items), err)
		}
	}
}

func BenchmarkConditionalUpdate(b *testing.B) {
	s := loaded(b, table.Options{NoSync: true})
	for i := range b.N {
		w := table.Update(somewhere(i), []table.Change{table.Add("n", 1)},
			table.Any(table.Lacks("n"), table.GreaterEqual("n", 0)))
		if _, err := s.Write(b.Context(), w); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSynced runs 16 callers against a store that syncs every commit.
func BenchmarkSynced(b *testing.B) {
	for name, call := range map[string]func(*testing.B, *table.Embedded, int) error{
		"put": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Write(b.Context(), row("new", i))
			return err
		},
		"get": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Get(b.Context(), somewhere(i))
			return err
		},
		"query20": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Query(b.Context(), table.Query{PK: somewhere(i).PK, Limit: 20})
			return err
		},
		"update": func(b *testing.B, s *table.Embedded, i int) error {
			b.Helper()
			_, err := s.Write(b.Context(),
				table.Update(somewhere(i), []table.Change{table.Add("n", 1)}, table.Exists()))
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := loaded(b, table.Options{})
			var next atomic.Int64
			b.SetParallelism(8) // of GOMAXPROCS: 16 on two processors
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
	ws := rows("load", 100_000)
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

// BenchmarkSkip100k reads the page behind 99,980 items.
func BenchmarkSkip100k(b *testing.B) {
	s := loaded(b, table.Options{NoSync: true})
	if err := s.BatchWrite(b.Context(), rows("load", 100_000)...); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if p, err := s.Query(b.Context(), table.Query{PK: "load", Skip: 99_980, Limit: 20}); err != nil ||
			len(p.Items) != 20 {
			b.Fatal(len(p.Items), err)
		}
	}
}

// BenchmarkOpen opens a store of 100,000 items, left by a clean close and by a kill.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.db")
	s, err := table.Open(path, table.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.BatchWrite(b.Context(), rows("load", 100_000)...); err != nil {
		b.Fatal(err)
	}
	killed, err := os.ReadFile(path) //nolint:gosec // the benchmark's own
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	b.Run("closed", func(b *testing.B) { open(b, path) })
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("killed", func(b *testing.B) { open(b, path) })
}

// open opens and closes a store.
func open(b *testing.B, path string) {
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
