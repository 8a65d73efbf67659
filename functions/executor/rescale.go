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

// rescaler returns the runner of event readiness plans.
func (e *Executor) rescaler() *rescaling.Runner {
	return &rescaling.Runner{
		Table: e.patientStore(), Clock: e.p.Clock, Open: e.openAutoscaler,
		Starter: targetStarter{e},
		Report:  e.reportProgress,
	}
}

// connectTo connects to an account, and through it to its registered clusters if the target is inside a cluster.
func (e *Executor) connectTo(
	ctx context.Context, org string, a inventory.Account, of readiness.PolicyTarget,
) (cloud.Conn, error) {
	if of.Type != cloud.KubernetesDeployment || a.Provider == inventory.ClusterProvider {
		return e.newClouds().Connect(ctx, org, a)
	}
	known, err := inventory.ReadRegistrations(ctx, e.p.Table, org, a.ID)
	if err != nil {
		return nil, err
	}
	return e.newClouds().ConnectInside(ctx, org, a, known)
}

// openAutoscaler connects to the account of a target. The error is cloud.Unsupported if its groups are not scaled.
func (e *Executor) openAutoscaler(
	ctx context.Context, org, accountID string, of readiness.PolicyTarget,
) (rescaling.Group, error) {
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

// reportProgress reports the progress of a plan through the operation that only the executor may call.
func (e *Executor) reportProgress(ctx context.Context, org, planID string, r readiness.Report) error {
	return rest.CallAsWorker(ctx, e.p.Workers, rest.WorkerCall{
		Function: readiness.Function, Worker: readiness.Executor, Org: org, Method: http.MethodPost,
		Path: readiness.ReportPath(planID), Body: r,
	})
}
