package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// epoch is the start time of the clocks of tests.
var epoch = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// oneWaits waits until there is a sleeper on the clock.
func oneWaits(t *testing.T, clk *clock.Manual) {
	t.Helper()
	if err := clk.AwaitSleepers(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
}

// restartEngine closes an engine and resumes its executions in a new one on the same store.
func restartEngine(t *testing.T, e *workflow.Embedded, p workflow.Parts) *workflow.Embedded {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	next := openEngine(t, p)
	if err := next.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return next
}

func TestAWaitKeepsItsDeadlineOverARestart(t *testing.T) {
	clk := clock.NewManual(epoch)
	p := workflow.Parts{
		Store: tabletest.NewAt(t, clk), Clock: clk,
		Machines: parseMachine(t,
			`{"StartAt":"P","States":{"P":{"Type":"Pass","Next":"W"},"W":{"Type":"Wait","Seconds":3600,"End":true}}}`),
	}
	e := openEngine(t, p)
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	oneWaits(t, clk)
	clk.Advance(50 * time.Minute)
	e = restartEngine(t, e, p)
	oneWaits(t, clk)
	clk.Advance(10 * time.Minute)
	if x := waitEnded(t, e, "x"); x.Status != workflow.Succeeded || x.Stopped.Sub(x.Started) != time.Hour {
		t.Fatalf("the wait took %s: %+v", x.Stopped.Sub(x.Started), x)
	}
}

func TestRetriesAreCountedOverARestart(t *testing.T) {
	clk := clock.NewManual(epoch)
	var calls atomic.Int64
	p := workflow.Parts{
		Store: tabletest.NewAt(t, clk), Clock: clk,
		Machines: parseMachine(t, `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"${Fn}","End":true,
			"Retry":[{"ErrorEquals":["Down"],"IntervalSeconds":60,"MaxAttempts":2,"BackoffRate":1}]}}}`),
		Handlers: withHandler(func(context.Context, json.RawMessage) (any, error) {
			calls.Add(1)
			return nil, fmt.Errorf("call: %w", &workflow.TaskError{Name: "Down", Cause: "for now"})
		}),
	}
	e := openEngine(t, p)
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		oneWaits(t, clk)
		e = restartEngine(t, e, p)
		oneWaits(t, clk)
		if calls.Load() != int64(n+1) {
			t.Fatal("the restart cut the delay of the retry short")
		}
		clk.Advance(time.Minute)
	}
	x := waitEnded(t, e, "x")
	if x.Status != workflow.Failed || x.Error != "Down" || calls.Load() != 3 {
		t.Fatalf("%d calls, %+v", calls.Load(), x)
	}
}

func TestFinishedItemsOfAMapAreNotDoneAgain(t *testing.T) {
	var mu sync.Mutex
	calls := map[string]int{}
	hold, began := true, make(chan struct{}, 2)
	p := workflow.Parts{
		Store: tabletest.New(t),
		Machines: parseMachine(t, `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":1,"End":true,
			"ItemProcessor":{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"${Fn}","End":true}}}}}}`),
		Handlers: withHandler(func(ctx context.Context, in json.RawMessage) (any, error) {
			mu.Lock()
			calls[string(in)]++
			wait := hold && string(in) == "3"
			mu.Unlock()
			if wait {
				began <- struct{}{}
				<-ctx.Done()
			}
			return in, ctx.Err()
		}),
	}
	e := openEngine(t, p)
	if err := e.Start(t.Context(), "m", "x", []int{1, 2, 3, 4}); err != nil {
		t.Fatal(err)
	}
	<-began
	mu.Lock()
	hold = false
	mu.Unlock()
	e = restartEngine(t, e, p)
	if x := waitEnded(t, e, "x"); x.Status != workflow.Succeeded || string(x.Output) != "[1,2,3,4]" {
		t.Fatalf("%+v", x)
	}
	if fmt.Sprint(calls) != "map[1:1 2:1 3:2 4:1]" {
		t.Fatalf("calls by item: %v", calls)
	}
}

func TestAnAnswerThatComesBetweenTwoProcessesIsNotLost(t *testing.T) {
	tokens := make(chan string, 2)
	p := workflow.Parts{
		Store: tabletest.New(t),
		Machines: parseMachine(t, `{"StartAt":"T","States":{"T":{"Type":"Task","End":true,
			"Resource":"arn:aws:states:::lambda:invoke.waitForTaskToken",
			"Parameters":{"FunctionName":"fn","Payload.$":"$$.Task.Token"}}}}`),
		Handlers: withHandler(func(_ context.Context, in json.RawMessage) (any, error) {
			var s string
			err := json.Unmarshal(in, &s)
			tokens <- s
			return nil, err
		}),
	}
	e := openEngine(t, p)
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	token := <-tokens
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, p)
	if err := e.Signal(t.Context(), token, "yes", nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	if x := waitEnded(t, e, "x"); x.Status != workflow.Succeeded || string(x.Output) != `"yes"` {
		t.Fatalf("%+v", x)
	}
}

func TestAnExecutionLeavesNothingButItself(t *testing.T) {
	store := tabletest.New(t)
	p := workflow.Parts{
		Store: store,
		Machines: parseMachine(t, `{"StartAt":"M","States":{
			"M":{"Type":"Map","Next":"T","ItemProcessor":{"StartAt":"A","States":{
				"A":{"Type":"Task","Resource":"${Fn}","Next":"B"},"B":{"Type":"Task","Resource":"${Fn}","End":true}}}},
			"T":{"Type":"Task","Resource":"${Fn}","End":true}}}`),
		Handlers: withHandler(func(_ context.Context, in json.RawMessage) (any, error) { return in, nil }),
	}
	e := openEngine(t, p)
	if err := e.Start(t.Context(), "m", "x", make([]int, 200)); err != nil {
		t.Fatal(err)
	}
	waitEnded(t, e, "x")
	for _, pk := range []string{"WF#X#m#x", "WF#RUN"} {
		page, err := store.Query(t.Context(), table.Query{PK: pk, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			if it.SK != "E" {
				t.Errorf("%s %s is left behind", it.PK, it.SK)
			}
			if days := time.Until(it.Expires).Hours() / 24; days < 89.9 || days > 90.1 {
				t.Errorf("%s %s expires after %.1f days, not 90", it.PK, it.SK, days)
			}
		}
	}
}

func TestStoppingEndsTheContextOfTheHandler(t *testing.T) {
	began, left := make(chan struct{}), make(chan struct{})
	e := openEngine(t, workflow.Parts{Machines: parseMachine(t, oneTask), Handlers: withHandler(
		func(ctx context.Context, _ json.RawMessage) (any, error) {
			close(began)
			<-ctx.Done()
			close(left)
			return nil, ctx.Err()
		})})
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := e.Stop(t.Context(), "m", "x", "enough"); err != nil {
		t.Fatal(err)
	}
	<-left
	if x := waitEnded(t, e, "x"); x.Status != workflow.Aborted || x.Cause != "enough" {
		t.Fatalf("%+v", x)
	}
}

func TestHandlersMayNotTouchTheEnginesPartitions(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	e := openEngine(t, workflow.Parts{Store: store, Machines: parseMachine(t, oneTask), Handlers: withHandler(
		func(ctx context.Context, _ json.RawMessage) (any, error) {
			_, err := store.Get(ctx, table.Key{PK: "WF#X#m#x", SK: "E"})
			return err != nil, nil
		})})
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	if x := waitEnded(t, e, "x"); string(x.Output) != "true" {
		t.Fatalf("%+v", x)
	}
}
