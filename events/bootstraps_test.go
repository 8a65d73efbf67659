package events_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// The bootstraps that the tests run lie in build/host. They stay there: go build links again only what has changed.
const (
	root = ".."
	host = "../build/host"
)

// bootstrap returns the file of a function as it is deployed, but for this machine, and with paths in it where the deployed one
// has none: so it is linked from what `make test` has compiled already. All functions are built with the first of them.
func bootstrap(t testing.TB, function string) string {
	t.Helper()
	if err := buildAll(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(host, function)
}

// buildAll builds every function, and the bare one of the benchmark, by one `go build`.
var buildAll = sync.OnceValue(func() error {
	overlay, err := namedMains()
	if err != nil {
		return err
	}
	defer os.Remove(overlay)
	if err = openSources("functions", "shared"); err != nil {
		return err
	}
	//nolint:gosec // the file is ours
	cmd := exec.Command("go", "build", "-buildvcs=false", "-tags", "lambda.norpc,nethttpomithttp2,grpcnotrace",
		"-ldflags=-s -w", "-overlay", overlay, "-o", "build/host/", "./build/mains/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	if log, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build all functions: %w: %s", err, log)
	}
	return nil
})

// namedMains writes an overlay, in which what lies in functions/<name>/lambda lies in build/mains/<name>: one `go build` names
// its files after the folders, and all of ours are called lambda.
func namedMains() (string, error) {
	at, err := filepath.Abs(root)
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(at, "functions/*/lambda/*.go"))
	if err != nil {
		return "", err
	}
	of := map[string]string{filepath.Join(at, "build/mains/bare/main.go"): filepath.Join(at,
		"events/testdata/bare/main.go")}
	for _, f := range files {
		of[filepath.Join(at, "build/mains", functionOf(f), filepath.Base(f))] = f
	}
	f, err := os.CreateTemp("", "lamplighter-overlay-*.json")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), json.NewEncoder(f).Encode(map[string]any{"Replace": of})
}

// functionNames returns the folders of functions/ that hold a Lambda.
func functionNames() ([]string, error) {
	mains, err := filepath.Glob(filepath.Join(root, "functions/*/lambda/main.go"))
	if err == nil && len(mains) < 10 {
		err = fmt.Errorf("only %d functions found", len(mains))
	}
	names := make([]string, len(mains))
	for i, m := range mains {
		names[i] = functionOf(m)
	}
	return names, err
}

// functionOf returns the name of the function that a file of its lambda folder belongs to.
func functionOf(file string) string { return filepath.Base(filepath.Dir(filepath.Dir(file))) }

// openSources opens the folders of the sources. `go test` keeps a result until a file or folder changes that the test itself
// has opened, and knows nothing of those that its `go build` reads.
func openSources(folders ...string) error {
	for _, f := range append(folders, "go.mod", "go.sum") {
		err := filepath.WalkDir(filepath.Join(root, f), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}
