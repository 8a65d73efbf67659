package takeover_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// folder is where the two programs of `make run` are compiled to, once for all tests.
var folder string

var built = sync.OnceValue(func() error {
	for name, tag := range map[string]string{"first": ",simulatedonly", "complete": ""} {
		cmd := exec.CommandContext(context.Background(), "go", "build", "-tags="+tags()+tag, //nolint:gosec // of ours
			"-o", filepath.Join(folder, name), "lamplighter.dev/cmd/lamplighter")
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as everything but the race detector is compiled
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("compile the %s program: %w\n%s", name, err, out)
		}
	}
	return nil
})

// tags returns the build tags in GOFLAGS. All other code is compiled with them.
func tags() string {
	for f := range strings.FieldsSeq(os.Getenv("GOFLAGS")) {
		if tags, ok := strings.CutPrefix(f, "-tags="); ok {
			return tags
		}
	}
	return ""
}

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "takeover"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(folder) // of the system's temporary files
	os.Exit(code)
}

// stage is a `lamplighter serve` in a process of its own: first the first stage, then the complete program.
type stage struct {
	t    *testing.T
	dir  string // of the store
	base string // of the API
	cmd  *exec.Cmd
	gate *os.File // a write to it ends the compilation

	accounts []string // of the demo

	mu      sync.Mutex
	printed bytes.Buffer
	changed chan struct{} // closed and replaced when something is printed
}

// startStage starts a first stage. The test decides when its compilation ends.
func startStage(t *testing.T) *stage {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: the two programs are not compiled")
	}
	if err := built(); err != nil {
		t.Fatal(err)
	}
	s := &stage{t: t, dir: t.TempDir(), changed: make(chan struct{})}
	gate := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	compile := "read result <" + gate + "; if [ $result != 0 ]; then echo a.go:1:1: broken; fi; exit $result"
	first := filepath.Join(folder, "first")
	s.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), first, "serve", //nolint:gosec // compiled above
		"-compile", compile, "-successor", filepath.Join(folder, "complete"),
		"-root", "../../..", "-dir", s.dir, "-addr", "127.0.0.1:0")
	s.cmd.Stdout, s.cmd.Stderr = s, s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	var err error
	if s.gate, err = os.OpenFile(gate, os.O_RDWR, 0); err != nil { //nolint:gosec // made above
		t.Fatal(err)
	}
	s.base = s.await(regexp.MustCompile(`API +(http://\S+)`))
	s.await(regexp.MustCompile(`(as soon as that is done)`))
	return s
}

// Write stores the output of the process, and wakes up waiting readers.
func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { close(s.changed); s.changed = make(chan struct{}) }()
	return s.printed.Write(p)
}

// await waits until the process has printed the pattern, and returns its first group.
func (s *stage) await(pattern *regexp.Regexp) string {
	s.t.Helper()
	for {
		s.mu.Lock()
		found, changed := pattern.FindStringSubmatch(s.printed.String()), s.changed
		s.mu.Unlock()
		if found != nil {
			return found[1]
		}
		select {
		case <-changed:
		case <-s.t.Context().Done():
			s.t.Fatalf("%s was not printed:\n%s", pattern, s.output())
		}
	}
}

func (s *stage) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.printed.String()
}

// endCompilation ends the compilation with a status.
func (s *stage) endCompilation(status string) {
	s.t.Helper()
	if _, err := io.WriteString(s.gate, status+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// takeOver ends the compilation, and waits until the complete program has taken over.
func (s *stage) takeOver() {
	s.t.Helper()
	s.endCompilation("0")
	s.await(regexp.MustCompile(`(took over in \S+)\.`))
}

// stop ends the process as Ctrl-C does, and checks that it ends without an error.
func (s *stage) stop() {
	if s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(os.Interrupt) // one that has ended shows below
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("the service ended with %v:\n%s", err, s.output())
	}
	if s.t.Failed() {
		s.t.Log(s.output())
	}
}
