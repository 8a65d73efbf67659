package checks

import (
	"go/ast"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// listRaced returns a list of .ci/raced.
func listRaced(t *testing.T, list string) []string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("SKIPPED: no bash on this machine: .ci/raced was not run")
	}
	cmd := exec.CommandContext(t.Context(), "bash", ".ci/raced", list) //nolint:gosec // of ours
	cmd.Dir, cmd.Stderr = "../../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}

// TestRaced_LeavesOutOnlyWhatStartsNothing reads the sources. A package with tests that has a go statement is tested
// with the race detector, or .ci/raced lists it with the reason why not.
func TestRaced_LeavesOutOnlyWhatStartsNothing(t *testing.T) {
	script, err := os.ReadFile("../../../.ci/raced")
	if err != nil {
		t.Fatal(err)
	}
	_, left, _ := strings.Cut(string(script), "left_out=(\n")
	left, _, _ = strings.Cut(left, "\n)")
	reasons := map[string]bool{}
	for line := range strings.Lines(left) {
		name, reason, _ := strings.Cut(strings.TrimSpace(line), "#")
		if len(strings.TrimSpace(reason)) < 8 {
			t.Errorf(".ci/raced leaves out %s without a reason", name)
		}
		reasons[strings.TrimSpace(name)] = true
	}
	raced := slices.Concat(listRaced(t, "limited"), listRaced(t, "unlimited"))
	if len(raced) < 80 {
		t.Fatalf("only %d packages are raced", len(raced))
	}
	for folder := range goStatements(t) {
		tests, err := filepath.Glob(filepath.Join("../../..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		if len(tests) > 0 && !reasons[folder] && !slices.Contains(raced, "./"+folder) {
			t.Errorf("%s starts goroutines, and .ci/raced does not list it", folder)
		}
	}
}

// goStatements returns the folders with a go statement in a file, tests included.
func goStatements(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for path, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				out[filepath.Dir(path)] = true
			}
			return true
		})
	}
	return out
}

// TestRaced_StoresAreLimitedOnce checks that each package whose tests use a store is tested on a limited store once,
// with the race detector or without it, and that the detector tests the tests that skip a limited store.
func TestRaced_StoresAreLimitedOnce(t *testing.T) {
	raced, limited := listRaced(t, "limited"), listRaced(t, "only-limited")
	for _, p := range limited {
		if slices.Contains(raced, p) {
			t.Errorf("%s is tested on a limited store twice", p)
		}
	}
	if len(limited) < 10 || len(listRaced(t, "skipping")) < 3 {
		t.Errorf("%d packages are limited without the detector: .ci/raced does not find them", len(limited))
	}
	pattern := listRaced(t, "pattern")
	if len(pattern) != 1 {
		t.Fatalf("the pattern of tests that skip a limited store is %q", pattern)
	}
	if !regexp.MustCompile(pattern[0]).MatchString("TestCapacity_IsWaitedForByTheMachine") {
		t.Errorf("the pattern leaves out a test that skips a limited store: %s", pattern[0])
	}
}
