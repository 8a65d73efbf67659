package discovery

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/domain/discovery"
)

// BenchmarkDiscovery100k discovers 100,000 resources in four regions. MB-own is the most memory that the process took for
// itself; MB-resident counts the mapped file of the embedded store besides, which a Lambda does not have.
func BenchmarkDiscovery100k(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := newFixture(b, settings{"size": "100000", "regions": "4", "stopped": "0"})
		own, resident := watch(b)
		b.StartTimer()
		j, sum := s.pass(discovery.Succeeded)
		if sum.Created != 100_000 {
			b.Fatalf("%+v: %+v", j, sum)
		}
		b.ReportMetric(float64(s.pages(j)), "pages")
		b.ReportMetric(float64(s.calls("List")), "calls")
		b.ReportMetric(own(), "MB-own")
		b.ReportMetric(resident(), "MB-resident")
	}
}

// BenchmarkDiscovery100kUnchanged discovers them a second time.
func BenchmarkDiscovery100kUnchanged(b *testing.B) {
	b.ReportAllocs()
	s := newFixture(b, settings{"size": "100000", "regions": "4", "stopped": "0"})
	s.pass(discovery.Succeeded)
	for b.Loop() {
		if j, sum := s.pass(discovery.Succeeded); sum.Unchanged != 100_000 {
			b.Fatalf("%+v: %+v", j, sum)
		}
	}
}

// BenchmarkDiscovery100kUnchangedWithFacts is the same for an account of every kind, most of which have facts.
func BenchmarkDiscovery100kUnchangedWithFacts(b *testing.B) {
	b.ReportAllocs()
	s := newFixture(b, settings{"size": "100000", "regions": "4", "stopped": "0", "kinds": "*"})
	s.pass(discovery.Succeeded)
	for b.Loop() {
		if j, sum := s.pass(discovery.Succeeded); sum.Unchanged != 100_000 {
			b.Fatalf("%+v: %+v", j, sum)
		}
	}
}

// pages returns how many the pass read.
func (s *fixture) pages(j discovery.Job) int {
	s.Helper()
	_, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
	s.Must(err)
	n := 0
	for _, part := range parts {
		n += part.Pages
	}
	return n
}

// watch looks at the memory of this process until the benchmark ends, and tells the most that it saw; 0 where the system
// does not tell.
func watch(b *testing.B) (own, resident func() float64) {
	b.Helper()
	var mu sync.Mutex
	most := map[string]float64{}
	done := make(chan struct{})
	b.Cleanup(func() { close(done) })
	go func() {
		for {
			status, _ := os.ReadFile("/proc/self/status") // not there on every system
			mu.Lock()
			for _, name := range []string{"RssAnon:", "VmRSS:"} {
				var kB float64
				_, rest, _ := strings.Cut(string(status), name)
				_, _ = fmt.Sscan(rest, &kB)
				most[name] = max(most[name], kB/1024)
			}
			mu.Unlock()
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	told := func(name string) func() float64 {
		return func() float64 {
			mu.Lock()
			defer mu.Unlock()
			return most[name]
		}
	}
	return told("RssAnon:"), told("VmRSS:")
}
