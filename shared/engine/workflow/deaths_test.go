package workflow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// The environment of the child process: its folder, and whether the previous process crashed.
const (
	deathsDir    = "LAMPLIGHTER_TEST_DEATHS_DIR"
	deathsBefore = "LAMPLIGHTER_TEST_DEATHS_BEFORE"
	// deathsMachine retries and catches everything, like the machines of the service.
	deathsMachine = `{"StartAt":"Each","States":{
		"Each":{"Type":"Map","ItemsPath":"$.items","Next":"Work","ResultPath":null,
			"ItemProcessor":{"StartAt":"Item","States":{"Item":{"Type":"Task","Resource":"${Fn}","End":true}}}},
		"Work":{"Type":"Task","Resource":"${Fn}","End":true,
			"Retry":[{"ErrorEquals":["States.ALL"],"IntervalSeconds":1,"MaxAttempts":4}],
			"Catch":[{"ErrorEquals":["States.ALL"],"Next":"Given"}]},
		"Given":{"Type":"Pass","End":true}}}`
)

// overflow never returns: the process ends with a fatal error that recover does not catch.
func overflow(n int) int {
	if n < 0 {
		return n
	}
	return overflow(n+1) + 1
}

// deathsTask records its call. The call of the execution "killer" crashes the process, the others take a little time.
func deathsTask(calls *os.File, in json.RawMessage) (any, error) {
	var v struct{ Name string }
	if json.Unmarshal(in, &v) != nil || v.Name == "" { // an item of the map, which is not an object
		return in, nil //nolint:nilerr // it has no name to record
	}
	fmt.Fprintln(calls, v.Name)
	time.Sleep(20 * time.Millisecond) // so that the others run too when the process crashes
	if v.Name == "killer" {
		debug.SetMaxStack(1 << 20)
		return overflow(0), nil
	}
	time.Sleep(80 * time.Millisecond)
	return in, nil
}

// deathsChild starts one execution that crashes the process and five others, or resumes them. It returns when all have
// ended.
func deathsChild(dir string) error {
	ctx := context.Background()
	store, err := table.Open(filepath.Join(dir, "store.db"), table.Options{SweepEvery: -1})
	if err != nil {
		return err
	}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ms, err := workflow.LoadMachines(fstest.MapFS{"m.asl.json": {Data: []byte(deathsMachine)}}, map[string]string{
		"Fn": "arn:aws:lambda:local:000000000000:function:fn",
	})
	if err != nil {
		return err
	}
	e, err := workflow.NewEmbedded(workflow.Parts{
		Store: table.Fenced(store), Clock: clock.System{}, Machines: ms, Log: slog.New(slog.DiscardHandler),
		Died: os.Getenv(deathsBefore) != "",
		Handlers: withHandler(func(_ context.Context, in json.RawMessage) (any, error) {
			return deathsTask(calls, in)
		}),
	})
	if err != nil {
		return err
	}
	if err := e.Resume(ctx); err != nil {
		return err
	}
	for _, name := range deathsNames() {
		input := map[string]any{"Name": name, "items": []int{1}}
		if err := e.Start(ctx, "m", name, input); err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	for _, name := range deathsNames() {
		x, err := e.Wait(ctx, "m", name)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s %s\n", name, x.Status, x.Output)
	}
	return errors.Join(e.Close(), store.Close())
}

func deathsNames() []string { return []string{"a", "b", "killer", "l", "m", "n"} }

// runDeaths runs a process on the folder, and returns its output and its error.
func runDeaths(t *testing.T, dir string, died bool) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), deathsDir+"="+dir)
	if died {
		cmd.Env = append(cmd.Env, deathsBefore+"=1")
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	if err != nil && !strings.Contains(complaint.String(), "stack overflow") {
		t.Fatalf("%v\n%.2000s", err, complaint.String())
	}
	return out.String(), err
}

func TestResume_GivesUpACallThatEndedItsProcessThreeTimes(t *testing.T) {
	dir := t.TempDir()
	for n := range asl.MaxDeaths {
		if out, err := runDeaths(t, dir, n > 0); err == nil {
			t.Fatalf("process %d survived the call that kills it:\n%s", n+1, out)
		}
	}
	out, err := runDeaths(t, dir, true)
	if err != nil {
		t.Fatal("the fourth process died, too")
	}
	for _, name := range deathsNames() {
		want := name + ` SUCCEEDED {"Name":"` + name
		if name == "killer" {
			want = `killer SUCCEEDED {"Cause":"the function fn was running each of the 3 times ` +
				`that its process died","Error":"Runtime.ExitError"}`
		}
		if !strings.Contains(out, want) {
			t.Errorf("the fourth process did not say %q:\n%s", want, out)
		}
	}
	if n := countLines(t, dir, "killer"); n != asl.MaxDeaths {
		t.Errorf("the call that kills was made %d times", n)
	}
}

// A process that is killed from outside does not count for any call.
func TestResume_CountsNoKillsFromOutside(t *testing.T) {
	dir := t.TempDir()
	for range asl.MaxDeaths + 2 {
		if _, err := runDeaths(t, dir, false); err == nil {
			t.Fatal("a process survived the call that kills it, though no death was counted")
		}
	}
}

func countLines(t *testing.T, dir, line string) (n int) {
	t.Helper()
	for _, l := range readLines(t, filepath.Join(dir, "calls")) {
		if l == line {
			n++
		}
	}
	return n
}
