package asl

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// caseTasks returns the functions that the machines of testdata/cases.json call.
func caseTasks(w *fixture, c clock.Clock) map[string]testTask {
	var mu sync.Mutex
	seen := map[string]int{}
	count := func(in map[string]any) int {
		mu.Lock()
		defer mu.Unlock()
		key, _ := in["key"].(string)
		seen[key]++
		return seen[key]
	}
	return map[string]testTask{
		"echo": func(_ context.Context, in map[string]any) (any, error) { return map[string]any{"echo": in}, nil },
		"flaky": func(_ context.Context, in map[string]any) (any, error) {
			n := count(in)
			if times, _ := toNumber(in["failTimes"]); n <= int(times) {
				return nil, &Error{Name: "MyErr", Cause: "not yet"}
			}
			return map[string]any{"ok": true, "attempt": n}, nil
		},
		"slow": func(ctx context.Context, _ map[string]any) (any, error) {
			return "late", c.Sleep(ctx, time.Hour)
		},
		"maybe": func(_ context.Context, in map[string]any) (any, error) {
			if in["ok"] == true {
				return "good", nil
			}
			return nil, &Error{Name: "MaybeErr", Cause: "no"}
		},
		"token": func(_ context.Context, in map[string]any) (any, error) {
			token, _ := in["token"].(string)
			go w.answer(token, map[string]any{"done": true})
			return "ignored", nil
		},
		"counter": func(_ context.Context, in map[string]any) (any, error) {
			n := count(in)
			return map[string]any{"done": n >= 3, "n": n}, nil
		},
	}
}

type testCase struct {
	Definition json.RawMessage `json:"definition"`
	Input      json.RawMessage `json:"input"`
	Expect     json.RawMessage `json:"expect"`
	Error      *string         `json:"error"`
}

func readCases(tb testing.TB) map[string]testCase {
	tb.Helper()
	b, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		tb.Fatal(err)
	}
	b = []byte(strings.ReplaceAll(string(b), "__NOW+2__", epoch.Add(2*time.Second).Format(time.RFC3339)))
	var cases map[string]testCase
	if err := json.Unmarshal(b, &cases); err != nil {
		tb.Fatal(err)
	}
	return cases
}

func TestMachinesBehaveAsOnStepFunctions(t *testing.T) {
	for name, c := range readCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Parse(c.Definition)
			if name == "jsonata" {
				if err == nil || !strings.Contains(err.Error(), "JSONata") {
					t.Fatalf("a JSONata machine must be refused when it is read, got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				w, clk := newFixture(), startTicking(t)
				w.tasks = caseTasks(w, clk)
				out, err := m.Run(t.Context(), w.env(clk), newExecution(string(c.Input)))
				checkCase(t, c, out, err)
			})
		})
	}
}

func checkCase(t *testing.T, c testCase, out json.RawMessage, err error) {
	t.Helper()
	if c.Error == nil {
		if err != nil {
			t.Fatalf("failed: %v", err)
		}
		if !SameJSON(out, c.Expect) {
			t.Fatalf("output %s, want %s", out, c.Expect)
		}
		return
	}
	failed, ok := errors.AsType[*Error](err)
	prefix, open := strings.CutSuffix(*c.Error, "*")
	named := ok && (failed.Name == *c.Error || open && strings.HasPrefix(failed.Name, prefix))
	if !named {
		t.Fatalf("output %s, error %v; want error %s", out, err, *c.Error)
	}
}
