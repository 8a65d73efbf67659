package executor

import (
	"context"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/domain/readiness/rescaling"
)

// rescaler carries event readiness plans out.
func (e *Executor) rescaler() *rescaling.Runner {
	return &rescaling.Runner{Table: e.store(), Clock: e.p.Clock, Open: e.openAutoscaler, Report: e.report}
}

// openAutoscaler connects to an account that may be scaled.
func (e *Executor) openAutoscaler(ctx context.Context, org, accountID string) (cloud.Autoscaler, error) {
	account, err := e.inventory.ReadAccount(ctx, org, accountID)
	if err != nil {
		return nil, fmt.Errorf("read account %s: %w", accountID, err)
	}
	if reason := execution.Refusal(accountID, account); reason != "" {
		return nil, &cloud.Error{Class: cloud.Denied, Message: reason}
	}
	conn, err := e.newClouds().Connect(ctx, org, account)
	if err != nil {
		return nil, err
	}
	a, ok := conn.(cloud.Autoscaler)
	if !ok {
		return nil, &cloud.Error{Class: cloud.Unsupported, Message: "groups of " + account.Provider + " are not scaled"}
	}
	return a, nil
}

// report tells how far a plan is: by the operation that is for the executor alone.
func (e *Executor) report(ctx context.Context, org, planID string, r readiness.Report) error {
	return rest.CallAsWorker(ctx, e.p.Workers, rest.WorkerCall{
		Function: readiness.Function, Worker: readiness.Executor, Org: org, Method: http.MethodPost, Path: readiness.ReportPath(planID), Body: r,
	})
}
