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

// Call is what our machines send to a worker: which of its tasks, that task's input, and, to a task that cleans up, what
// the machine caught.
type Call struct {
	Task  string          `json:"task"`
	Input json.RawMessage `json:"input"`
	Error *Caught         `json:"error,omitempty"`
	// Execution is the name of the execution, which a task that cleans up is told.
	Execution string `json:"execution,omitempty"`
}

// Caught is an error as a state machine catches it.
type Caught struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// String returns the error's name and message. A Lambda that failed reports its cause as JSON.
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

// ReadCall decodes what a machine sent to the worker of the name.
func ReadCall(worker string, input json.RawMessage) (Call, error) {
	var c Call
	if err := json.Unmarshal(input, &c); err != nil {
		return c, fault.NewWithCause(fault.Invalid, err, "%s was called with no task", worker)
	}
	return c, nil
}

// OrgInput is an input that names the organization it belongs to.
type OrgInput interface{ Organisation() string }

// RunTask decodes the call's input and runs the task on it, confined to the organization that the input names.
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

// diedErrors are the names under which a call fails whose process died: by itself, or because it used too much memory.
// Lambda.Unknown is the older name of both (Step Functions developer guide, "Handle transient Lambda service
// exceptions").
var diedErrors = []string{asl.ErrProcessDied, "Runtime.OutOfMemory", "Lambda.Unknown"}

// HasDied reports whether an error of a task or an execution says that the process of a call died as often as it may.
func HasDied(name string) bool { return slices.Contains(diedErrors, name) }
