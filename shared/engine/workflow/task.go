package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/fault"
)

// Call is the payload that state machines send to a worker: the name of its task, the task's input, and, for a task
// that cleans up, the error that the machine caught.
type Call struct {
	Task  string          `json:"task"`
	Input json.RawMessage `json:"input"`
	Error *Caught         `json:"error,omitempty"`
	// Execution is the name of the execution, for tasks that clean up.
	Execution string `json:"execution,omitempty"`
}

// Caught is an error caught by a state machine.
type Caught struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// String returns the error's name and message. A failed Lambda reports its cause as JSON.
func (c *Caught) String() string {
	if c == nil {
		return "unknown error"
	}
	var told struct {
		Message string `json:"errorMessage"`
	}
	if json.Unmarshal([]byte(c.Cause), &told) == nil && told.Message != "" {
		return c.Error + ": " + told.Message
	}
	return c.Error + ": " + c.Cause
}

// ReadCall decodes the payload of a call of the worker.
func ReadCall(worker string, input json.RawMessage) (Call, error) {
	var c Call
	if err := json.Unmarshal(input, &c); err != nil {
		return c, fault.NewWithCause(fault.Invalid, err, "%s was called with no task", worker)
	}
	return c, nil
}

// OrgInput is an input of an organization.
type OrgInput interface{ Organisation() string }

// RunTask decodes the call's input and runs the task with it. The context is restricted to the organization of the
// input.
func RunTask[I OrgInput, O any](ctx context.Context, c Call, task func(context.Context, I) (O, error)) (any, error) {
	var in I
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "input of task %s", c.Task)
	}
	if in.Organisation() == "" {
		return nil, fault.New(fault.Invalid, "input of task %s names no organization", c.Task)
	}
	out, err := task(table.WithOrg(ctx, in.Organisation()), in)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", c.Task, err)
	}
	return out, nil
}

// diedErrors are the errors of a call whose process crashed or ran out of memory. Lambda.Unknown is the older name of
// both (Step Functions developer guide, "Handle transient Lambda service exceptions").
var diedErrors = []string{asl.ErrProcessDied, "Runtime.OutOfMemory", "Lambda.Unknown"}

// HasDied reports whether an error of a task or an execution says that the process of a call crashed too often.
func HasDied(name string) bool { return slices.Contains(diedErrors, name) }
