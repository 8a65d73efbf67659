package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
)

// state holds the fields of a state that these tests check. The interpreter does not check them.
type state struct {
	Type           string
	MaxConcurrency int
	Retry          []struct {
		ErrorEquals    []string
		JitterStrategy string
	}
	ItemProcessor struct{ States map[string]state }
	Branches      []struct{ States map[string]state }
}

// eachState calls visit with all states of a machine, including those of its Maps and Parallels.
func eachState(states map[string]state, visit func(name string, s state)) {
	for _, name := range slices.Sorted(maps.Keys(states)) {
		s := states[name]
		visit(name, s)
		eachState(s.ItemProcessor.States, visit)
		for _, b := range s.Branches {
			eachState(b.States, visit)
		}
	}
}

// All functions share the account's limit of concurrent executions. So a Map must limit its share, and refused calls
// must not all be retried at the same moment.
func TestStateMachines_ShareConcurrencyWithOthers(t *testing.T) {
	files, err := filepath.Glob(definitions + "/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d state machines, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ States map[string]state }
		if err = json.Unmarshal(b, &m); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		eachState(m.States, func(name string, s state) {
			for _, p := range unshared(s) {
				t.Errorf("%s: state %s: %s", filepath.Base(file), name, p)
			}
		})
	}
}

// unshared lists the fields that let a state take more than its share.
func unshared(s state) []string {
	var out []string
	if s.Type == "Map" && (s.MaxConcurrency < 1 || s.MaxConcurrency > asl.MaxInlineItems) {
		out = append(out,
			fmt.Sprintf("a Map has MaxConcurrency from 1 to %d, not %d", asl.MaxInlineItems, s.MaxConcurrency))
	}
	patient := false
	for i, r := range s.Retry {
		if r.JitterStrategy != "FULL" {
			out = append(out, fmt.Sprintf("element %d of Retry has no \"JitterStrategy\": \"FULL\"", i))
		}
		patient = patient || slices.Contains(r.ErrorEquals, "Lambda.TooManyRequestsException")
	}
	if s.Type == "Task" && !patient {
		out = append(out,
			"a Task retries Lambda.TooManyRequestsException by itself: its function is capped, and to be refused is "+
				"no failure")
	}
	return out
}

// A worker with a concurrency limit refuses calls during a peak. The machine waits, and does not count that as a
// failure of the work.
func TestActionMachine_WaitsUntilItsWorkerHasRoom(t *testing.T) {
	b, err := os.ReadFile(definitions + "/action.asl.json")
	if err != nil {
		t.Fatal(err)
	}
	b = regexp.MustCompile(`\$\{[^}]*\}`).ReplaceAll(b, []byte("executor"))
	m, err := asl.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &busy{until: time.Now().Add(10 * time.Minute)}
		half := func() float64 { return 0.5 }
		_, err := m.Run(t.Context(), asl.Env{Clock: clock.System{}, Random: half, Tasks: w},
			asl.Execution{Input: json.RawMessage(`{}`), Started: time.Now()})
		if got := strings.Join(slices.Compact(w.ran), " "); err != nil || got != "run" {
			t.Errorf("after %d refusals in ten minutes the machine ran %q, want run alone; %v", w.refused, got, err)
		}
	})
}

// busy is a function that has no room until a given time.
type busy struct {
	until   time.Time
	refused int
	ran     []string
}

// Invoke refuses the call as Lambda does, or runs the task.
func (b *busy) Invoke(_ context.Context, _ string, payload json.RawMessage) (json.RawMessage, error) {
	if time.Now().Before(b.until) {
		b.refused++
		return nil, &asl.Error{Name: "Lambda.TooManyRequestsException", Cause: "Rate Exceeded."}
	}
	c, err := workflow.ReadCall("executor", payload)
	b.ran = append(b.ran, c.Task)
	return json.RawMessage(`{"done":true,"waitSeconds":0}`), err
}

func (b *busy) Token(string) string { return "" }

func (b *busy) Await(ctx context.Context, _ string) (json.RawMessage, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestStateMachines_CountDeaths requires three tries of each task whose process crashed, and that each task that cleans
// up gets its execution.
func TestStateMachines_CountDeaths(t *testing.T) {
	died := regexp.MustCompile(
		`\{"ErrorEquals": \["Runtime.ExitError", "Runtime.OutOfMemory", "Lambda.Unknown"\], [^}]*"MaxAttempts": 2,`)
	files, err := filepath.Glob(definitions + "/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d state machines, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if tasks, counted := strings.Count(string(b), `"Type": "Task"`), len(died.FindAll(b, -1)); tasks != counted {
			t.Errorf("%s: %d of %d tasks retry twice where their process died", file, counted, tasks)
		}
		if told, named := strings.Count(string(b), `"error.$"`),
			strings.Count(string(b), `"execution.$": "$$.Execution.Name"`); told != named {
			t.Errorf("%s: %d of %d tasks that clean up are told the name of the execution", file, named, told)
		}
	}
}
