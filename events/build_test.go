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

// heavy are the functions that work behind the requests. Every other one answers while somebody waits, or each minute,
// and must stay light.
func heavy() []string {
	var out []string
	for _, f := range functions.All() {
		if f.Clouds || f.Heavy {
			out = append(out, f.Name)
		}
	}
	return out
}

// maxBootstrap is what the bootstrap of an API function may weigh, arm64 and stripped.
const maxBootstrap = 12_000_000

func TestAPIFunctionsStayLight(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: no function was built for arm64 and weighed")
	}
	mains, err := filepath.Glob("../functions/*/lambda/main.go")
	if err != nil || len(mains) < 10 {
		t.Fatalf("%d functions, %v", len(mains), err)
	}
	for _, m := range mains {
		name := filepath.Base(filepath.Dir(filepath.Dir(m)))
		if slices.Contains(heavy(), name) {
			continue
		}
		info, err := os.Stat(build(t, "./functions/"+name+"/lambda", "arm64"))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-16s %5.2f MB", name, float64(info.Size())/1e6)
		if info.Size() > maxBootstrap {
			t.Errorf("%s weighs %d bytes; %d are allowed: see what it links with `go list -deps`", name, info.Size(), maxBootstrap)
		}
	}
}

// BenchmarkStart measures, side by side, the time from exec to the first answer of an API function (GET /actions/{id}) and
// of the least that a Lambda on DynamoDB can be. At most twice as long is wanted.
func BenchmarkStart(b *testing.B) {
	event, err := os.ReadFile("actions.get-action.json")
	if err != nil {
		b.Fatal(err)
	}
	ours, bare := build(b, "./functions/actions/lambda", ""), build(b, "./events/testdata/bare", "")
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
	f, err := lambdaemulator.Start(path, env...)
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
