package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// startHeld returns an engine with an execution "x" whose task continues until release is called.
func startHeld(t *testing.T) (e *workflow.Embedded, release func()) {
	t.Helper()
	hold := make(chan struct{})
	e = openEngine(t, workflow.Parts{Machines: parseMachine(t, oneTask), Handlers: withHandler(
		func(ctx context.Context, in json.RawMessage) (any, error) {
			select {
			case <-hold:
				return in, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})})
	if err := e.Start(t.Context(), "m", "x", 1); err != nil {
		t.Fatal(err)
	}
	return e, func() { close(hold) }
}

func TestEmbedded_WaitGivesTheEndOfAnExecution(t *testing.T) {
	e, release := startHeld(t)
	ended := make(chan workflow.Execution, 1)
	go func() {
		x, err := e.Wait(t.Context(), "m", "x")
		if err != nil {
			t.Error(err)
		}
		ended <- x
	}()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Wait(gone, "m", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with a context that has ended: %v", err)
	}
	release()
	if x := <-ended; x.Status != workflow.Succeeded || string(x.Output) != "1" {
		t.Errorf("%+v", x)
	}
	if _, err := e.Wait(t.Context(), "m", "nobody"); !fault.Is(err, fault.NotFound) {
		t.Errorf("waiting for what was never started: %v", err)
	}
}

func TestEmbedded_WaitGivesWhatACloseLeft(t *testing.T) {
	e, _ := startHeld(t)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if x, err := e.Wait(t.Context(), "m", "x"); err != nil || x.Status != workflow.Running {
		t.Errorf("%+v, %v", x, err)
	}
}

func TestEmbedded_IdleWaitsForAllMachinesButThoseExcepted(t *testing.T) {
	e, release := startHeld(t)
	if err := e.Idle(t.Context(), "m"); err != nil {
		t.Error(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Idle(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("idle while an execution goes on: %v", err)
	}
	release()
	if err := e.Idle(t.Context()); err != nil {
		t.Error(err)
	}
	if x, err := e.Describe(t.Context(), "m", "x"); err != nil || x.Status != workflow.Succeeded {
		t.Errorf("%+v, %v", x, err)
	}
}
