package discovery

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
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

// BenchmarkDiscovery100kUnchanged discovers them once more. cpu-s is the time of processors that it takes, which says more than that of
// the clock on a machine that does other things too; W are the units that it writes.
func BenchmarkDiscovery100kUnchanged(b *testing.B) {
	benchmarkUnchanged(b, settings{"size": "100000", "regions": "4", "stopped": "0"})
}

// BenchmarkDiscovery100kUnchangedWithFacts is the same for an account of every kind, most of which have facts.
func BenchmarkDiscovery100kUnchangedWithFacts(b *testing.B) {
	benchmarkUnchanged(b, settings{"size": "100000", "regions": "4", "stopped": "0", "kinds": "*"})
}

func benchmarkUnchanged(b *testing.B, of settings) {
	b.Helper()
	b.ReportAllocs()
	s := newFixture(b, of)
	s.pass(discovery.Succeeded)
	s.pass(discovery.Succeeded) // collects yesterday's metrics, once a day
	began, written := processorTime(b), s.writes()
	for b.Loop() {
		if j, sum := s.pass(discovery.Succeeded); sum.Unchanged != 100_000 {
			b.Fatalf("%+v: %+v", j, sum)
		}
	}
	b.ReportMetric((processorTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric((s.writes()-written)/float64(b.N), "W/op")
}

// writes counts the write units of the worker: one a kilobyte, and twice that in transactions.
func (s *fixture) writes() float64 {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.usage.sum.WriteUnits
}

// processorTime is what this process has used of processors so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
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
