package events_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/lambdaemulator"
)

// heavy returns the functions that work behind the requests. Every other function answers a waiting client, or runs
// each minute, and must stay light.
func heavy() []string {
	var out []string
	for _, f := range functions.All() {
		if f.Clouds || f.SDKs || f.Heavy {
			out = append(out, f.Name)
		}
	}
	return out
}

// The largest sizes of stripped bootstraps in bytes: of an API function for arm64, as it is deployed, of the same for
// the machine of the tests, where code may take an eighth more, and of a worker.
const (
	maxBootstrap = 12_000_000
	maxHost      = maxBootstrap + maxBootstrap/8
	maxWorker    = 60_000_000
)

// weighed returns the file of a function to weigh, and its largest size in bytes. `make weigh` names the folder in
// which `make build` puts the deployed files. Without that folder, weighed returns the file for the tests of this
// machine.
func weighed(t *testing.T, function string) (path string, limit int64) {
	t.Helper()
	if built := os.Getenv("LAMPLIGHTER_BUILT"); built != "" {
		return filepath.Join(root, built, function, "bootstrap"), maxBootstrap
	}
	return bootstrap(t, function), maxHost
}

func TestAPIFunctionsStayLight(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: no function was built and weighed")
	}
	names, err := functionNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if slices.Contains(heavy(), name) {
			continue
		}
		path, limit := weighed(t, name)
		checkWeight(t, name, path, limit)
	}
}

// TestWorkersStayBelowSixtyMegabytes checks the deployed size of the functions that link the SDKs of clouds: `make
// weigh`.
func TestWorkersStayBelowSixtyMegabytes(t *testing.T) {
	built := os.Getenv("LAMPLIGHTER_BUILT")
	if built == "" {
		t.Skip("SKIPPED: LAMPLIGHTER_BUILT names no folder of built functions: run `make weigh`")
	}
	for _, name := range heavy() {
		checkWeight(t, name, filepath.Join(root, built, name, "bootstrap"), maxWorker)
	}
}

func checkWeight(t *testing.T, name, path string, limit int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%-16s %5.2f MB", name, float64(info.Size())/1e6)
	if info.Size() > limit {
		t.Errorf("%s weighs %d bytes; %d are allowed: see what it links with `go list -deps`", path, info.Size(), limit)
	}
}

// BenchmarkStart measures, side by side, the time from exec to the first answer of an API function (GET
// /actions/{id}) and of a minimal Lambda on DynamoDB. The goal is at most twice the minimal time.
func BenchmarkStart(b *testing.B) {
	event, err := os.ReadFile("actions.get-action.json")
	if err != nil {
		b.Fatal(err)
	}
	ours, bare := bootstrap(b, "actions"), bootstrap(b, "bare")
	env := environment(newAccount(b))
	var ourTimes, bareTimes []time.Duration
	for b.Loop() {
		ourTimes = append(ourTimes, firstAnswer(b, ours, env, event))
		bareTimes = append(bareTimes, firstAnswer(b, bare, env, event))
	}
	us, them := median(ourTimes), median(bareTimes)
	b.ReportMetric(us.Seconds()*1e3, "ms/function")
	b.ReportMetric(them.Seconds()*1e3, "ms/bare")
	b.ReportMetric(us.Seconds()/them.Seconds(), "ratio(≤2)")
}

func firstAnswer(b *testing.B, path string, env []string, event []byte) time.Duration {
	b.Helper()
	began := clock.System{}.Now()
	f, err := lambdaemulator.StartFunction(path, env...)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if _, err = f.Invoke(b.Context(), event); err != nil {
		b.Fatalf("%v\n%s", err, f.Log())
	}
	return clock.System{}.Now().Sub(began)
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}
