package events_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// The folder of the bootstraps that the tests run. The files stay there, so go build links only the changed functions
// again.
const (
	root = ".."
	host = "../build/host"
)

// bootstrap returns the deployed file of a function, built for this machine. Unlike the deployed file it contains
// paths, so that `make test` has already compiled most of it. The first call builds all functions.
func bootstrap(t testing.TB, function string) string {
	t.Helper()
	if err := buildAll(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(host, function)
}

// tags are the build tags of the deployed functions. `make` has them in GOFLAGS, so that each package is compiled
// once.
const tags = "lambda.norpc,nethttpomithttp2,grpcnotrace"

// buildAll builds every function, and the minimal function of the benchmark.
var buildAll = sync.OnceValue(func() error {
	if err := openSources("functions", "shared"); err != nil {
		return err
	}
	//nolint:gosec // a command of ours
	cmd := exec.Command("go", "run", "./.ci/bootstraps", "-o", "build/host",
		"-for", runtime.GOOS+"/"+runtime.GOARCH)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="+os.Getenv("GOFLAGS")+" -tags="+tags)
	if log, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build all functions: %w: %s", err, log)
	}
	return nil
})

// functionNames returns the folders of functions/ with a Lambda.
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

// openSources opens the folders of the sources. `go test` reuses a result until a file or folder changes that the
// test itself has opened. It does not know the files that the test's `go build` reads.
func openSources(folders ...string) error {
	for _, f := range append(folders, "go.mod", "go.sum") {
		err := filepath.WalkDir(filepath.Join(root, f), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return err
		}
	}
	return nil
}
