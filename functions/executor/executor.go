// Package executor is the worker that carries out starts and stops. A run reads the live state of the resources of an
// action or of a bulk action's chunk, decides, acts if needed, and verifies. Runs are short, and all their state is
// in the store, so any run may be the first one after a crash.
package executor

import (
	"context"
	"encoding/json"

	"lamplighter.dev/functions/executor/rehearsal"
	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/scheduling"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// Executor holds the dependencies of the tasks.
type Executor struct {
	p         *platform.Platform
	providers cloud.Providers
	inventory *inventory.Store
	schedules *scheduling.Store
}

// New returns an executor that acts through providers.
func New(p *platform.Platform, providers cloud.Providers) *Executor {
	return &Executor{p: p, providers: providers, inventory: inventory.New(p), schedules: scheduling.New(p)}
}

// patientStore returns a store that retries throttled transactions longer than usual, because the result of an act in
// a cloud must be recorded.
func (e *Executor) patientStore() table.Store { return table.NewPatientStore(e.p.Table) }

func (e *Executor) newClouds() inventory.Clouds {
	return inventory.Clouds{Sealer: e.p.Sealer, Providers: e.providers}
}

// Handler answers the tasks of the action, bulk-action, event-readiness and remediation machines.
func Handler(p *platform.Platform, providers cloud.Providers) workflow.Handler {
	return New(p, providers).HandleTask
}

// HandleTask runs the task that the call names.
func (e *Executor) HandleTask(ctx context.Context, input json.RawMessage) (any, error) {
	c, err := e.p.ReadCall(ctx, "executor", input)
	if err != nil {
		return nil, err
	}
	switch c.Task {
	case "run":
		return workflow.RunTask(ctx, c, e.RunActions)
	case "abandon":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in execution.RunInput) (RunResult, error) {
			return e.giveUp(ctx, in, "the executor gave up: "+c.Error.String())
		})
	case "expand":
		return workflow.RunTask(ctx, c, e.beginBulk)
	case "step":
		return workflow.RunTask(ctx, c, e.nextStep)
	case "finish":
		return workflow.RunTask(ctx, c, e.finishBulk)
	case "advance":
		return workflow.RunTask(ctx, c, e.rescaler().Advance)
	case readiness.RehearseTask:
		return workflow.RunTask(ctx, c, rehearsal.Run)
	case "giveUp":
		return workflow.RunTask(ctx, c, func(ctx context.Context, in readiness.Input) (rescaling.Result, error) {
			return e.rescaler().GiveUp(ctx, in, "the executor gave up: "+c.Error.String())
		})
	}
	if out, own, err := e.remediate(ctx, c); own {
		return out, err
	}
	return nil, fault.New(fault.Invalid, "the executor knows no task %q", c.Task)
}
