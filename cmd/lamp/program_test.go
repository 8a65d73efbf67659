//go:build !windows

package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The bars of the program. A shell calls it at every Tab.
const (
	maxProgramBytes = 12 << 20
	maxStreamBytes  = 60 << 20
	manyRecords     = 100_000
)

// program builds lamp as a release has it, and returns its path.
func program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lamp")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -X main.version=1.2.3", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// environment returns the environment of a program that is signed in at the address.
func environment(t *testing.T, api string) []string {
	t.Helper()
	return append(os.Environ(), "LAMPLIGHTER_API="+api, "LAMPLIGHTER_TOKEN=t", "LAMPLIGHTER_CONFIG_DIR="+t.TempDir())
}

func TestProgram_IsSmall(t *testing.T) {
	path := program(t)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxProgramBytes {
		t.Errorf("lamp has %d bytes, at most %d are allowed", info.Size(), maxProgramBytes)
	}
}

// BenchmarkVersion starts the program to print its version: shells do as much at every Tab. At most 10 ms of processor
// time are allowed (cpu-ms).
func BenchmarkVersion(b *testing.B) {
	path := program(b)
	var spent time.Duration
	for b.Loop() {
		c := exec.Command(path, "version")
		if out, err := c.Output(); err != nil || string(out) != "lamp 1.2.3\n" {
			b.Fatalf("%q: %v", out, err)
		}
		spent += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "cpu-ms/op(≤10)")
}

func TestProgram_LinksNothingOfTheService(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{
		"lamplighter.dev/cmd/lamp": true, "lamplighter.dev/shared/api/client": true,
		"lamplighter.dev/shared/foundation/clock": true, "lamplighter.dev/shared/foundation/fault": true,
		"lamplighter.dev/shared/foundation/money": true,
	}
	for p := range strings.FieldsSeq(string(out)) {
		if strings.HasPrefix(p, "lamplighter.dev/") && !allowed[p] || strings.Contains(p, "aws") {
			t.Errorf("lamp links %s", p)
		}
	}
}

// TestProgram_StreamsManyResources lists 100,000 resources from a service that refuses some requests by its rate limit.
func TestProgram_StreamsManyResources(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells the most memory in kilobytes")
	}
	requests := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if requests == 100 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		var page int
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		writePage(w, page)
	}))
	defer srv.Close()
	c := exec.Command(program(t), "get", "resources", "-o", "csv", "--limit", "0")
	c.Env = environment(t, srv.URL)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err = c.Start(); err != nil {
		t.Fatal(err)
	}
	lines, most := 0, 0
	for s := bufio.NewScanner(out); s.Scan(); lines++ {
		if lines%10_000 == 5000 { // at the end it may be gone
			most = max(most, peakMemory(t, c.Process.Pid))
		}
	}
	if err = c.Wait(); err != nil || lines != manyRecords+1 {
		t.Fatalf("%d lines: %v\n%s", lines, err, said.String())
	}
	if !strings.Contains(said.String(), "limit of requests a minute is reached; going on in 1 s") {
		t.Errorf("the wait is not announced: %q", said.String())
	}
	t.Logf("%d MB, %s by the clock, %s of processor time", most>>20, time.Since(began).Round(time.Millisecond),
		c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	if most > maxStreamBytes {
		t.Errorf("%d bytes of memory, at most %d are allowed", most, maxStreamBytes)
	}
}

// writePage writes a page of resources as large as those of the service.
func writePage(w io.Writer, page int) {
	io.WriteString(w, `{"data":[`)
	for i := range 100 {
		n := (page-1)*100 + i
		if n >= manyRecords {
			break
		}
		if i > 0 {
			io.WriteString(w, ",")
		}
		fmt.Fprintf(w, `{"id":"res_%026d","uid":"arn:aws:ec2:eu-west-1:123456789012:instance/i-%017d","name":"web-%d",`+
			`"type":"aws-ec2","provider":"aws","status":"running","region":"eu-west-1","instanceType":"m5.large",`+
			`"tags":{"team":"payments","env":"test","owner":"ada@example.com"},"rackRateUSD":{"hourly":"0.096",`+
			`"monthly":"70.08"},"cloudAccountName":"Main","groupIDs":[],"teamIDs":[],"scheduleIDs":[]}`, n, n, n)
	}
	io.WriteString(w, `]}`)
}

func TestProgram_AClosedPipeIsSilent(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var page int
		fmt.Sscan(r.URL.Query().Get("page"), &page)
		writePage(w, page)
	}))
	defer srv.Close()
	c := exec.Command(program(t), "get", "resources", "-o", "csv", "--limit", "0")
	c.Env = environment(t, srv.URL)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	_ = c.Wait() // a signal ends it
	if said.Len() > 0 {
		t.Errorf("lamp said %q", said.String())
	}
}

func TestProgram_CtrlCDuringAWait(t *testing.T) {
	polled := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/resources" || r.URL.Path == "/resources/by-uids":
			io.WriteString(w, `{"data":[{"id":"res_1","uid":"i-1","name":"web"}]}`)
		case r.URL.Path == "/cloud-accounts":
			io.WriteString(w, `{"data":{"items":[],"total":0}}`)
		case strings.Contains(string(body), "dryRun"):
			io.WriteString(w, `{"data":{"plan":{"steps":[{"resources":[{"resourceID":"res_1","name":"web"}]}]}}}`)
		case r.Method == http.MethodPost:
			io.WriteString(w, `{"data":{"bulkActionID":"bulk_1"}}`)
		default:
			io.WriteString(w, `{"data":{"status":"running","total":1}}`)
			select {
			case polled <- struct{}{}:
			default:
			}
		}
	}))
	defer srv.Close()
	c := exec.Command(program(t), "stop", "resources", "web", "--yes", "--wait")
	c.Env = environment(t, srv.URL)
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	<-polled
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if c.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(said.String(), "bulk_1 continues") {
		t.Errorf("exit code %d: %s", c.ProcessState.ExitCode(), said.String())
	}
}

// peakMemory returns the most memory that a running process has had, in bytes. The maximum that the system tells of an
// ended process contains that of the test, from which it was forked.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skipf("SKIPPED: this system does not tell the memory of a process: %v", err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes int
	if _, err = fmt.Sscan(peak, &kilobytes); err != nil {
		t.Fatalf("read the memory of process %d: %v\n%s", pid, err, status)
	}
	return kilobytes << 10
}
