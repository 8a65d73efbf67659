package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
)

// TestMain runs the command itself if the first argument of the test binary is no flag. A service under test starts
// the binary with "read-bill".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// processes is the processor time of this process and of its children, in hundredths of a second. Wall time would say
// little on a machine that does other work too.
type processes struct{ own, children int }

// measureProcesses returns the processor time so far. It also resets the peak of this process's memory.
func measureProcesses() processes {
	debug.FreeOSMemory()                                          // the memory of password hashes
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o200) // not there on every system, nor allowed
	var p processes
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, name := range stats {
		parent, id, used := readStat(name)
		switch os.Getpid() {
		case id:
			p.own = used
		case parent:
			p.children += used
		}
	}
	return p
}

// readStat reads the ids and the processor time of a process, or zeros if the process has ended.
func readStat(name string) (parent, id, used int) {
	raw, _ := os.ReadFile(name) //nolint:gosec // of /proc
	head, tail, _ := strings.Cut(string(raw), ") ")
	f := strings.Fields(tail)
	if len(f) < 13 {
		return 0, 0, 0
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // the kernel's
	return number(f[1]), number(strings.Fields(head)[0]), number(f[11]) + number(f[12])
}

// since returns a text with the processor time since p, and the peak of this process's memory.
func (p processes) since() string {
	peak := memoryOf("VmHWM:")
	now := measureProcesses()
	return fmt.Sprintf("processor: %.2f s of this process, %.2f s of its children; %s of memory at most",
		float64(now.own-p.own)/100, float64(now.children-p.children)/100, peak)
}

// memoryOf returns a line of the kernel's memory statistics of this process.
func memoryOf(name string) string {
	status, _ := os.ReadFile("/proc/self/status") // not there on every system
	_, rest, _ := strings.Cut(string(status), name)
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}
