package bigqueryengine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/nightly"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// compileTime is how long GoogleSQL may take to compile; with compiled packages it takes seconds.
const compileTime = 15 * time.Minute

// Table is a table, and the queries of it.
type Table struct {
	Name    string   `json:"table"`
	Columns []Column `json:"columns"`
	Queries []string `json:"queries"`
}

// Analysis is what GoogleSQL says of a query: an error, or the types of its columns. Tree is the query as GoogleSQL
// understands it; casts of literals are executed.
type Analysis struct {
	Error   string            `json:"error"`
	Columns map[string]string `json:"columns"`
	Tree    string            `json:"tree"`
}

// Analyze returns GoogleSQL's analysis of each query of each table. GoogleSQL is Google's own parser and type checker
// of BigQuery; it executes nothing. .ci/nightly compiles it into build/peers, where it is kept; the test is skipped
// before that.
func Analyze(tb testing.TB, tables []Table) (out [][]Analysis) {
	tb.Helper()
	npmpeer.SkipUnlessWanted(tb)
	program := compiled(tb)
	in, err := json.Marshal(tables)
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), program)
	cmd.Stdin = bytes.NewReader(in)
	answer, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%s: %v", program, err)
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

// compiled returns the program in the folder googlesql, a module of its own.
func compiled(tb testing.TB) string {
	tb.Helper()
	root := npmpeer.ModuleRoot(tb)
	source := filepath.Join(root, "shared", "testkit", "clouds", "bigqueryengine", "googlesql")
	sum := sha256.New()
	for _, name := range []string{"main.go", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			tb.Fatal(err)
		}
		sum.Write(text)
	}
	program := filepath.Join(root, "build", "peers", "googlesql-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if !nightly.Enabled() {
		tb.Skip("SKIPPED: GoogleSQL is not compiled, which takes minutes; .ci/nightly does it")
	}
	compile(tb, source, program)
	return program
}

func compile(tb testing.TB, source, program string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), compileTime)
	defer cancel()
	fresh := fmt.Sprint(program, ".", os.Getpid()) // another test must not start half a program
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", fresh, ".")
	cmd.Dir, cmd.Env = source, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Skipf("SKIPPED: GoogleSQL cannot be fetched or compiled: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, program); err != nil {
		tb.Fatal(err)
	}
}
