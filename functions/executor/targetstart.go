package executor

import (
	"cmp"
	"context"
	"fmt"

	"lamplighter.dev/functions/executor/rescaling"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// targetStarter starts the stopped targets of event readiness plans, by actions of their own.
type targetStarter struct{ e *Executor }

var _ rescaling.Starter = targetStarter{}

func (s targetStarter) checker() readiness.PrecheckReader {
	return readiness.PrecheckReader{Table: s.e.p.Table, Inventory: s.e.inventory}
}

// Obstacles returns why targets cannot be raised, by target.
func (s targetStarter) Obstacles(ctx context.Context, q readiness.PrecheckQuery) (map[string]string, error) {
	return s.checker().Obstacles(ctx, q)
}

// StartProblem returns why a stopped target cannot be started, or "".
func (s targetStarter) StartProblem(ctx context.Context, org string, of readiness.PolicyTarget) (string, error) {
	return s.checker().StartProblem(ctx, org, of)
}

// Start creates an action that starts the target, or joins the one that is under way. If the request names an action,
// it reports that action's progress.
func (s targetStarter) Start(ctx context.Context, of rescaling.StartRequest) (rescaling.Start, error) {
	if of.ActionID != "" {
		return s.startProgress(ctx, of)
	}
	r, err := table.Read[inventory.Resource](ctx, s.e.p.Table, inventory.ResourceKey(of.Org, of.Target.UID))
	if fault.Is(err, fault.NotFound) {
		return rescaling.Start{}, execution.ErrUnknownResource(of.Target.UID)
	}
	if err != nil {
		return rescaling.Start{}, fmt.Errorf("read resource %s: %w", of.Target.UID, err)
	}
	a, err := execution.SubmitAction(ctx, s.e.p, of.Org, execution.Request{
		Verb: cloud.Start, ResourceUID: r.UID, Provider: r.Provider, ResourceType: r.Type,
		CloudAccountID: r.CloudAccountID, Region: r.Region,
		Reason: "event", ChangedBy: execution.ChangedBy("event", of.PlanID),
	})
	return rescaling.Start{ActionID: a.ID}, err
}

// startProgress reports the progress of the action that starts a target.
func (s targetStarter) startProgress(ctx context.Context, of rescaling.StartRequest) (rescaling.Start, error) {
	out := rescaling.Start{ActionID: of.ActionID}
	a, err := table.Read[execution.Action](ctx, s.e.p.Table, execution.ActionKey(of.Org, of.ActionID))
	if fault.Is(err, fault.NotFound) {
		out.Ended, out.Error = true, "the action is gone"
		return out, nil
	}
	if out.Ended = a.Status.IsFinal(); a.Status == execution.Failed {
		out.Error = a.ErrorMessage
	}
	return out, fault.Wrap("read action "+of.ActionID, err)
}

// Remember stores the snapshot of a target for later actions.
func (s targetStarter) Remember(ctx context.Context, m rescaling.Memory) error {
	kept := snapshot{ActionID: cmp.Or(m.ActionID, "event"), Snapshot: m.Snapshot}
	if !m.KeepUntil.IsZero() {
		kept.KeepUntil = m.KeepUntil.Unix()
	}
	row, err := table.NewItem(snapshotKey(m.Org, m.Target.UID), kept)
	if err != nil {
		return err
	}
	_, err = s.e.p.Table.Write(ctx, table.Put(row))
	return fault.Wrap("remember the capacity of "+m.Target.UID, err)
}
