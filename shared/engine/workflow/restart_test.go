package workflow_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// The executions of the restart test. Each processes its items, two at a time, with two tasks for each.
const (
	restartDir        = "LAMPLIGHTER_TEST_RESTART_DIR" // set in the child process
	restartExecutions = 6
	restartItems      = 40
	restartAtOnce     = 2
	restartMachine    = `{"StartAt":"Each","States":{
		"Each":{"Type":"Map","ItemsPath":"$.items","MaxConcurrency":2,
			"ItemSelector":{"item.$":"$$.Map.Item.Value","run.$":"$$.Execution.Name"},
			"ItemProcessor":{"StartAt":"First","States":{
				"First":{"Type":"Task","Resource":"${Fn}","ResultPath":"$.first","Next":"Second"},
				"Second":{"Type":"Task","Resource":"${Fn}","End":true}}},
			"Next":"Pause"},
		"Pause":{"Type":"Wait","Seconds":1,"Next":"Sum"},
		"Sum":{"Type":"Pass","Parameters":{"n.$":"States.ArrayLength($)","all.$":"$"},"End":true}}}`
)

func TestMain(m *testing.M) {
	if os.Getenv(lambdaChild) != "" {
		lambdaMain()
	}
	if dir := os.Getenv(restartDir); dir != "" {
		if err := restartChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(deathsDir); dir != "" {
		if err := deathsChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// restartChild is the process that is killed: it resumes existing executions, starts missing ones, and returns when all
// have ended.
func restartChild(dir string) error {
	ctx := context.Background()
	store, err := table.Open(filepath.Join(dir, "store.db"), table.Options{NoSync: true, SweepEvery: -1})
	if err != nil {
		return err
	}
	calls, err := os.OpenFile(filepath.Join(dir, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ms, err := workflow.LoadMachines(fstest.MapFS{"m.asl.json": {Data: []byte(restartMachine)}}, map[string]string{
		"Fn": "arn:aws:lambda:local:000000000000:function:fn",
	})
	if err != nil {
		return err
	}
	e, err := workflow.NewEmbedded(workflow.Parts{
		Store: table.Fenced(store), Clock: clock.System{}, Machines: ms, Log: slog.New(slog.DiscardHandler),
		Handlers: withHandler(func(_ context.Context, in json.RawMessage) (any, error) {
			return restartTask(calls, in)
		}),
	})
	if err != nil {
		return err
	}
	if err := e.Resume(ctx); err != nil {
		return err
	}
	return errors.Join(restartAll(ctx, e, filepath.Join(dir, "ends")), e.Close(), store.Close())
}

// restartTask records its call, and takes a little time.
func restartTask(calls *os.File, in json.RawMessage) (any, error) {
	var v struct {
		Item  int
		Run   string
		First *int
	}
	if err := json.Unmarshal(in, &v); err != nil {
		return nil, err
	}
	_, err := fmt.Fprintf(calls, "%s %d %t\n", v.Run, v.Item, v.First != nil)
	time.Sleep(10 * time.Millisecond) // in the process that is killed: time to be killed in
	return v.Item * 2, err
}

// restartAll starts the executions, waits for their ends, and records them: name, time, output.
func restartAll(ctx context.Context, e *workflow.Embedded, ends string) error {
	items := make([]int, restartItems)
	for i := range items {
		items[i] = i
	}
	f, err := os.OpenFile(ends, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for i := range restartExecutions {
		err := e.Start(ctx, "m", fmt.Sprintf("x%d", i), map[string]any{"items": items})
		if err != nil && !fault.Is(err, fault.Conflict) {
			return err
		}
	}
	for i := range restartExecutions {
		name := fmt.Sprintf("x%d", i)
		x, err := e.Wait(ctx, "m", name)
		if err != nil {
			return err
		}
		fmt.Fprintf(f, "%s %s %s %s\n", name, x.Stopped.Format(time.RFC3339Nano), x.Status, x.Output)
	}
	return f.Close()
}

func TestKilledAtRandomMomentsEachExecutionEndsOnce(t *testing.T) {
	kills := 15
	if testing.Short() || race.Enabled {
		kills = 4
	}
	dir := t.TempDir()
	child := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // this test itself
		cmd.Env = append(os.Environ(), restartDir+"="+dir)
		cmd.Stderr = os.Stderr
		return cmd
	}
	killed, r := 0, seed.Random(t)
	for range kills {
		cmd := child()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(30+r.IntN(90)) * time.Millisecond) // the child uses the machine's clock
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() != nil {
			killed++
		}
	}
	for range 2 { // the second one finds that all have ended
		if err := child().Run(); err != nil {
			t.Fatal(err)
		}
	}
	checkCalls(t, dir, killed)
	checkEnds(t, dir)
}

// checkCalls requires that each task was called at least once, and more than once only if a kill interrupted it.
func checkCalls(t *testing.T, dir string, killed int) {
	t.Helper()
	calls := readLines(t, filepath.Join(dir, "calls"))
	distinct := map[string]bool{}
	for _, c := range calls {
		distinct[c] = true
	}
	if want := restartExecutions * restartItems * 2; len(distinct) != want {
		t.Errorf("%d tasks were called, want %d", len(distinct), want)
	}
	atMost := len(distinct) + killed*restartExecutions*restartAtOnce
	t.Logf("%d kills, %d tasks, %d calls", killed, len(distinct), len(calls))
	if len(calls) > atMost {
		t.Errorf("%d calls of %d tasks over %d kills: finished tasks were called again, at most %d calls can be "+
			"in flight",
			len(calls), len(distinct), killed, atMost)
	}
}

// checkEnds requires one end of each execution, with the right output.
func checkEnds(t *testing.T, dir string) {
	t.Helper()
	all := make([]string, restartItems)
	for i := range all {
		all[i] = strconv.Itoa(i * 2)
	}
	want := fmt.Sprintf(`SUCCEEDED {"all":[%s],"n":%d}`, strings.Join(all, ","), restartItems)
	seen := map[string]string{}
	for _, l := range readLines(t, filepath.Join(dir, "ends")) {
		name, end, _ := strings.Cut(l, " ")
		if before, ok := seen[name]; ok && before != end {
			t.Errorf("%s ended twice: %s and %s", name, before, end)
		}
		seen[name] = end
		if !strings.HasSuffix(end, want) {
			t.Errorf("%s ended with %s", name, end)
		}
	}
	if len(seen) != restartExecutions {
		t.Errorf("%d executions ended, want %d", len(seen), restartExecutions)
	}
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path) //nolint:gosec // a file of this test
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}
