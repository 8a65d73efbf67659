package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// operationsWalk returns the commands on a page of docs/operations that follow the line with the addresses of the
// doubles of clouds.
func operationsWalk(t *testing.T, page, addresses string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/operations", page))
	if err != nil {
		t.Fatal(err)
	}
	_, walk, begun := strings.Cut(string(text), addresses+"\n")
	walk, _, ended := strings.Cut(walk, "```")
	if !begun || !ended {
		t.Fatalf("the page %s has no walk", page)
	}
	return walk
}

// pasteWalk runs the commands of a page of docs/operations with the addresses of the doubles that the test runs, and
// returns their output.
func (s *served) pasteWalk(t *testing.T, addresses, walk string) string {
	t.Helper()
	tools := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "```")
	script := "API=" + s.address() + "; TOKEN=; " + s.inFolder(tools) + "\n" + addresses + "\n" + walk
	out, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}
