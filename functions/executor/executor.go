// Package executor is the worker that carries out starts and stops: it reads the live state of the resources of an
// action or of a bulk action's chunk, decides, acts where that is needed, and verifies, one short run after the other,
// with everything it must remember in the store, so that any run may be the first one after a crash.
package executor

import (
	"context"
	"encoding/json"
	"fmt"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/execution"
	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/inventory"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
	"lamplighter.dev/shared/workflow"
)

// Call is what the state machines send: which task, and its input.
type Call struct {
	Task  string          `json:"task"`
	Input json.RawMessage `json:"input"`
	Error *Failure        `json:"error,omitempty"` // of abandon: what the machine caught
}

// Failure is an error as a state machine catches it.
type Failure struct {
	Error string `json:"Error"`
	Cause string `json:"Cause"`
}

// Executor holds what the tasks need.
type Executor struct {
	p         *platform.Platform
	providers cloud.Providers
	inventory *inventory.Store
}

// New makes an executor that acts through providers.
func New(p *platform.Platform, providers cloud.Providers) *Executor {
	return &Executor{p: p, providers: providers, inventory: inventory.Of(p)}
}

func (e *Executor) clouds() inventory.Clouds {
	return inventory.Clouds{Sealer: e.p.Sealer, Providers: e.providers}
}

// Handler answers the tasks of the action and bulk-action machines.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	return New(p, providers).Handle
}

// Handle runs the task that the call names.
func (e *Executor) Handle(ctx context.Context, input json.RawMessage) (any, error) {
	var c Call
	if err := json.Unmarshal(input, &c); err != nil {
		return nil, fault.Cause(fault.Invalid, err, "the executor was called with no task")
	}
	switch c.Task {
	case "run":
		return with(ctx, c, e.Run)
	case "abandon":
		return with(ctx, c, func(ctx context.Context, in execution.RunInput) (RunResult, error) {
			return e.abandon(ctx, in, c.Error)
		})
	case "expand":
		return with(ctx, c, e.expand)
	case "step":
		return with(ctx, c, e.step)
	case "finish":
		return with(ctx, c, e.finish)
	default:
		return nil, fault.New(fault.Invalid, "the executor knows no task %q", c.Task)
	}
}

// tenant is an input that names the organization it belongs to.
type tenant interface{ Tenant() string }

// with decodes the call's input and confines the task to the organization that it names.
func with[I tenant, O any](ctx context.Context, c Call, task func(context.Context, I) (O, error)) (any, error) {
	var in I
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return nil, fault.Cause(fault.Invalid, err, "input of task %s", c.Task)
	}
	if in.Tenant() == "" {
		return nil, fault.New(fault.Invalid, "input of task %s names no organization", c.Task)
	}
	out, err := task(table.WithTenant(ctx, in.Tenant()), in)
	if err != nil {
		return nil, fmt.Errorf("task %s: %w", c.Task, err)
	}
	return out, nil
}
