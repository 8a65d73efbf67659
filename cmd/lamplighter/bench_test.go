package main

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
)

// BenchmarkGET measures one GET through gateway, authorizer, rest and the embedded table. The goal is at most 150 µs
// of CPU.
func BenchmarkGET(b *testing.B) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e := testenv.Start(b, testenv.Setup{Clock: clock.NewManual(noon)})
	c := e.NewOwner("bench@example.com")
	pk := fmt.Sprintf("RATE#%s#%d", c.Org, noon.Unix()/60)
	ctx := table.Within(b.Context(), pk)
	req := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/organisations", nil)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	b.ReportAllocs()
	used, served := cpu(b), 0
	for b.Loop() {
		if served++; served%90 == 0 { // the organization's minute, given back
			b.StopTimer()
			if _, err := e.Platform.Table.Write(ctx, table.Delete(table.Key{PK: pk, SK: "N"})); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		w := httptest.NewRecorder()
		if e.ServeHTTP(w, req); w.Code != http.StatusOK {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	b.ReportMetric(float64((cpu(b)-used).Microseconds())/float64(served), "µs-cpu/op(≤150)")
}

// cpu returns the processor time that this process has used so far, in user mode and in the kernel.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReady measures the time from exec to the line that reports readiness, and the memory then, with 100,000
// stored resources. The goal is at most 1 s and 200 MB. Resident memory besides has the pages of the program and of the
// store's file that are mapped, which the system takes back when it needs them.
func BenchmarkReady(b *testing.B) {
	dir := b.TempDir()
	e := testenv.Start(b, testenv.Setup{Dir: dir})
	e.NewOwner("bench@example.com").ConnectAccount("111122223333", testenv.FastCloud(100_000).WithoutBills())
	e.Stop()
	program := filepath.Join(b.TempDir(), "lamplighter")
	build := exec.CommandContext(b.Context(), "go", "build", "-ldflags=-s -w", "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	ready(b, program, dir) // the first start makes the demo
	var own, resident float64
	for b.Loop() {
		m := ready(b, program, dir)
		own, resident = max(own, m["RssAnon"]), max(resident, m["VmRSS"])
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s-to-ready(≤1)")
	b.ReportMetric(own, "MB-own(≤200)")
	b.ReportMetric(resident, "MB-resident")
}

// ready starts the program, waits until it is ready and returns its memory in MB, by the names of the system.
func ready(b *testing.B, program, dir string) map[string]float64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, "serve", "-root", "../..", "-dir", dir, "-addr", "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.Contains(lines.Text(), "is ready") {
			b.StopTimer()
			defer b.StartTimer()
			return readMemory(b, cmd.Process.Pid)
		}
	}
	b.Fatal("it never was ready")
	return nil
}

// readMemory returns the memory of a process in MB, by the names of the system. It is empty if the system does not
// report it.
func readMemory(b *testing.B, pid int) map[string]float64 {
	b.Helper()
	status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status")) // not there on every system
	out := map[string]float64{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		number, isSize := strings.CutSuffix(strings.TrimSpace(value), " kB")
		if !isSize {
			continue
		}
		kb, err := strconv.ParseFloat(number, 64)
		if err != nil {
			b.Fatal(err)
		}
		out[name] = kb / 1e3
	}
	return out
}
