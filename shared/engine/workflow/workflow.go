// Package workflow runs state machines. In AWS they run on Step Functions. On a laptop, the same
// statemachines/*.asl.json are interpreted in this process. Their state is durable, so a restart continues them. This
// is the only package that uses Step Functions.
package workflow

import (
	"context"
	"encoding/json"
	"time"
)

// Status is the state of an execution.
type Status string

// The statuses, with the names of Step Functions.
const (
	Running   Status = "RUNNING"
	Succeeded Status = "SUCCEEDED"
	Failed    Status = "FAILED"
	TimedOut  Status = "TIMED_OUT"
	Aborted   Status = "ABORTED"
)

// Execution is one run of a machine. Error and Cause are set if it failed, Output if it succeeded.
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

// Engine starts and describes executions. The name of a machine is that of its file in statemachines/ without the
// suffix: "action", "bulk-action". The name of an execution (1 to 80 of [A-Za-z0-9_-]) is unique for 90 days.
type Engine interface {
	// Start starts an execution. Starting a name again with the same input does nothing and is no error. With another
	// input, or after its end, it is fault.Conflict. The input is at most 256 KiB of JSON.
	Start(ctx context.Context, machine, name string, input any) error
	// Stop aborts an execution. It does nothing if the execution has ended.
	Stop(ctx context.Context, machine, name, cause string) error
	// Describe returns an execution, or fault.NotFound if there is none with that name.
	Describe(ctx context.Context, machine, name string) (Execution, error)
	// Signal answers a task that waits for a token: with output, or with the error failure if it is not nil.
	Signal(ctx context.Context, token string, output any, failure *TaskError) error
}

// TaskError is a failure of a task. Retry and Catch match Name.
type TaskError struct{ Name, Cause string }

// Error returns the name and the cause.
func (e *TaskError) Error() string { return e.Name + ": " + e.Cause }

// Handler is a function that Task states call like a Lambda: input and output are JSON. Retry and Catch see the Go type
// name of the returned error, which a Go Lambda reports too.
type Handler func(ctx context.Context, input json.RawMessage) (any, error)
