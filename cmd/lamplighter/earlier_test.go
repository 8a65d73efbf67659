package main

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/nightly"
)

// programVersion is one version of this program.
type programVersion struct {
	name string
	root string // its template and state machines
	run  func(ctx context.Context, args []string, out io.Writer) error
}

// TestVersions_TakeTurnsOnOneStore starts the earlier version and this one on one store in turn. Each finds the
// records of the other, and changes them.
func TestVersions_TakeTurnsOnOneStore(t *testing.T) {
	nightly.SkipByDay(t)
	t.Parallel()
	earlier, current := bothVersions(t)
	dir := t.TempDir()
	s := &shared{t: t}
	for _, v := range []programVersion{earlier, current, earlier, current} {
		p := v.serve(t, "-dir", dir)
		s.takeTurn(v.name, p)
		p.shut(t)
	}
	for _, v := range []programVersion{current, earlier} {
		s.proveExport(v, dir)
	}
}

// bothVersions returns the earlier version, built from the git history, and the version of this checkout.
func bothVersions(t *testing.T) (earlier, current programVersion) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: the earlier version is not built")
	}
	root := checkOutEarlier(t)
	program := filepath.Join(t.TempDir(), "lamplighter")
	// Trimmed of paths, so that each run reuses the packages that the run before compiled in another folder.
	build := exec.CommandContext(t.Context(), "go", "build", //nolint:gosec // ours
		"-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/lamplighter")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the earlier version: %v\n%s", err, out)
	}
	earlier = programVersion{"earlier", root, func(ctx context.Context, args []string, out io.Writer) error {
		cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // ours
		cmd.Stdout, cmd.Stderr = out, out
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 2 * grace
		return ignoreCancel(cmd.Run())
	}}
	return earlier, programVersion{"current", "../..", func(ctx context.Context, args []string, out io.Writer) error {
		return run(ctx, args, out, out)
	}}
}

// checkOutEarlier checks out the commit named in testdata into a folder of the test.
func checkOutEarlier(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: no git on this machine, which has the earlier version")
	}
	b, err := os.ReadFile(filepath.Join("testdata", "stores", "earlier-version"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(b))
	commit, dir := lines[len(lines)-1], t.TempDir()
	known := exec.CommandContext(t.Context(), "git", "cat-file", "-e", commit+"^{commit}") //nolint:gosec // ours
	if out, err := known.CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: git has no earlier version here, commit %s (a shallow clone gets it by git fetch "+
			"--unshallow): %s", commit, out)
	}
	archive := filepath.Join(t.TempDir(), "earlier.tar")
	for _, args := range [][]string{
		{"git", "-C", "../..", "archive", "--output", archive, commit},
		{"tar", "-xf", archive, "-C", dir},
	} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...) //nolint:gosec // ours
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// serve starts the version and waits until it answers.
func (v programVersion) serve(t *testing.T, args ...string) *served {
	t.Helper()
	args = append([]string{"serve", "-root", v.root, "-addr", "127.0.0.1:0", "-demo=false"}, args...)
	return serveUntil(t, "  Mails   ", func(ctx context.Context, out io.Writer) error { return v.run(ctx, args, out) })
}

// address returns the address of the service.
func (s *served) address() string {
	_, api, _ := strings.Cut(s.printed(), "API     ")
	api, _, _ = strings.Cut(api, "\n")
	return api
}

// eventually calls done until it returns true, with growing pauses, because its requests count towards the
// organization's minute. It fails the test after a pause of 20 seconds.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for pause := 200 * time.Millisecond; !done(); pause *= 2 {
		if pause > 20*time.Second {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(pause)
	}
}
