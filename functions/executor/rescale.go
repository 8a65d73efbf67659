package executor

import (
	"context"
	"fmt"
	"net/http"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/foundation/fault"
)

// rescaler carries event readiness plans out.
func (e *Executor) rescaler() *rescaling.Runner {
	return &rescaling.Runner{Table: e.store(), Clock: e.p.Clock, Open: e.openAutoscaler, Starter: targetStarter{e},
		Report: e.report}
}

// connectTo opens an account, and its registered clusters for what is in them.
//
//nolint:revive // whose account it is, and for what
func (e *Executor) connectTo(ctx context.Context, org string, a inventory.Account, of readiness.PolicyTarget) (cloud.Conn,
	error) {
	if of.Type != cloud.KubernetesDeployment || a.Provider == inventory.ClusterProvider {
		return e.newClouds().Connect(ctx, org, a)
	}
	known, err := inventory.ReadRegistrations(ctx, e.p.Table, org, a.ID)
	if err != nil {
		return nil, err
	}
	return e.newClouds().ConnectInside(ctx, org, a, known)
}

// openAutoscaler connects to an account that may be scaled.
func (e *Executor) openAutoscaler(ctx context.Context, org, accountID string, of readiness.PolicyTarget) (rescaling.Group,
	error) {
	account, err := e.inventory.ReadAccount(ctx, org, accountID)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, fmt.Errorf("read account %s: %w", accountID, err)
	}
	if reason := execution.Refusal(accountID, account); reason != "" {
		return nil, &cloud.Error{Class: cloud.Denied, Message: reason}
	}
	conn, err := e.connectTo(ctx, org, account, of)
	if err != nil {
		return nil, err
	}
	a, ok := conn.(rescaling.Group)
	if !ok {
		return nil, &cloud.Error{Class: cloud.Unsupported, Message: "groups of " + account.Provider + " are not scaled"}
	}
	return a, nil
}

// report tells how far a plan is: by the operation that is for the executor alone.
func (e *Executor) report(ctx context.Context, org, planID string, r readiness.Report) error {
	return rest.CallAsWorker(ctx, e.p.Workers, rest.WorkerCall{
		Function: readiness.Function, Worker: readiness.Executor, Org: org, Method: http.MethodPost,
		Path: readiness.ReportPath(planID), Body: r,
	})
}
