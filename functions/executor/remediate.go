package executor

import (
	"context"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

// remediator returns the runner of remediation workflows. Their stops and starts are actions of this executor.
func (e *Executor) remediator() *remediating.Runner {
	return &remediating.Runner{
		Table: e.patientStore(), Clock: e.p.Clock, Recommendations: recommendation.New(e.p), Inventory: e.inventory,
		Schedules: e.schedules, Connect: e.connectTarget,
		Submit: func(ctx context.Context, org string, r execution.Request) (execution.Action, error) {
			return execution.SubmitAction(ctx, e.p, org, r)
		},
	}
}

// connectTarget connects to the account of a target of a workflow, as actions do.
func (e *Executor) connectTarget(
	ctx context.Context, org string, a inventory.Account, t *remediation.Target,
) (cloud.Conn, error) {
	kind, known := e.providers.Kind(t.Provider, t.ResourceType)
	if !known && cloud.IsChangeable(t.ResourceType) {
		kind, known = cloud.KindOf(t.ResourceType)
	}
	if !known {
		return nil, fault.New(fault.Invalid, "resource %s: provider %s has no type %s that can be changed",
			t.ResourceUID, t.Provider, t.ResourceType)
	}
	r := &run{e: e, in: execution.RunInput{Org: org}, account: a, kind: kind}
	return r.connectAccount(ctx)
}

// remediate runs a task of remediation workflows. own is false for another task.
func (e *Executor) remediate(ctx context.Context, c workflow.Call) (out any, own bool, err error) {
	switch c.Task {
	case remediation.PlanTask:
		out, err = workflow.RunTask(ctx, c, e.remediator().Plan)
	case remediation.RehearseTask:
		out, err = workflow.RunTask(ctx, c, e.Rehearse)
	case remediation.AdvanceTask:
		out, err = workflow.RunTask(ctx, c, e.remediator().Advance)
	case remediation.GiveUpTask:
		out, err = workflow.RunTask(ctx, c,
			func(ctx context.Context, in remediation.Input) (remediating.Result, error) {
				return e.remediator().GiveUp(ctx, in, "the executor gave up: "+c.Error.String())
			})
	default:
		return nil, false, nil
	}
	return out, true, err
}
