package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"testing/fstest"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// parseMachine parses one definition into the machines of an engine, with the name "m".
func parseMachine(tb testing.TB, definition string) map[string]*asl.Machine {
	tb.Helper()
	ms, err := workflow.LoadMachines(fstest.MapFS{"m.asl.json": {Data: []byte(definition)}}, map[string]string{
		"Fn": "arn:aws:lambda:local:000000000000:function:fn",
	})
	if err != nil {
		tb.Fatal(err)
	}
	return ms
}

// openEngine opens an embedded engine that is closed when the test ends.
func openEngine(tb testing.TB, p workflow.Parts) *workflow.Embedded {
	tb.Helper()
	if p.Store == nil {
		p.Store = table.Fenced(tabletest.New(tb))
	}
	if p.Clock == nil {
		p.Clock = clock.System{}
	}
	p.Log = slog.New(slog.DiscardHandler)
	e, err := workflow.NewEmbedded(p)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// waitEnded waits for the end of an execution.
func waitEnded(tb testing.TB, e *workflow.Embedded, name string) workflow.Execution {
	tb.Helper()
	x, err := e.Wait(tb.Context(), "m", name)
	if err != nil {
		tb.Fatal(err)
	}
	if x.Status == workflow.Running {
		tb.Fatalf("%s still runs", name)
	}
	return x
}

const oneTask = `{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"${Fn}","End":true}}}`

func withHandler(h workflow.Handler) map[string]workflow.Handler {
	return map[string]workflow.Handler{"fn": h}
}

func TestATaskPassesJSONAsALambdaDoes(t *testing.T) {
	type out struct {
		Twice int    `json:"twice"`
		Angle string `json:"angle"`
	}
	e := openEngine(t, workflow.Parts{Machines: parseMachine(t, oneTask), Handlers: withHandler(
		func(_ context.Context, in json.RawMessage) (any, error) {
			var v struct{ N int }
			err := json.Unmarshal(in, &v)
			return out{2 * v.N, "<&>"}, err
		})})
	if err := e.Start(t.Context(), "m", "x", map[string]int{"N": 21}); err != nil {
		t.Fatal(err)
	}
	x := waitEnded(t, e, "x")
	if x.Status != workflow.Succeeded || string(x.Output) != `{"angle":"<&>","twice":42}` {
		t.Fatalf("%+v", x)
	}
}

func TestStartIsOneRoundTripAndAThreeTaskExecutionFour(t *testing.T) {
	const chain = `{"StartAt":"A","States":{
		"A":{"Type":"Task","Resource":"${Fn}","Next":"B"},
		"B":{"Type":"Task","Resource":"${Fn}","Next":"P"},
		"P":{"Type":"Pass","Next":"C"},
		"C":{"Type":"Task","Resource":"${Fn}","End":true}}}`
	counted := &roundTrips{Store: tabletest.New(t)}
	hold := make(chan struct{})
	e := openEngine(t, workflow.Parts{Store: counted, Machines: parseMachine(t, chain), Handlers: withHandler(
		func(ctx context.Context, in json.RawMessage) (any, error) { <-hold; return in, nil })})
	if err := e.Start(t.Context(), "m", "x", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if n := counted.writes.Load() + counted.reads.Load(); n != 1 {
		t.Fatalf("Start made %d round trips", n)
	}
	close(hold)
	if x := waitEnded(t, e, "x"); x.Status != workflow.Succeeded {
		t.Fatalf("%+v", x)
	}
	if n := counted.writes.Load(); n != 4 {
		t.Fatalf("an execution of three tasks made %d writes: one to start, one before each later task, one to end", n)
	}
}

func TestStartingANameAgain(t *testing.T) {
	hold := make(chan struct{})
	e := openEngine(t, workflow.Parts{Machines: parseMachine(t, oneTask), Handlers: withHandler(
		func(ctx context.Context, in json.RawMessage) (any, error) { <-hold; return in, nil })})
	start := func(in string) error { return e.Start(t.Context(), "m", "x", json.RawMessage(in)) }
	if err := errors.Join(start(`{"a":1,"b":2}`), start(`{"b": 2, "a": 1}`)); err != nil {
		t.Fatalf("the same start again must be no error: %v", err)
	}
	if err := start(`{"a":2}`); !fault.Is(err, fault.Conflict) {
		t.Fatalf("another input must conflict, got %v", err)
	}
	close(hold)
	waitEnded(t, e, "x")
	if err := start(`{"a":1,"b":2}`); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a name that has ended must conflict, got %v", err)
	}
}
