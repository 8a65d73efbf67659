// Package prometheusengine evaluates PromQL with Prometheus' own engine and storage, in a program of a module of its
// own: package engine below it.
package prometheusengine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/nightly"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// compileTime is how long Prometheus may take to compile; with compiled packages it takes seconds.
const compileTime = 10 * time.Minute

// Series are the samples of one series. A sample is a time in seconds since 1970, and a value.
type Series struct {
	Labels  map[string]string `json:"labels"`
	Samples [][2]float64      `json:"samples"`
}

// Engine is a storage without samples and an engine over it.
type Engine struct {
	tb      testing.TB
	address string
}

// Start returns an engine that ends with the test. .ci/nightly compiles the program into build/peers, where it is
// kept. The test is skipped if peers are not requested, or the program is not compiled.
func Start(tb testing.TB) *Engine {
	tb.Helper()
	npmpeer.SkipUnlessWanted(tb)
	program, port := compiled(tb), npmpeer.FreePort(tb)
	npmpeer.StartPeer(tb, exec.Command(program, port), port) //nolint:gosec,noctx // ends with the test
	return &Engine{tb, "http://127.0.0.1:" + port}
}

// URL is where the engine answers.
func (e *Engine) URL() string { return e.address }

// Handler hands requests on to the engine, for a twin that stands before it.
func (e *Engine) Handler() http.Handler {
	at, err := url.Parse(e.address)
	if err != nil {
		e.tb.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(at)
}

// Store stores samples.
func (e *Engine) Store(all []Series) {
	e.tb.Helper()
	body, err := json.Marshal(all)
	if err != nil {
		e.tb.Fatal(err)
	}
	r, err := http.NewRequestWithContext(e.tb.Context(), http.MethodPost, e.address+"/samples", bytes.NewReader(body))
	if err != nil {
		e.tb.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		e.tb.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // its status is enough
	if resp.StatusCode != http.StatusOK {
		e.tb.Fatalf("the engine does not store %d series: %s", len(all), resp.Status)
	}
}

// compiled returns the program in the folder engine, a module of its own.
func compiled(tb testing.TB) string {
	tb.Helper()
	root := npmpeer.ModuleRoot(tb)
	source := filepath.Join(root, "shared", "testkit", "clouds", "prometheusengine", "engine")
	sum := sha256.New()
	for _, name := range []string{"main.go", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(source, name)) //nolint:gosec // a file of this module
		if err != nil {
			tb.Fatal(err)
		}
		sum.Write(text)
	}
	program := filepath.Join(root, "build", "peers", "prometheus-"+hex.EncodeToString(sum.Sum(nil)[:8]))
	if _, err := os.Stat(program); err == nil {
		return program
	}
	if !nightly.Enabled() {
		tb.Skip("SKIPPED: Prometheus' engine is not compiled, which takes minutes; .ci/nightly does it")
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
		tb.Skipf("SKIPPED: Prometheus' engine cannot be fetched or compiled: %v\n%s", err, out)
	}
	if err := os.Rename(fresh, program); err != nil {
		tb.Fatal(err)
	}
}
