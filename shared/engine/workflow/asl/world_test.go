package asl

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

var epoch = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

// startTicking returns a clock that moves ahead by itself while there is a sleeper. Use it in a bubble of synctest,
// where its own waits end when all other goroutines are blocked.
func startTicking(tb testing.TB) *clock.Manual {
	tb.Helper()
	c := clock.NewManual(epoch)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Microsecond):
			}
			if c.SleeperCount() > 0 {
				c.Advance(100 * time.Millisecond)
			}
		}
	})
	tb.Cleanup(func() { close(stop); wg.Wait() })
	return c
}

// testTask is a function that the machines of tests call.
type testTask func(ctx context.Context, in map[string]any) (any, error)

// fixture keeps the frames of an execution in memory, and carries out its tasks.
type fixture struct {
	tasks map[string]testTask
	clock clock.Clock

	mu     sync.Mutex
	frames map[string]Frame
	saves  int
	calls  map[string]int
	tokens map[string]chan any
	broken func(path string) error // fails a Save
}

func newFixture() *fixture {
	return &fixture{frames: map[string]Frame{}, calls: map[string]int{}, tokens: map[string]chan any{}}
}

func (w *fixture) Invoke(ctx context.Context, function string, payload json.RawMessage) (json.RawMessage, error) {
	w.mu.Lock()
	w.calls[function]++
	do := w.tasks[function]
	w.mu.Unlock()
	if do == nil {
		return nil, &Error{Name: "Lambda.ResourceNotFoundException", Cause: function}
	}
	v, err := decodeJSON(payload)
	if err != nil {
		return nil, err
	}
	in, _ := v.(map[string]any)
	if in == nil {
		in = map[string]any{"value": v}
	}
	out, err := do(ctx, in)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func (w *fixture) Token(path string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	token := fmt.Sprintf("token%s#%d", path, len(w.tokens))
	w.tokens[token] = make(chan any, 1)
	return token
}

func (w *fixture) answer(token string, v any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.tokens[token] <- v:
	default: // answered before: the function was called again after a restart
	}
}

func (w *fixture) Await(ctx context.Context, token string) (json.RawMessage, error) {
	w.mu.Lock()
	ch := w.tokens[token]
	w.mu.Unlock()
	select {
	case v := <-ch:
		return json.Marshal(v)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *fixture) Save(_ context.Context, path string, f Frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		if err := w.broken(path); err != nil {
			return err
		}
	}
	f.Tries = append([]int(nil), f.Tries...)
	w.frames[path] = f
	w.saves++
	return nil
}

func (w *fixture) Forget(_ context.Context, paths []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range paths {
		delete(w.frames, p)
	}
	return nil
}

// kept returns a copy of the frames, as a restarted process would read them.
func (w *fixture) kept() map[string]Frame {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]Frame{}
	maps.Copy(out, w.frames)
	return out
}

func (w *fixture) env(c clock.Clock) Env { return Env{Clock: c, Tasks: w, Journal: w} }

// newExecution returns an execution for a test.
func newExecution(input string) Execution {
	return Execution{
		ID: "arn:aws:states:local:000000000000:execution:test:x1", Name: "x1",
		MachineID: "arn:aws:states:local:000000000000:stateMachine:test", Machine: "test",
		Input: json.RawMessage(input), Started: epoch,
	}
}

func mustParse(tb testing.TB, definition string) *Machine {
	tb.Helper()
	m, err := Parse([]byte(definition))
	if err != nil {
		tb.Fatal(err)
	}
	return m
}
