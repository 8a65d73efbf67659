// Package workflow runs state machines: Step Functions in AWS, and on a laptop the same statemachines/*.asl.json
// interpreted in process, durable, so that a restart carries on where the process died. It is the only package that
// names Step Functions.
package workflow

import (
	"context"
	"encoding/json"
	"time"
)

// Status is how far an execution is.
type Status string

// The statuses, spelled as Step Functions spells them.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// Execution is one run of a machine. Error and Cause are set when it did not succeed; Output when it did.
type Execution struct {
	Machine string
	Name    string
	Status  Status
	Input   json.RawMessage
	Output  json.RawMessage
	Error   string
	Cause   string
	Started time.Time
	Stopped time.Time
}

// Engine starts and watches executions. A machine is named as its file in statemachines/ without the ending:
// "action", "bulk-action". An execution's name (1–80 of [A-Za-z0-9_-]) is its identity: it is unique for 90 days.
type Engine interface {
	// Start begins an execution. Starting a name again with the same input does nothing and is no error; with another
	// input, or after it has ended, it is fault.Conflict. Input is at most 256 KiB of JSON.
	Start(ctx context.Context, machine, name string, input any) error
	// Stop aborts an execution; stopping one that has ended does nothing.
	Stop(ctx context.Context, machine, name, cause string) error
	// Describe tells how an execution stands; fault.NotFound when there is none of that name.
	Describe(ctx context.Context, machine, name string) (Execution, error)
	// Signal answers a task that waits for a token: with output, or, when failure is not nil, with that error.
	Signal(ctx context.Context, token string, output any, failure *TaskError) error
}

// TaskError is a failure as a state machine sees it: Retry and Catch match Name.
type TaskError struct{ Name, Cause string }

// Error returns the name and the cause.
func (e *TaskError) Error() string { return e.Name + ": " + e.Cause }

// Handler is a function that a Task state calls, as a Lambda is called: input and output are JSON. The error name that
// Retry and Catch see is the Go type name of the error it returns, as a Go Lambda reports it.
type Handler func(ctx context.Context, input json.RawMessage) (any, error)
