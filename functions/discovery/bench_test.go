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

// BenchmarkDiscovery100k discovers 100,000 resources in four regions. MB-own is the peak memory of the process
// itself. MB-resident also counts the mapped file of the embedded store, which a Lambda does not have.
func BenchmarkDiscovery100k(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		s := newFixture(b, settings{"size": "100000", "regions": "4", "stopped": "0"})
		own, resident := watch(b)
		b.StartTimer()
		j, sum := s.runPass(discovery.Succeeded)
		if sum.Created != 100_000 {
			b.Fatalf("%+v: %+v", j, sum)
		}
		b.ReportMetric(float64(s.countPages(j)), "pages")
		b.ReportMetric(float64(s.countCalls("List")), "calls")
		b.ReportMetric(own(), "MB-own")
		b.ReportMetric(resident(), "MB-resident")
	}
}

// BenchmarkDiscovery100kUnchanged discovers 100,000 resources once more. cpu-s is the CPU time, which is more telling
// than the elapsed time on a busy machine. W is the number of write units.
func BenchmarkDiscovery100kUnchanged(b *testing.B) {
	benchmarkUnchanged(b, settings{"size": "100000", "regions": "4", "stopped": "0"})
}

// BenchmarkDiscovery100kUnchangedWithFacts is the same for an account with all kinds, most of them with facts.
func BenchmarkDiscovery100kUnchangedWithFacts(b *testing.B) {
	benchmarkUnchanged(b, settings{"size": "100000", "regions": "4", "stopped": "0", "kinds": "*"})
}

func benchmarkUnchanged(b *testing.B, of settings) {
	b.Helper()
	b.ReportAllocs()
	s := newFixture(b, of)
	_, first := s.runPass(discovery.Succeeded)
	if first.Created < 100_000 {
		b.Fatalf("the first discovery found %d resources; want at least 100,000", first.Created)
	}
	s.noteCollection()
	s.runPass(discovery.Succeeded) // collects yesterday's metrics, once a day
	began, written := processorTime(b), s.countWrites()
	for b.Loop() {
		if j, sum := s.runPass(discovery.Succeeded); sum.Unchanged != first.Created {
			b.Fatalf("%+v: %+v", j, sum)
		}
	}
	b.ReportMetric((processorTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric((s.countWrites()-written)/float64(b.N), "W/op")
}

// countWrites counts the write units of the worker: one a kilobyte, and twice that in transactions.
func (s *fixture) countWrites() float64 {
	s.usage.mu.Lock()
	defer s.usage.mu.Unlock()
	return s.usage.sum.WriteUnits
}

// processorTime is the CPU time that this process has used so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// countPages returns how many the pass read.
func (s *fixture) countPages(j discovery.Job) int {
	s.Helper()
	_, parts, err := discovery.ReadJob(s.ctx, s.Table, org, j.ID)
	s.Must(err)
	n := 0
	for _, part := range parts {
		n += part.Pages
	}
	return n
}

// watch samples the memory of this process until the benchmark ends. The functions return the peaks, or 0 where the
// system does not report them.
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
